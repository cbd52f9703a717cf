// Runs emitted FFT kernels on the emulator.
#include <gtest/gtest.h>

#include <algorithm>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/any_length/convolved.h"
#include "generator/plan/fft/geometry.h"
#include "tests/generator/fft_reference.h"

namespace fourtune::test {
namespace {

using namespace generator::fft;

struct PlanCase {
  const char* text;
  int sign = -1;
  std::int64_t batch = 1;
};

// Small plans with every kind of difference between kernels.
const PlanCase kPlans[] = {
    {"{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4]:order=natural", -1, 5},
    {"{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4,parts=apart]:order=natural,prec=f64", 1, 4},
    {"{X(13,5,13,65,tw),X(5,13,1,13,no-tw)}[threads=32,tile=1x3]:order=natural", -1, 7},
    {"{X(64,16,64,1024,tw),X(64,16,4,64,tw)}[threads=64,tile=4x1,to=work]{X(256,4,1,4,no-tw)}[threads=64,tile=16x1]:"
     "order=natural",
     -1, 2},
    {"{X(64,16,64,1024,tw)}[threads=64,tile=16x1,store=sorted,to=work]{X(64,16,4,64,tw),X(256,4,1,4,no-tw)}[threads=64,"
     "tile=16x1]:order=natural",
     1, 2},
    {"{X(6,10,6,60,tw),X(10,6,1,6,no-tw)}[threads=64,tile=1x4,to=work]{Y(5,3,5,15,tw),Y(3,5,1,5,no-tw)}[threads=32,"
     "tile=4x1]:order=natural,prec=f64",
     1, 3},
    {"{X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1x1x1,to=work]{Y(4,4,1,4,no-tw),Z(2,8,2,16,tw),"
     "Z(8,2,1,2,no-tw)}[threads=32,tile=8x1x1,parts=apart]:order=natural"},
    {"{X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1x1x1,to=work]{Y(4,4,1,4,no-tw),Z(2,8,2,16,tw),"
     "Z(8,2,1,2,no-tw)}[threads=32,tile=8x1x1,parts=apart,load=bulk,pipeline=1]:order=natural",
     1, 2},
    {"{X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1x1x1,twiddle=computed,load=bulk,pipeline=1,to="
     "work]{Y(4,4,1,4,no-tw),Z(2,8,2,16,tw),Z(8,2,1,2,no-tw)}[threads=32,tile=8x1x1,twiddle=computed]:order=natural,"
     "prec=f64"},
    {"{Y(4,8,4,32,tw),Y(8,4,1,4,no-tw),X(8,4,8,32,tw),X(4,8,1,8,no-tw)}[threads=32,tile=1x1,cluster=2]:order=natural",
     1, 2},
    {"{Y(4,8,4,32,tw),Y(8,4,1,4,no-tw),X(8,4,8,32,tw),X(4,8,1,8,no-tw)}[threads=32,tile=1x1,parts=apart,cluster=4]:"
     "order=natural"},
    {"{X(1,7,1,7,no-tw)}[threads=32,tile=1x8x1]{Y(1,11,1,11,no-tw)}[threads=32,tile=4x1x1]{Z(1,13,1,13,no-tw)}[threads="
     "32,tile=4x1x1]:order=natural,place=in",
     -1, 3},
    // A kernel that carries 16 of 20 neighbours writes what the next one reads in whole tiles; the same along a batch.
    {"{Z(10,2,10,20,tw)}[threads=32,tile=1,store=grouped]{Y(1,4,1,4,no-tw)}[threads=64,tile=1x1x16,to=work]{X(1,3,1,3,"
     "no-tw),Z(2,10,1,10,no-tw)}[threads=32,tile=1x2,load=bulk,pipeline=1]:order=natural,prec=f64"},
    {"{Y(1,4,1,4,no-tw)}[threads=32,tile=1x1x3,to=work]{X(1,8,1,8,no-tw)}[threads=32,tile=1x1x2,load=bulk,pipeline=1]:"
     "order=natural,prec=f64",
     1, 4},
    // The batch follows y in memory and in registers, but is not a digit of y's DFT.
    {"{Y(1,6,1,6,no-tw),X(2,4,2,8,tw),X(4,2,1,2,no-tw)}[threads=32,tile=1x1x8]:order=natural", -1, 8},
};

TEST(EmulatedFft, PlansComputeTheTransformInEveryOrderOfThreads) {
  for (const PlanCase& c : kPlans) {
    SCOPED_TRACE(c.text);
    const FftPlan plan = parse_fft_plan(c.text);
    const EmitOptions o = options_of(plan, c.sign, c.batch);
    EXPECT_LT(program_error(emit_program(plan, o), o, true), allowed(o));
  }
}

TEST(EmulatedFft, ReversedAndGroupedResultsLieWhereTheGeometrySays) {
  for (const char* order : {"", ":order=grouped"}) {
    for (const char* text : {"{X(8,4,8,32,tw),X(4,8,1,8,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1x1]{Y(4,4,1,4,no-tw)}["
                             "threads=32,tile=16x1]",
                             "{X(8,4,8,32,tw),X(8,4,2,8,tw)}[threads=32,tile=1x8,to=work]{X(16,2,1,2,no-tw),Y(5,3,5,15,"
                             "tw),Y(3,5,1,5,no-tw)}[threads=32,tile=2x1]"}) {
      SCOPED_TRACE(std::string(text) + order);
      const FftPlan plan = parse_fft_plan(std::string(text) + order);
      const EmitOptions o = options_of(plan);
      EXPECT_LT(program_error(emit_program(plan, o), o, true, placing(plan)), allowed(o));
    }
  }
}

EmitOptions sized(std::int64_t x, std::int64_t y = 1, std::int64_t z = 1) {
  EmitOptions o;
  o.n = {x, y, z};
  return o;
}

// Lines along y, where x is only carried, are a batch of interleaved transforms.
TEST(EmulatedFft, LinesAlongOneDimensionLeaveTheOthersAlone) {
  struct Lines {
    std::int64_t count, length, from, to;
  };
  for (const Lines& lines : {Lines{24, 20, 24, 24}, Lines{20, 48, 23, 40}, Lines{5, 67, 5, 9}, Lines{1, 30, 4, 1},
                             Lines{7, 1, 7, 7}, Lines{2, 2048, 2, 2}}) {
    SCOPED_TRACE(lines.length);
    EmitOptions o = sized(lines.count, lines.length), batch = sized(lines.length);
    o.sign = batch.sign = lines.length % 4 ? -1 : 1;
    o.precision = batch.precision = lines.length % 3 ? Precision::f32 : Precision::f64;
    o.input = ArrayLayout{{1, lines.from}, lines.from * lines.length};
    o.output = ArrayLayout{{1, lines.to}, lines.to * lines.length};
    batch.batch = lines.count;
    batch.input = ArrayLayout{{lines.from}, 1}, batch.output = ArrayLayout{{lines.to}, 1};
    EXPECT_LT(program_error(emit_any_size(one_dimension_passes(o, 1)), batch, true), 2 * allowed(batch));
  }
}

TEST(EmulatedFft, EveryKindOfLength) {
  for (const std::int64_t n : {2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13, 15, 16, 17,  24,
                               29, 31, 37, 47, 49, 59, 61, 63, 64, 67, 74, 81, 97, 100, 125}) {
    SCOPED_TRACE(n);
    EmitOptions o = sized(n);
    o.batch = 1 + n % 5;
    o.sign = n % 2 ? -1 : 1;
    o.precision = n % 3 ? Precision::f32 : Precision::f64;
    o.in_place = n % 4 == 0;
    EXPECT_LT(program_error(emit_any_size(o), o), 2 * allowed(o));
  }
}

TEST(EmulatedFft, LongAndAwkwardLengths) {
  for (const std::array<std::int64_t, 3> n : {std::array<std::int64_t, 3>{5000, 1, 1},
                                              {4096, 1, 1},
                                              {1009, 1, 1},
                                              {8192, 1, 1},
                                              {12, 67, 5},
                                              {71, 1, 9},
                                              {30, 28, 22},
                                              {8, 1031, 2},  // several lines of a convolution per block
                                              {67, 6, 4},    // y and z in one kernel
                                              {6, 5, 67},    // x and y in one kernel
                                              {4, 2048, 2},  // the end of y and z in one kernel
                                              {24, 384, 2},  // two large radices
                                              {5, 16, 12},
                                              {1, 1, 64}}) {
    SCOPED_TRACE(::testing::Message() << n[0] << "x" << n[1] << "x" << n[2]);
    EmitOptions o = sized(n[0], n[1], n[2]);
    o.scale = 0.5;
    EXPECT_LT(program_error(emit_any_size(o), o), 2 * allowed(o));
  }
}

// Blocks with little memory: no kernel holds a whole line. With even less memory two plans compute the DFTs.
TEST(EmulatedFft, PrimeLengthsInThreeKernelsOrByTwoPlans) {
  struct Case {
    std::array<std::int64_t, 3> n;
    std::int64_t bytes;  // shared memory of a block
    std::size_t launches;
  };
  for (const Case& c : {Case{{131, 1, 1}, 2400, 3},
                        {{1, 131, 1}, 2400, 3},
                        {{5, 1031, 1}, 12000, 4},
                        {{3, 1, 1031}, 12000, 4},
                        {{131, 1, 1}, 500, 2},
                        {{5, 131, 1}, 500, 3},
                        {{3, 1, 131}, 500, 3}}) {
    SCOPED_TRACE(::testing::Message() << c.bytes << " bytes, " << c.n[0] << "x" << c.n[1] << "x" << c.n[2]);
    EmitOptions o = sized(c.n[0], c.n[1], c.n[2]);
    o.device.shared_per_block = c.bytes;
    o.batch = c.n[0] == 5 ? 1 : 2;
    o.sign = c.n[0] == 3 ? 1 : -1;
    o.in_place = c.n[0] == 5;
    o.scale = 2;
    EXPECT_EQ(emit_any_size(o).launches.size(), c.launches);
    EXPECT_LT(program_error(emit_any_size(o), o), 2 * allowed(o));
  }
}

TEST(EmulatedFft, RealPrimeLengthsInThreeKernels) {
  for (const FftType type : {FftType::r2c, FftType::c2r}) {
    EmitOptions o = sized(131, 3, 1);
    o.precision = Precision::f64;
    o.device.shared_per_block = 4700;
    o.type = type;
    o.sign = type == FftType::r2c ? -1 : 1;
    for (std::int64_t i = 0; i < 131; ++i)
      o.hooks[0].input_factors.push_back(1 + 0.01 * static_cast<double>(std::min(i, 131 - i)));
    if (type == FftType::c2r) std::swap(o.hooks[0].input_factors, o.hooks[0].output_factors);
    EXPECT_EQ(emit_any_size(o).launches.size(), 4u);
    EXPECT_LT(program_error(emit_any_size(o), o), 3 * allowed(o));
  }
}

// DFTs in f64 whose values do not fit registers are convolved, complex and real, whatever lies beside them, except
// where that cannot do what is asked for or saves nothing.
TEST(EmulatedFft, LargePrimeFactorsInDoubleAreConvolved) {
  struct Case {
    std::array<std::int64_t, 3> n;
    FftType type;
    bool in_place;
    bool convolves;
  };
  for (const Case& c : {Case{{47, 1, 1}, FftType::c2c, false, true},
                        {{118, 1, 1}, FftType::c2c, true, true},
                        {{183, 30, 1}, FftType::c2c, false, true},
                        {{70, 53, 3}, FftType::c2c, false, true},
                        {{5, 94, 9}, FftType::r2c, false, true},
                        {{530, 1, 1}, FftType::c2r, false, true},
                        {{94, 50, 1}, FftType::c2r, true, true},
                        {{106, 1, 1}, FftType::r2c, false, true},
                        {{177, 26, 1}, FftType::r2c, true, true},
                        {{159, 1, 2}, FftType::c2r, false, true},
                        {{43, 1, 1}, FftType::c2c, false, false},
                        {{59, 1, 1}, FftType::r2c, false, false},  // a thread holds the line
                        {{61, 1, 1}, FftType::c2r, false, false},
                        {{47, 6, 2}, FftType::c2c, false, false}}) {  // a block holds the array
    SCOPED_TRACE(::testing::Message() << c.n[0] << "x" << c.n[1] << "x" << c.n[2] << " type "
                                      << static_cast<int>(c.type));
    EmitOptions o = sized(c.n[0], c.n[1], c.n[2]);
    o.precision = Precision::f64;
    o.type = c.type, o.in_place = c.in_place;
    o.sign = c.type == FftType::c2r ? 1 : -1;
    o.batch = 3, o.scale = 0.5;
    EXPECT_EQ(convolves(o), c.convolves);
    EXPECT_LT(program_error(emit_any_size(o), o), 3 * allowed(o));
    o.precision = Precision::f32;
    EXPECT_FALSE(convolves(o));
  }
  EmitOptions o = sized(106, 2);
  o.precision = Precision::f64;
  o.hooks[0].input = Pruning{Pruning::Kind::head, {}, 106, 50};
  EXPECT_FALSE(convolves(o));
  o.hooks[0].input.reset();
  o.order = DigitOrder::primes;
  EXPECT_FALSE(convolves(o));
}

TEST(EmulatedFft, LongPrimeLengths) {
  EmitOptions o = sized(4099);
  o.batch = 2;
  o.scale = 2;
  EXPECT_LT(program_error(emit_any_size(o), o), 2 * allowed(o));
  o.precision = Precision::f64;
  o.n = {2053, 1, 1};
  o.sign = 1;
  o.in_place = true;
  EXPECT_LT(program_error(emit_any_size(o), o), 2 * allowed(o));
}

// The same with other dimensions beside it, along each dimension.
TEST(EmulatedFft, LongPrimeLengthsInSeveralDimensions) {
  for (const std::array<std::int64_t, 3> n : {std::array<std::int64_t, 3>{2053, 3, 1}, {3, 2053, 2}, {2, 1, 2053}}) {
    SCOPED_TRACE(::testing::Message() << n[0] << "x" << n[1] << "x" << n[2]);
    EmitOptions o = sized(n[0], n[1], n[2]);
    o.precision = Precision::f64;
    o.sign = n[0] == 3 ? 1 : -1;
    o.scale = 3;
    o.in_place = n[0] == 2;
    EXPECT_LT(program_error(emit_any_size(o), o), 2 * allowed(o));
  }
}

void expect_right_real(const std::array<std::int64_t, 3>& n, FftType type, bool in_place, Precision precision,
                       double slack) {
  SCOPED_TRACE(::testing::Message() << to_string(type) << " " << n[0] << "x" << n[1] << "x" << n[2]
                                    << (in_place ? " in place" : ""));
  EmitOptions o = sized(n[0], n[1], n[2]);
  o.precision = precision;
  o.type = type;
  o.in_place = in_place;
  o.batch = 2;
  o.sign = type == FftType::r2c ? -1 : 1;
  if (in_place) {
    const std::int64_t row = n[0] / 2 + 1;
    const ArrayLayout real{{1, 2 * row, 2 * row * n[1]}, 2 * row * n[1] * n[2]};
    (type == FftType::r2c ? o.input : o.output) = real;
  }
  EXPECT_LT(program_error(emit_any_size(o), o), slack * allowed(o));
}

TEST(EmulatedFft, RealTransformsOfPrimeLengths) {
  for (const FftType type : {FftType::r2c, FftType::c2r})
    for (const bool in_place : {false, true})
      for (const std::array<std::int64_t, 3> n :
           {std::array<std::int64_t, 3>{67, 4, 1}, {6, 67, 3}, {134, 71, 1}, {2053, 2, 1}, {5, 2, 67}}) {
        if (in_place && n[0] > 100) continue;
        expect_right_real(n, type, in_place, Precision::f64, 3);
      }
}

TEST(EmulatedFft, RealTransforms) {
  for (const FftType type : {FftType::r2c, FftType::c2r})
    for (const bool in_place : {false, true})
      for (const std::array<std::int64_t, 3> n :
           {std::array<std::int64_t, 3>{32, 1, 1}, {15, 1, 1}, {24, 10, 1}, {9, 8, 6}, {16, 12, 8}}) {
        expect_right_real(n, type, in_place, Precision::f32, 1);
      }
}

TEST(EmulatedFft, PaddedInputAndTruncatedOutputInEveryDimension) {
  for (const Pruning::Kind kind : {Pruning::Kind::head, Pruning::Kind::wrapped, Pruning::Kind::centred})
    for (const bool input : {true, false}) {
      EmitOptions o = sized(24, 20, 16);
      o.batch = 2;
      std::mt19937 random(3);
      for (std::size_t d = 0; d < 3; ++d) {
        Pruning w;
        w.kind = kind;
        w.kept = o.n[d] / 2 - static_cast<std::int64_t>(d % 2);
        (input ? o.hooks[d].input : o.hooks[d].output) = w;
        auto& factors = input ? o.hooks[d].input_factors : o.hooks[d].output_factors;
        for (std::int64_t i = 0; i < w.kept; ++i) factors.push_back(0.5 + static_cast<double>(random() % 1000) / 1000);
      }
      SCOPED_TRACE(::testing::Message() << static_cast<int>(kind) << (input ? " input" : " output"));
      const auto program = emit_any_size(o);
      EXPECT_LT(program_error(program, o), allowed(o));
      // Lines known to be zero or unwanted are skipped, so fewer bytes are moved than for the full transform.
      std::int64_t bytes = 0, full = 0;
      for (const auto& launch : program.launches) bytes += launch.bytes;
      for (const auto& launch : emit_any_size(sized(24, 20, 16)).launches) full += 2 * launch.bytes;
      EXPECT_LT(2 * bytes, full + full / 2);
    }
}

// Re sum conj(A x) y = Re sum conj(x) A* y, for the arrays as they are stored.
double adjoint_gap(const EmitOptions& o) {
  if (!next_has_turn()) return 0;
  const EmitOptions back = adjoint_options(o);
  const auto parts = [&](const EmitOptions& of, bool input) {
    const ArrayShape shape = shape_of(of, input);
    return static_cast<std::size_t>(shape.elements) * (shape.real ? 1 : 2);
  };
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x(parts(o, true)), ax(parts(o, false)), y(parts(back, true)), aty(parts(back, false));
  for (double& value : x) value = uniform(random);
  for (double& value : y) value = uniform(random);
  const auto run = [](const EmitOptions& of, std::vector<double> in, std::vector<double>& out) {
    runtime::emulated::run_program(emit_any_size(of), std::as_writable_bytes(std::span(in)),
                                   std::as_writable_bytes(std::span(out)));
  };
  run(o, x, ax), run(back, y, aty);
  double left = 0, right = 0, norm = 0;
  for (std::size_t i = 0; i < ax.size(); ++i) left += ax[i] * y[i], norm += ax[i] * ax[i];
  for (std::size_t i = 0; i < x.size(); ++i) right += x[i] * aty[i];
  return std::abs(left - right) / std::sqrt(norm);
}

TEST(EmulatedFft, AdjointsOfRealTransforms) {
  for (const FftType type : {FftType::r2c, FftType::c2r, FftType::c2c})
    for (const std::array<std::int64_t, 3> n :
         {std::array<std::int64_t, 3>{16, 6, 1}, {15, 4, 3}, {67, 3, 1}, {4, 71, 1}, {2053, 1, 1}}) {
      if (type == FftType::c2c && n[0] > 16) continue;
      SCOPED_TRACE(::testing::Message() << to_string(type) << " " << n[0] << "x" << n[1] << "x" << n[2]);
      EmitOptions o = sized(n[0], n[1], n[2]);
      o.precision = Precision::f64;
      o.type = type;
      o.batch = 2;
      o.sign = n[1] == 4 ? 1 : -1;
      EXPECT_LT(adjoint_gap(o), 1e-13);
      if (n[0] > 100) continue;
      for (std::int64_t i = 0; i < n[1]; ++i) o.hooks[1].input_factors.push_back(1 + 0.1 * static_cast<double>(i));
      for (std::int64_t i = 0; i < n[0]; ++i)  // a value and its mirror image have conjugate factors
        o.hooks[0].output_factors.push_back(1 + 0.1 * static_cast<double>(std::min(i, n[0] - i)));
      EXPECT_LT(adjoint_gap(o), 1e-13);
    }
}

TEST(EmulatedFft, StridesAndDistances) {
  EmitOptions o = sized(12, 10, 6);
  o.batch = 3;
  o.input = ArrayLayout{{2, 30, 310}, 2000};
  o.output = ArrayLayout{{1, 13, 131}, 800};
  EXPECT_LT(program_error(emit_any_size(o), o), allowed(o));
  // Dense except for gaps between the transforms, of the size of the other rectangle.
  o.n = {8, 4, 6};
  o.input = o.output = ArrayLayout{{1, 8, 32}, 6 * 6 * 8};
  EXPECT_LT(program_error(emit_any_size(o), o), allowed(o));
  o.n = {67, 1, 1};
  o.input = ArrayLayout{{3, 0, 0}, 250};
  o.output = ArrayLayout{{2, 0, 0}, 150};
  EXPECT_LT(program_error(emit_any_size(o), o), 2 * allowed(o));
}

}  // namespace
}  // namespace fourtune::test
