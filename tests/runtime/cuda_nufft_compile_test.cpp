// Compiles kernels of the nonuniform stages with NVRTC, without a GPU: every family with its default parameters, every
// placement of the sort, and batches in groups, for each architecture that NVRTC supports, within the registers
// available to their blocks and with at most 64 bytes per thread spilled.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "generator/codegen/nufft/kernels.h"
#include "generator/codegen/nufft/slabs.h"
#include "generator/plan/nufft/record.h"
#include "generator/plan/nufft/rules.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/nvrtc_api.h"

namespace fourtune::runtime::cuda {
namespace {

using namespace generator::nufft;
using generator::GpuProgram;

constexpr std::array<int, 7> kTargets{75, 80, 86, 89, 90, 100, 120};

Shape shape_of(int dim, Precision precision, int width) {
  constexpr std::array<std::array<std::int64_t, 3>, 3> grids{{{1 << 20, 1, 1}, {2000, 1024, 1}, {256, 180, 256}}};
  Shape shape;
  shape.dim = dim;
  shape.precision = precision;
  shape.fine = grids[static_cast<std::size_t>(dim - 1)];
  shape.width = width;
  shape.unit = position_unit(0.5 * std::pow(10.0, 1 - width), 2, dim);
  return shape;
}

// The coefficients of a polynomial do not matter to the compiler, but zeros would.
generator::PiecewisePolynomial polynomial(int width) {
  generator::PiecewisePolynomial p;
  p.width = width;
  p.degree = width + 2;
  p.coefficients.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(p.degree + 1));
  for (std::size_t i = 0; i < p.coefficients.size(); ++i) p.coefficients[i] = 0.37 + 0.011 * static_cast<double>(i);
  return p;
}

// Every kernel of a few plans, by entry and text.
class Collection {
 public:
  void sort(Shape shape, Parameters with) {
    add([&](GpuProgram& program) {
      const StageKernels kernels(shape, with, polynomial(shape.width));
      kernels.emit_sort(program, arrays(program, kernels), kPoints, {}, 0);
      kernels.emit_large_bins(program, arrays(program, kernels), kPoints, {kPoints, kPoints}, 64 * kPoints);
    });
  }
  void spread(Shape shape, Spread family, Parameters with, int transforms = 1) {
    shape.whole_cells = family == Spread::points;
    add([&](GpuProgram& program) {
      const StageKernels kernels(shape, with, polynomial(shape.width));
      kernels.emit_clear(program, arrays(program, kernels), transforms);
      kernels.emit_spread(program, arrays(program, kernels), kPoints, transforms, family);
    });
  }
  void interpolate(Shape shape, Interpolate family, Parameters with, int transforms = 1) {
    shape.whole_cells = family == Interpolate::points;
    add([&](GpuProgram& program) {
      const StageKernels kernels(shape, with, polynomial(shape.width));
      kernels.emit_interpolate(program, arrays(program, kernels), kPoints, transforms, family);
    });
  }
  // Sort, spreading and interpolation.
  void published(Shape shape, Spread spread, Interpolate interp) {
    shape.semicircle = 2.3 * shape.width;
    const Parameters with = default_parameters(shape, spread);
    if (!broken_rule(shape, with, spread).empty()) return;  // a padded bin that does not fit
    add([&](GpuProgram& program) {
      const StageKernels kernels(shape, with, polynomial(shape.width));
      kernels.emit_sort(program, arrays(program, kernels), kPoints, {}, 0);
      kernels.emit_spread(program, arrays(program, kernels), kPoints, 1, spread);
      kernels.emit_interpolate(program, arrays(program, kernels), kPoints, 1, interp);
    });
  }
  // Of ranks that each have a slab of a grid.
  void slabs(Shape shape, Parameters with) {
    add([&](GpuProgram& program) {
      StageKernels(shape, with, polynomial(shape.width)).emit_cells(program, {}, kPoints, {}, {}, {});
      emit_list(program, {}, {}, {}, {}, {}, kPoints, 8);
      for (const bool complex : {false, true})
        for (const bool packs : {false, true})
          emit_packing(program, {}, {}, {}, kPoints, shape.precision, complex, packs);
      const std::vector<ListedPiece> pieces(3, {{}, 0, kPoints});
      emit_sending(program, {}, {}, pieces, shape.precision, true);
      emit_fetching(program, pieces, {}, {}, shape.precision, true);
    });
    shape.period = 1000, shape.before = 8 * with.bin[static_cast<std::size_t>(shape.dim - 1)];
    sort(shape, with);
    with.placement = Placement::two_level;
    sort(shape, with);
    shape.agreed = true;
    for (const Spread family : {Spread::points, Spread::tile_owned}) {
      Parameters fixed = default_parameters(shape, family);
      fixed.run = 1, fixed.deterministic = true;
      spread(shape, family, fixed);
    }
  }
  const std::vector<generator::KernelSource>& kernels() const { return kernels_; }

 private:
  static constexpr std::int64_t kPoints = 3'000'000;

  static Arrays arrays(GpuProgram& program, const StageKernels& kernels) {
    using Where = generator::BufferRef::Where;
    if (program.workspace_bytes.empty())
      for (const std::int64_t bytes : kernels.workspace_bytes(kPoints)) program.workspace_bytes.push_back(bytes);
    Arrays out;
    out.points = {generator::BufferRef{Where::constant, 0, 0}, {Where::constant, 1, 0}, {Where::constant, 2, 0}};
    out.values = {Where::first, 0, 0};
    out.grid = {Where::second, 0, 0};
    return out;
  }
  template <class Emit>
  void add(Emit emit) {
    GpuProgram program;
    emit(program);
    for (generator::KernelSource& kernel : program.kernels)
      if (std::find(kernels_.begin(), kernels_.end(), kernel) == kernels_.end()) kernels_.push_back(std::move(kernel));
  }

  std::vector<generator::KernelSource> kernels_;
};

Collection every_family() {
  Collection out;
  for (const int dim : {1, 2, 3})
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const std::vector<int> widths = precision == Precision::f32 ? std::vector{3, 6} : std::vector{6, 9, 13};
      // The widest needs the most registers, so every family has it; they share out the narrower ones.
      int turn = dim;
      for (const int width : widths) {
        const Shape shape = shape_of(dim, precision, width);
        const auto has = [&] { return width == widths.back() || ++turn % 2 == 0; };
        for (const Spread family : {Spread::points, Spread::tile_atomic, Spread::tile_owned, Spread::window})
          if (has()) out.spread(shape, family, default_parameters(shape, family));
        for (const Interpolate family :
             {Interpolate::points, Interpolate::tiled, Interpolate::window, Interpolate::matrix})
          if (has() && (dim > 1 || family != Interpolate::matrix))
            out.interpolate(shape, family, default_parameters(shape, family));
        ++turn;
      }
      const Shape shape = shape_of(dim, precision, 6);
      if (dim == 3 && precision == Precision::f32) {
        out.spread(shape, Spread::tf32x3, default_parameters(shape, Spread::tf32x3));
        out.interpolate(shape, Interpolate::tf32x3, default_parameters(shape, Interpolate::tf32x3));
      }
      if (dim > 1) out.slabs(shape, default_parameters(shape, Spread::window));
      for (const Placement placement :
           {Placement::scatter, Placement::fetch, Placement::staged, Placement::two_level}) {
        // With slices or without: each placement has both, and so has each dimension and each precision.
        const bool sliced = (static_cast<int>(placement) + dim + (precision == Precision::f64 ? 1 : 0)) % 2 == 0;
        Parameters with = default_parameters(shape, Spread::window);
        with.placement = placement, with.slice = sliced ? 1 << 20 : 0;
        Shape sorted = shape;
        sorted.whole_cells = sliced;
        out.sort(sorted, with);
      }
      for (const Spread family : {Spread::points, Spread::tile_owned}) {
        Parameters with = default_parameters(shape, family);
        with.group = 4, with.interleave = family == Spread::points;
        out.spread(shape, family, with, 6);
        with.group = 1, with.interleave = false, with.deterministic = true;
        out.spread(shape, family, with);
      }
      for (const Interpolate family : {Interpolate::points, Interpolate::tiled}) {
        Parameters with = default_parameters(shape, family);
        if (family == Interpolate::tiled) with.bin = dim == 3 ? std::array{4, 4, 4} : std::array{8, dim > 1 ? 8 : 1, 1};
        with.group = 4, with.interleave = family == Interpolate::points;
        out.interpolate(shape, family, with, 6);
      }
    }
  for (const int width : {8, 9, 10, 11}) {  // tiles of register windows that defaults may choose
    const Shape shape = shape_of(3, Precision::f64, width);
    for (const Parameters& with : window_tiles(shape, 0.25)) out.spread(shape, Spread::window, with);
  }
  for (const int dim : {2, 3})
    for (const Shape& shape : {shape_of(dim, Precision::f32, 6), shape_of(dim, Precision::f64, dim == 2 ? 13 : 4)}) {
      out.published(shape, Spread::gm, Interpolate::gm);
      out.published(shape, Spread::gm_sort, Interpolate::gm_sort);
      out.published(shape, Spread::sm, Interpolate::gm_sort);
    }
  return out;
}

TEST(CudaNufftCompile, EveryFamilyCompilesWithinItsBlocksRegisters) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  std::vector<int> targets;
  for (const int target : kTargets)
    if (const auto& known = nvrtc().architectures; std::find(known.begin(), known.end(), target) != known.end())
      targets.push_back(target);
  ASSERT_FALSE(targets.empty());
  const Collection all = every_family();
  const auto& kernels = all.kernels();
  std::vector<std::size_t> weights;
  for (const auto& kernel : kernels) weights.push_back(kernel.text.size());
  std::mutex guard;
  std::map<std::string, int> next;  // kernels with the same name use the architectures in turn
  std::vector<int> target_of;
  for (const auto& kernel : kernels) {
    const std::string name = kernel.entry.substr(0, kernel.entry.rfind("_w"));
    target_of.push_back(
        targets[static_cast<std::size_t>(next[name]++ + static_cast<int>(target_of.size())) % targets.size()]);
  }
  run_longest_first(weights, 2, [&](std::size_t i) {
    const CompiledKernel result = compile(kernels[i], target_of[i]);
    const std::lock_guard lock(guard);
    const std::string name = fmt::format("sm_{} {}", target_of[i], kernels[i].entry);
    ASSERT_EQ(result.outcome, CompileOutcome::ok) << name << "\n" << result.log;
    const int threads = static_cast<int>(kernels[i].block[0] * kernels[i].block[1] * kernels[i].block[2]);
    EXPECT_LE(result.report.registers * threads, 65536) << name;
    EXPECT_LE(result.report.spill_store_bytes, 128) << name;  // 104: 3D windows of 11x11 in f64 on sm_90
  });
  RecordProperty("kernels", static_cast<int>(kernels.size()));
  EXPECT_GT(kernels.size(), 100u);
}

}  // namespace
}  // namespace fourtune::runtime::cuda
