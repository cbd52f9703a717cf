#include "generator/codegen/fft/codelet/dag.h"

namespace fourtune::generator::fft {

NodeId Dag::make(Op op, NodeId a, NodeId b, double value) {
  const auto key = std::tuple(op, a, b, value);
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  nodes_.push_back({op, a, b, value});
  return known_[key] = size() - 1;
}

NodeId Dag::input(int number) { return make(Op::input, -1, -1, number); }
NodeId Dag::constant(double value) { return make(Op::constant, -1, -1, value == 0 ? 0.0 : value); }

NodeId Dag::neg(NodeId a) {
  if (is_constant(a)) return constant(-(*this)[a].value);
  if (is_neg(a)) return (*this)[a].a;
  return make(Op::neg, a, -1, 0);
}

NodeId Dag::add(NodeId a, NodeId b) {
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  if (is_constant(a) && is_constant(b)) return constant((*this)[a].value + (*this)[b].value);
  if (is_neg(a) && is_neg(b)) return neg(add((*this)[a].a, (*this)[b].a));
  if (is_neg(b)) return sub(a, (*this)[b].a);
  if (is_neg(a)) return sub(b, (*this)[a].a);
  if (a == b) return mul(2, a);
  if (shares_factor(a, b)) return mul((*this)[a].value, add((*this)[a].a, (*this)[b].a));
  if (a > b) std::swap(a, b);
  return make(Op::add, a, b, 0);
}

NodeId Dag::sub(NodeId a, NodeId b) {
  if (a == b) return constant(0);
  if (is_zero(b)) return a;
  if (is_zero(a)) return neg(b);
  if (is_constant(a) && is_constant(b)) return constant((*this)[a].value - (*this)[b].value);
  if (is_neg(b)) return add(a, (*this)[b].a);
  if (is_neg(a)) return neg(add((*this)[a].a, b));
  if (shares_factor(a, b)) return mul((*this)[a].value, sub((*this)[a].a, (*this)[b].a));
  // b - a is the same node with the opposite sign.
  if (const auto it = known_.find(std::tuple(Op::sub, b, a, 0.0)); it != known_.end()) return neg(it->second);
  return make(Op::sub, a, b, 0);
}

NodeId Dag::mul(double factor, NodeId a) {
  if (factor == 0) return constant(0);
  if (is_constant(a)) return constant(factor * (*this)[a].value);
  if (is_neg(a)) return neg(mul(factor, (*this)[a].a));
  if (factor < 0) return neg(mul(-factor, a));
  if (factor == 1) return a;
  if ((*this)[a].op == Op::mul) return mul(factor * (*this)[a].value, (*this)[a].a);
  return make(Op::mul, a, -1, factor);
}

std::vector<double> Dag::evaluate(std::span<const NodeId> outputs, std::span<const double> inputs) const {
  std::vector<double> value(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const DagNode& node = nodes_[i];
    const double a = node.a >= 0 ? value[static_cast<std::size_t>(node.a)] : 0;
    const double b = node.b >= 0 ? value[static_cast<std::size_t>(node.b)] : 0;
    switch (node.op) {
      case Op::input:
        value[i] = inputs[static_cast<std::size_t>(node.value)];
        break;
      case Op::constant:
        value[i] = node.value;
        break;
      case Op::add:
        value[i] = a + b;
        break;
      case Op::sub:
        value[i] = a - b;
        break;
      case Op::neg:
        value[i] = -a;
        break;
      case Op::mul:
        value[i] = node.value * a;
        break;
    }
  }
  std::vector<double> result;
  for (const NodeId id : outputs) result.push_back(value[static_cast<std::size_t>(id)]);
  return result;
}

OperationCount count_operations(const Dag& dag, std::span<const NodeId> outputs) {
  std::vector<char> needed(static_cast<std::size_t>(dag.size()), 0);
  for (const NodeId id : outputs) needed[static_cast<std::size_t>(id)] = 1;
  OperationCount count;
  for (NodeId id = dag.size(); id-- > 0;) {
    if (!needed[static_cast<std::size_t>(id)]) continue;
    const DagNode& node = dag[id];
    if (node.a >= 0) needed[static_cast<std::size_t>(node.a)] = 1;
    if (node.b >= 0) needed[static_cast<std::size_t>(node.b)] = 1;
    count.additions += node.op == Op::add || node.op == Op::sub;
    count.multiplications += node.op == Op::mul;
  }
  return count;
}

}  // namespace fourtune::generator::fft
