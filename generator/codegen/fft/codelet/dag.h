// Straight-line arithmetic as a DAG of real operations, simplified while it is built.
//
// Invariants
//  1. A node's operands have smaller numbers than the node.
//  2. No two nodes are the same operation on the same operands (common subexpressions share a node).
//  3. No constant in a `mul` is negative, 0 or 1; a sign is a `neg`, and no `neg` is an operand of add, sub, mul or neg
//     (signs are pushed towards the outputs).
//  4. Operations on constants are folded: no node has two constant operands.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace fourtune::generator::fft {

using NodeId = std::int32_t;

enum class Op : std::uint8_t { input, constant, add, sub, neg, mul };

struct DagNode {
  Op op = Op::constant;
  NodeId a = -1, b = -1;  // operands; mul: a only
  double value = 0;       // of a constant; factor of a mul; number of an input
};

class Dag {
 public:
  NodeId input(int number);
  NodeId constant(double value);
  NodeId add(NodeId a, NodeId b);
  NodeId sub(NodeId a, NodeId b);
  NodeId neg(NodeId a);
  NodeId mul(double factor, NodeId a);

  const DagNode& operator[](NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }

  // Values of `outputs` for the given inputs, in double precision. Inputs are indexed by their number.
  std::vector<double> evaluate(std::span<const NodeId> outputs, std::span<const double> inputs) const;

 private:
  NodeId make(Op op, NodeId a, NodeId b, double value);
  bool is_constant(NodeId id) const { return (*this)[id].op == Op::constant; }
  bool is_zero(NodeId id) const { return is_constant(id) && (*this)[id].value == 0; }
  bool shares_factor(NodeId a, NodeId b) const {
    return (*this)[a].op == Op::mul && (*this)[b].op == Op::mul && (*this)[a].value == (*this)[b].value;
  }
  bool is_neg(NodeId id) const { return (*this)[id].op == Op::neg; }

  std::vector<DagNode> nodes_;
  std::map<std::tuple<Op, NodeId, NodeId, double>, NodeId> known_;
};

struct OperationCount {
  int additions = 0;        // add and sub
  int multiplications = 0;  // by a constant
  int total() const { return additions + multiplications; }
  friend bool operator==(const OperationCount&, const OperationCount&) = default;
};
// Counts the operations that the outputs need; signs are free.
OperationCount count_operations(const Dag& dag, std::span<const NodeId> outputs);

}  // namespace fourtune::generator::fft
