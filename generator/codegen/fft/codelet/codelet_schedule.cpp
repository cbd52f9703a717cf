// Turns a DAG into a list of operations: fuses multiply-adds, then orders the operations so that few values are alive
// at a time.
#include <algorithm>
#include <array>
#include <set>

#include "generator/codegen/fft/codelet/codelet.h"

namespace fourtune::generator::fft {
namespace {

bool is_sum(const DagNode& node) { return node.op == Op::add || node.op == Op::sub; }

class Scheduler {
 public:
  explicit Scheduler(const Codelet& codelet)
      : dag_(codelet.dag), users_(size()), fused_(size(), -1), gone_(size(), 0), roots_(codelet.outputs) {
    for (NodeId& id : roots_)  // a sign at an output costs nothing
      if (dag_[id].op == Op::neg) id = dag_[id].a;
    find_users();
    fuse();
  }

  Schedule run() {
    Schedule in_order = schedule(false), greedy = schedule(true);
    return greedy.most_alive < in_order.most_alive ? greedy : in_order;
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(dag_.size()); }
  static std::size_t at(NodeId id) { return static_cast<std::size_t>(id); }

  void find_users() {
    std::vector<char> needed(size(), 0);
    for (const NodeId id : roots_) needed[at(id)] = 1;
    for (NodeId id = dag_.size(); id-- > 0;) {
      if (!needed[at(id)]) continue;
      live_.push_back(id);
      for (const NodeId operand : {dag_[id].a, dag_[id].b}) {
        if (operand < 0) continue;
        needed[at(operand)] = 1;
        users_[at(operand)].push_back(id);
      }
    }
    std::reverse(live_.begin(), live_.end());
  }

  // A product disappears if every user is a sum that has not yet fused another product.
  void fuse() {
    const std::set<NodeId> outputs(roots_.begin(), roots_.end());
    for (const NodeId id : live_) {
      if (dag_[id].op != Op::mul || outputs.count(id)) continue;
      const auto& users = users_[at(id)];
      const bool all = std::all_of(users.begin(), users.end(),
                                   [&](NodeId user) { return is_sum(dag_[user]) && fused_[at(user)] < 0; });
      if (!all) continue;
      for (const NodeId user : users) fused_[at(user)] = id;
      gone_[at(id)] = 1;
    }
  }

  Instruction instruction(NodeId id) const {
    const DagNode& node = dag_[id];
    if (node.op == Op::mul) return {Instruction::Kind::mul, id, node.a, -1, node.value};
    const NodeId product = fused_[at(id)];
    if (product < 0)
      return {node.op == Op::add ? Instruction::Kind::add : Instruction::Kind::sub, id, node.a, node.b, 0};
    const bool first = node.a == product;
    const auto kind = node.op == Op::add ? Instruction::Kind::fma
                      : first            ? Instruction::Kind::fms
                                         : Instruction::Kind::fnma;
    return {kind, id, dag_[product].a, first ? node.b : node.a, dag_[product].value};
  }

  // In order: depth first from the outputs. Greedy: among the ready operations, the one that frees most values; among
  // equals, the newest.
  Schedule schedule(bool greedy) const {
    Schedule out;
    std::vector<Instruction> todo;
    for (const NodeId id : live_)
      if (dag_[id].op != Op::input && dag_[id].op != Op::constant && !gone_[at(id)]) todo.push_back(instruction(id));
    std::vector<int> uses(size(), 0), waits(size(), 0);
    std::vector<std::vector<std::size_t>> readers(size());
    for (std::size_t i = 0; i < todo.size(); ++i)
      for (const NodeId operand : {todo[i].a, todo[i].b})
        if (operand >= 0) {
          ++uses[at(operand)];
          readers[at(operand)].push_back(i);
          waits[at(todo[i].dst)] += dag_[operand].op != Op::input;
        }
    for (const NodeId id : roots_) ++uses[at(id)];
    int alive = 0;
    for (const NodeId id : live_) alive += dag_[id].op == Op::input;
    out.most_alive = alive;
    const auto frees = [&](const Instruction& step) {
      int count = 0;
      for (const NodeId operand : {step.a, step.b}) count += operand >= 0 && uses[at(operand)] == 1;
      return count;
    };
    std::vector<char> done(todo.size(), 0);
    std::vector<std::size_t> ready;
    for (std::size_t i = todo.size(); i-- > 0;)
      if (waits[at(todo[i].dst)] == 0) ready.push_back(i);
    std::size_t next = 0;
    while (out.instructions.size() < todo.size()) {
      std::size_t pick = next;
      if (greedy) {
        std::size_t best = ready.size() - 1;
        for (std::size_t r = ready.size(); r-- > 0;)
          if (frees(todo[ready[r]]) > frees(todo[ready[best]])) best = r;
        pick = ready[best];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(best));
      }
      ++next;
      const Instruction& step = todo[pick];
      done[pick] = 1;
      out.instructions.push_back(step);
      alive += 1 - frees(step);
      for (const NodeId operand : {step.a, step.b})
        if (operand >= 0) --uses[at(operand)];
      out.most_alive = std::max(out.most_alive, alive);
      for (const std::size_t reader : readers[at(step.dst)])
        if (--waits[at(todo[reader].dst)] == 0) ready.push_back(reader);
    }
    return out;
  }

  const Dag& dag_;
  std::vector<NodeId> live_;  // the nodes that the outputs need, operands first
  std::vector<std::vector<NodeId>> users_;
  std::vector<NodeId> fused_;  // the product inside a sum, or -1
  std::vector<char> gone_;     // products that exist only inside sums
  std::vector<NodeId> roots_;
};

}  // namespace

Schedule make_schedule(const Codelet& codelet) { return Scheduler(codelet).run(); }

}  // namespace fourtune::generator::fft
