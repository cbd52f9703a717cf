// A codelet as CUDA C++.
#include <fmt/format.h>

#include <charconv>

#include "generator/codegen/fft/codelet/codelet.h"

namespace fourtune::generator::fft {
namespace {

class Writer {
 public:
  explicit Writer(const Codelet& codelet) : codelet_(codelet), schedule_(make_schedule(codelet)) {}

  std::string run() {
    const OperationCount count = count_operations(codelet_.dag, codelet_.outputs);
    const int n = codelet_.n;
    std::string text = fmt::format(
        "// DFT of {} values, {}: {} additions and {} multiplications in {} instructions; {} values alive.\n"
        "template <int S>\n"
        "FT_DEVICE void dft{}(real* x, real* y) {{\n",
        n, codelet_.algorithm, count.additions, count.multiplications, schedule_.instructions.size(),
        schedule_.most_alive, n);
    for (const Instruction& step : schedule_.instructions)
      text += fmt::format("  const real t{} = {};\n", step.dst, expression(step));
    for (int k = 0; k < n; ++k)
      text +=
          fmt::format("  x[S * {}] = {}; y[S * {}] = {};\n", k, name(codelet_.outputs[2 * static_cast<std::size_t>(k)]),
                      k, name(codelet_.outputs[2 * static_cast<std::size_t>(k) + 1]));
    return text + "}\n";
  }

 private:
  std::string name(NodeId id) const {
    const DagNode& node = codelet_.dag[id];
    if (node.op == Op::neg) return "-" + name(node.a);
    if (node.op == Op::constant) return fmt::format("real({})", literal(node.value, Precision::f64));
    if (node.op != Op::input) return fmt::format("t{}", id);
    const int number = static_cast<int>(node.value);
    return fmt::format("{}[S * {}]", number % 2 ? 'y' : 'x', number / 2);
  }

  std::string expression(const Instruction& step) const {
    const std::string a = name(step.a), b = step.b >= 0 ? name(step.b) : "";
    const std::string factor = fmt::format("real({})", literal(step.factor, Precision::f64));
    switch (step.kind) {
      case Instruction::Kind::add:
        return fmt::format("{} + {}", a, b);
      case Instruction::Kind::sub:
        return fmt::format("{} - {}", a, b);
      case Instruction::Kind::mul:
        return fmt::format("{} * {}", factor, a);
      case Instruction::Kind::fma:
        return fmt::format("ft_fma({}, {}, {})", factor, a, b);
      case Instruction::Kind::fms:
        return fmt::format("ft_fma({}, {}, -{})", factor, a, b);
      case Instruction::Kind::fnma:
        return fmt::format("ft_fma(-{}, {}, {})", factor, a, b);
    }
    return {};
  }

  const Codelet& codelet_;
  Schedule schedule_;
};

}  // namespace

std::string codelet_text(const Codelet& codelet) { return Writer(codelet).run(); }

std::string literal(double value, Precision precision) {
  char buffer[64];
  const auto end = precision == Precision::f32
                       ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value)).ptr
                       : std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return precision == Precision::f32 ? text + "f" : text;
}

std::string dag_text(const Codelet& codelet) {
  const Dag& dag = codelet.dag;
  std::vector<char> needed(static_cast<std::size_t>(dag.size()));
  for (const NodeId id : codelet.outputs) needed[static_cast<std::size_t>(id)] = 1;
  for (NodeId id = dag.size() - 1; id >= 0; --id)
    for (const NodeId operand : {dag[id].a, dag[id].b})
      if (needed[static_cast<std::size_t>(id)] && operand >= 0) needed[static_cast<std::size_t>(operand)] = 1;
  const auto name = [&](NodeId id) {
    const int number = static_cast<int>(dag[id].value);
    if (dag[id].op == Op::input) return fmt::format("x{}{}", number / 2, number % 2 ? 'i' : 'r');
    return dag[id].op == Op::constant ? literal(dag[id].value, Precision::f64) : fmt::format("t{}", id);
  };
  const OperationCount count = count_operations(dag, codelet.outputs);
  std::string text = fmt::format("DFT of {} values, {}: {} additions, {} multiplications\n", codelet.n,
                                 codelet.algorithm, count.additions, count.multiplications);
  for (NodeId id = 0; id < dag.size(); ++id) {
    const DagNode& node = dag[id];
    if (!needed[static_cast<std::size_t>(id)] || node.op == Op::input || node.op == Op::constant) continue;
    text += fmt::format("{} = ", name(id));
    if (node.op == Op::neg) text += fmt::format("-{}\n", name(node.a));
    if (node.op == Op::mul) text += fmt::format("{} * {}\n", literal(node.value, Precision::f64), name(node.a));
    if (node.op == Op::add || node.op == Op::sub)
      text += fmt::format("{} {} {}\n", name(node.a), node.op == Op::add ? '+' : '-', name(node.b));
  }
  for (std::size_t k = 0; k + 1 < codelet.outputs.size(); k += 2)
    text += fmt::format("X[{}] = {} + i {}\n", k / 2, name(codelet.outputs[k]), name(codelet.outputs[k + 1]));
  return text;
}

}  // namespace fourtune::generator::fft
