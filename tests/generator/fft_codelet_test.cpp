// Codelets are right, as cheap as the best published ones, and scheduled without losing an operation.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <set>

#include "fourtune/status.h"
#include "generator/codegen/fft/codelet/codelet.h"

namespace fourtune::test {
namespace {

using namespace generator::fft;
using Wide = std::complex<long double>;

std::vector<double> random_input(int n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<double> values(2 * static_cast<std::size_t>(n));
  for (double& value : values) value = static_cast<double>(random()) / 2147483648.0 - 1;
  return values;
}

double error_of(const std::vector<double>& got, const std::vector<double>& in) {
  const auto n = in.size() / 2;
  long double error = 0, norm = 0;
  for (std::size_t k = 0; k < n; ++k) {
    Wide sum = 0;
    for (std::size_t j = 0; j < n; ++j)
      sum += Wide(in[2 * j], in[2 * j + 1]) *
             std::polar<long double>(1, -2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % n) /
                                            static_cast<long double>(n));
    error += std::norm(sum - Wide(got[2 * k], got[2 * k + 1]));
    norm += std::norm(sum);
  }
  return static_cast<double>(std::sqrt(error / norm));
}

// Executes the schedule step by step.
std::vector<double> run_schedule(const Codelet& codelet, const std::vector<double>& in) {
  std::vector<double> value(static_cast<std::size_t>(codelet.dag.size()), std::nan(""));
  for (NodeId id = 0; id < codelet.dag.size(); ++id) {
    const DagNode& node = codelet.dag[id];
    if (node.op == Op::input) value[static_cast<std::size_t>(id)] = in[static_cast<std::size_t>(node.value)];
    if (node.op == Op::constant) value[static_cast<std::size_t>(id)] = node.value;
  }
  for (const Instruction& step : make_schedule(codelet).instructions) {
    const double a = value[static_cast<std::size_t>(step.a)];
    const double b = step.b >= 0 ? value[static_cast<std::size_t>(step.b)] : 0;
    double& dst = value[static_cast<std::size_t>(step.dst)];
    switch (step.kind) {
      case Instruction::Kind::add:
        dst = a + b;
        break;
      case Instruction::Kind::sub:
        dst = a - b;
        break;
      case Instruction::Kind::mul:
        dst = step.factor * a;
        break;
      case Instruction::Kind::fma:
        dst = step.factor * a + b;
        break;
      case Instruction::Kind::fms:
        dst = step.factor * a - b;
        break;
      case Instruction::Kind::fnma:
        dst = b - step.factor * a;
        break;
    }
  }
  std::vector<double> out;
  for (const NodeId id : codelet.outputs) {
    const DagNode& node = codelet.dag[id];
    out.push_back(node.op == Op::neg ? -value[static_cast<std::size_t>(node.a)] : value[static_cast<std::size_t>(id)]);
  }
  return out;
}

TEST(FftCodelet, EverySizeTo64IsADft) {
  for (int n = 1; n <= 64; ++n)
    for (const CodeletCost cost : {CodeletCost::operations, CodeletCost::instructions}) {
      SCOPED_TRACE(n);
      const Codelet codelet = make_codelet(n, cost);
      const auto in = random_input(n);
      EXPECT_LT(error_of(codelet.dag.evaluate(codelet.outputs, in), in), 1e-15);
      EXPECT_LT(error_of(run_schedule(codelet, in), in), 1e-15);
    }
}

TEST(FftCodelet, OperationsAreThoseOfTheBestPublished) {
  struct Published {
    int n, additions, multiplications;
  };
  // Operations of complex DFTs; products by 1 and i are not counted. 2 to 6, 8, 10, 12, 15 to 32: split radix and prime
  // factors, as in the codelets of FFTW. 7, 9, 11, 13, 14: Winograd's (H. W. Johnson, C. S. Burrus 1983; for 13 the
  // same sum as their 188 + 40). 64: the scaled split radix of S. G. Johnson and M. Frigo 2007.
  constexpr Published table[] = {{2, 4, 0},     {3, 12, 4},    {4, 16, 0},    {5, 32, 12},   {6, 36, 8},
                                 {7, 72, 16},   {8, 52, 4},    {9, 84, 20},   {10, 84, 24},  {11, 168, 40},
                                 {12, 96, 16},  {13, 180, 48}, {14, 172, 32}, {15, 156, 56}, {16, 144, 24},
                                 {32, 372, 84}, {64, 912, 240}};
  for (const Published& best : table) {
    SCOPED_TRACE(best.n);
    const Codelet codelet = make_codelet(best.n, CodeletCost::operations);
    EXPECT_EQ(count_operations(codelet.dag, codelet.outputs), (OperationCount{best.additions, best.multiplications}));
  }
}

TEST(FftCodelet, FusedMultiplyAddsHideAllProductsOfPowersOfTwo) {
  for (const auto& [n, instructions] : {std::pair{4, 16}, {8, 52}, {16, 144}, {32, 372}, {64, 912}})
    EXPECT_EQ(static_cast<int>(make_schedule(make_codelet(n)).instructions.size()), instructions) << n;
}

TEST(FftCodelet, ScheduleKeepsFewValuesAliveAndOperandsFirst) {
  for (int n = 2; n <= 64; ++n) {
    const Codelet codelet = make_codelet(n);
    const Schedule schedule = make_schedule(codelet);
    std::set<NodeId> known;
    for (const Instruction& step : schedule.instructions) {
      for (const NodeId operand : {step.a, step.b})
        if (operand >= 0 && codelet.dag[operand].op != Op::input && codelet.dag[operand].op != Op::constant) {
          EXPECT_TRUE(known.count(operand)) << n;
        }
      EXPECT_TRUE(known.insert(step.dst).second);
    }
    EXPECT_LE(schedule.most_alive, 4 * n);
    if ((n & (n - 1)) == 0) {
      EXPECT_LE(schedule.most_alive, 2 * n + 2) << n;
    }
  }
}

TEST(FftCodelet, DagSimplifies) {
  Dag dag;
  const NodeId a = dag.input(0), b = dag.input(1);
  EXPECT_EQ(dag.add(a, b), dag.add(b, a));
  EXPECT_EQ(dag.sub(a, a), dag.constant(0));
  EXPECT_EQ(dag.sub(b, a), dag.neg(dag.sub(a, b)));
  EXPECT_EQ(dag.add(a, dag.neg(b)), dag.sub(a, b));
  EXPECT_EQ(dag.add(dag.neg(a), dag.neg(b)), dag.neg(dag.add(a, b)));
  EXPECT_EQ(dag.mul(-0.5, dag.neg(a)), dag.mul(0.5, a));
  EXPECT_EQ(dag.mul(2, dag.mul(0.5, a)), a);
  EXPECT_EQ(dag.add(dag.mul(3, a), dag.mul(3, b)), dag.mul(3, dag.add(a, b)));
  EXPECT_EQ(dag.add(dag.constant(2), dag.constant(3)), dag.constant(5));
  EXPECT_EQ(dag.mul(0, a), dag.constant(0));
}

TEST(FftCodelet, LiteralsReadBack) {
  for (const double value : {0.1, 1.0, 1e-300, 3.0, std::sqrt(0.5), -2.5e10})
    EXPECT_EQ(std::stod(literal(value, Precision::f64)), value);
  EXPECT_EQ(literal(2, Precision::f32), "2.0f");
  EXPECT_EQ(std::stof(literal(std::sqrt(0.5), Precision::f32)), static_cast<float>(std::sqrt(0.5)));
}

TEST(FftCodelet, SizesOutsideAreRefused) {
  EXPECT_THROW(make_codelet(0), Error);
  EXPECT_THROW(make_codelet(65), Error);
}

}  // namespace
}  // namespace fourtune::test
