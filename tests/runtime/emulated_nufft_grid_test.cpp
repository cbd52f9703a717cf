// FFTs between fine grid and modes, padded and truncated inside the grid's memory.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/nufft/fft.h"
#include "generator/window/window.h"
#include "runtime/backends/emulated/emulator.h"
#include "tests/runtime/emulated_nufft_support.h"
#include "tests/support/turns.h"

namespace fourtune {
namespace {

using generator::BufferRef;
using generator::WindowKind;

constexpr BufferRef kGridRef{BufferRef::Where::workspace, 0, 0}, kFirstRef{BufferRef::Where::first, 0, 0},
    kSecondRef{BufferRef::Where::second, 0, 0};

// Runs one program after the other, with the same workspaces.
generator::GpuProgram joined(generator::GpuProgram a, const generator::GpuProgram& b) {
  for (generator::Launch launch : b.launches) {
    launch.kernel += static_cast<int>(a.kernels.size());
    for (auto& argument : launch.arguments)
      generator::for_each_pointer(argument, [&](generator::BufferRef& ref) {
        if (ref.where == generator::BufferRef::Where::constant) ref.index += static_cast<int>(a.constants.size());
      });
    a.launches.push_back(std::move(launch));
  }
  a.kernels.insert(a.kernels.end(), b.kernels.begin(), b.kernels.end());
  a.constants.insert(a.constants.end(), b.constants.begin(), b.constants.end());
  a.workspace_bytes.resize(std::max(a.workspace_bytes.size(), b.workspace_bytes.size()));
  for (std::size_t i = 0; i < b.workspace_bytes.size(); ++i)
    a.workspace_bytes[i] = std::max(a.workspace_bytes[i], b.workspace_bytes[i]);
  return a;
}

// Both directions must give the same result with workspaces and in the grid's memory. There, a block that overwrites
// values that another one still has to read would give errors: blocks and threads run in random order.
TEST(GridFfts, WorkInTheGridsMemory) {
  using namespace generator::gpu_nufft;
  struct Sizes {
    std::array<std::int64_t, 3> fine, n;
    std::int64_t batch = 1;
  };
  for (const Sizes& sizes : {Sizes{{64, 48, 1}, {32, 24, 1}},
                             {{64, 60, 1}, {41, 50, 1}},
                             {{32, 24, 20}, {16, 12, 10}},
                             {{24, 30, 32}, {17, 20, 25}},
                             {{40, 36, 1}, {21, 30, 1}, 3},
                             {{20, 18, 14}, {13, 12, 9}, 3}}) {
    if (!test::next_has_turn()) continue;
    const std::array<std::int64_t, 3>&fine = sizes.fine, &n = sizes.n;
    GridFft spec;
    spec.dim = fine[2] > 1 ? 3 : 2;
    spec.precision = Precision::f64;
    spec.modes = n, spec.fine = fine, spec.batch = sizes.batch;
    const generator::Window window(WindowKind::pswf, 4, 1.5);
    for (std::size_t d = 0; d < 3; ++d) spec.factors[d] = deconvolution_factors(window, fine[d], n[d], spec.order);
    const std::int64_t bytes = sizes.batch * fine[0] * fine[1] * fine[2] * 16;
    const auto count = static_cast<std::size_t>(sizes.batch * n[0] * n[1] * n[2]);
    std::vector<std::complex<double>> given;
    for (std::size_t i = 0; i < count; ++i) given.emplace_back(std::sin(7.0 * i), std::cos(3.0 * i * i));
    enum class Way { usual, saved, inside };
    const auto run = [&](bool to_modes, Way way) {
      const bool save = way == Way::saved;
      spec.save_memory = save, spec.inside_grid = way == Way::inside;
      auto fft =
          placed(grid_fft(spec, {}, to_modes), to_modes ? kGridRef : kFirstRef, to_modes ? kSecondRef : kGridRef, 1);
      if (save) share_grid(fft, 0, bytes, 1);
      if (save && fine[0] >= 2 * n[0] && sizes.batch == 1) {
        for (const std::int64_t left : fft.workspace_bytes) EXPECT_EQ(left, 0) << "nothing is left";
      }
      if (save && spec.dim == 2 && sizes.batch == 1) {
        EXPECT_EQ(fft.workspace_bytes[1], 0);
      }
      if (way == Way::inside) {
        for (const std::int64_t left : fft.workspace_bytes) EXPECT_EQ(left, 0);
      }
      const auto copy =
          placed(grid_copy(spec, !to_modes), to_modes ? kFirstRef : kGridRef, to_modes ? kGridRef : kSecondRef, 1);
      auto program = to_modes ? joined(copy, fft) : joined(fft, copy);
      program.workspace_bytes[0] = bytes;
      std::vector<std::complex<double>> in = given, out(count);
      runtime::emulated::RunOptions random;
      random.threads = random.blocks = runtime::emulated::ExecutionOrder::random;
      random.instrumented = way != Way::usual && spec.dim == 3;  // also checks races
      run_program(program, std::as_writable_bytes(std::span(in)), std::as_writable_bytes(std::span(out)), random);
      return out;
    };
    for (const bool to_modes : {false, true}) {
      const auto usual = run(to_modes, Way::usual);
      for (const Way way : {Way::saved, Way::inside}) {
        const auto other = run(to_modes, way);
        double error = 0, size = 0;
        for (std::size_t i = 0; i < count; ++i) error += std::norm(usual[i] - other[i]), size += std::norm(usual[i]);
        EXPECT_LE(error, 1e-26 * size) << fine[0] << " " << fine[1] << " " << fine[2] << " " << to_modes;
        EXPECT_GT(size, 0);
      }
    }
  }
}

// The same for grids of a batch that are interleaved, in groups: from modes to grids and back, each way with workspaces
// and in the grids' memory, gives the modes times what deconvolution leaves of them.
TEST(GridFfts, WorkInTheMemoryOfInterleavedGrids) {
  using namespace generator::gpu_nufft;
  struct Sizes {
    std::array<std::int64_t, 3> fine, n;
    std::int64_t batch, groups;
    Precision precision;
  };
  for (const Sizes& sizes : {Sizes{{64, 60, 1}, {41, 50, 1}, 8, 1, Precision::f32},
                             {{40, 36, 1}, {20, 31, 1}, 4, 3, Precision::f64},
                             {{96, 48, 1}, {64, 30, 1}, 2, 2, Precision::f64},
                             {{20, 18, 32}, {13, 12, 17}, 4, 1, Precision::f64}}) {
    const std::array<std::int64_t, 3>&fine = sizes.fine, &n = sizes.n;
    GridFft spec;
    spec.dim = fine[2] > 1 ? 3 : 2;
    spec.precision = sizes.precision;
    spec.modes = n, spec.fine = fine, spec.batch = sizes.batch, spec.groups = sizes.groups, spec.interleaved = true;
    const generator::Window window(WindowKind::pswf, 4, 1.5);
    for (std::size_t d = 0; d < 3; ++d) spec.factors[d] = deconvolution_factors(window, fine[d], n[d], spec.order);
    const std::int64_t complex = 2 * real_bytes(sizes.precision), transforms = sizes.batch * sizes.groups;
    const std::int64_t bytes = transforms * fine[0] * fine[1] * fine[2] * complex;
    std::vector<std::byte> given(static_cast<std::size_t>(transforms * n[0] * n[1] * n[2] * complex));
    for (std::size_t i = 0; i < given.size() / static_cast<std::size_t>(complex / 2); ++i) {
      const double value = std::sin(7.0 * static_cast<double>(i));
      const auto single = static_cast<float>(value);
      if (complex == 8)
        std::memcpy(given.data() + 4 * i, &single, 4);
      else
        std::memcpy(given.data() + 8 * i, &value, 8);
    }
    const auto run = [&](bool inside_there, bool inside_back) {
      spec.sign = 1, spec.inside_grid = inside_there;
      const auto there = placed(grid_fft(spec, {}, false), kFirstRef, kGridRef, 1);
      spec.sign = -1, spec.inside_grid = inside_back;
      const auto back = placed(grid_fft(spec, {}, true), kGridRef, kSecondRef, 1);
      for (const auto* one : {inside_there ? &there : nullptr, inside_back ? &back : nullptr}) {
        if (one == nullptr) continue;
        for (const std::int64_t left : one->workspace_bytes) EXPECT_EQ(left, 0);
      }
      auto program = joined(there, back);
      program.workspace_bytes[0] = bytes;
      std::vector<std::byte> in = given, out(given.size());
      runtime::emulated::RunOptions random;
      random.threads = random.blocks = runtime::emulated::ExecutionOrder::random;
      random.instrumented = inside_there && inside_back;  // also checks races
      run_program(program, in, out, random);
      return out;
    };
    const auto error = [&](const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
      double sum = 0, size = 0;
      for (std::size_t i = 0; i < a.size(); i += static_cast<std::size_t>(complex / 2)) {
        double x = 0, y = 0;
        float u = 0, v = 0;
        if (complex == 8)
          std::memcpy(&u, &a[i], 4), std::memcpy(&v, &b[i], 4), x = u, y = v;
        else
          std::memcpy(&x, &a[i], 8), std::memcpy(&y, &b[i], 8);
        sum += (x - y) * (x - y), size += x * x;
      }
      return std::sqrt(sum / size);
    };
    const std::vector<std::byte> usual = run(false, false);
    for (const auto& [there, back] : {std::pair{true, false}, {false, true}, {true, true}})
      EXPECT_LE(error(usual, run(there, back)), complex == 8 ? 1e-6 : 1e-13) << fine[0] << " " << there << back;
  }
}

// Blocks inside the grid carry as many lines along x as others.
TEST(GridFfts, TakeSeveralLinesOfADimensionAtATimeInsideTheGrid) {
  using namespace generator::gpu_nufft;
  GridFft spec;
  spec.dim = 3, spec.precision = Precision::f64;
  spec.fine = {224, 210, 210}, spec.modes = {128, 128, 128}, spec.batch = 2, spec.inside_grid = true;
  const generator::Window window(WindowKind::pswf, 4, 1.5);
  for (std::size_t d = 0; d < 3; ++d)
    spec.factors[d] = deconvolution_factors(window, spec.fine[d], spec.modes[d], spec.order);
  for (const bool to_modes : {false, true}) {
    const generator::GpuProgram program = grid_fft(spec, {}, to_modes);
    ASSERT_EQ(program.launches.size(), 3u);
    const std::int64_t lines = 2 * (to_modes ? 210 * 210 : 128 * 128);
    EXPECT_LE(program.launches.front().grid[0] * 4, lines) << "a block has at least four lines along x";
    for (const auto& launch : program.launches) {
      const auto& kernel = program.kernels[static_cast<std::size_t>(launch.kernel)];
      EXPECT_GE(kernel.shared_bytes, 4u * 210 * 8) << kernel.entry;
    }
  }
}

// The kernels around a library's transform: they move every mode to its cell, apply its factors, and move it back.
TEST(GridCopies, PadAndTruncate) {
  using namespace generator::gpu_nufft;
  for (const auto order : {generator::fft::Pruning::Kind::centred, generator::fft::Pruning::Kind::wrapped})
    for (const std::array<std::int64_t, 3> n : {std::array<std::int64_t, 3>{5, 4, 3}, {6, 1, 2}}) {
      GridFft spec;
      spec.precision = Precision::f64;
      spec.batch = 2;
      spec.modes = n;
      spec.fine = {9, 8, 6};
      spec.order = order;
      const generator::Window window(WindowKind::pswf, 4, 1.5);
      for (std::size_t d = 0; d < 3; ++d) spec.factors[d] = deconvolution_factors(window, spec.fine[d], n[d], order);
      const auto cells = static_cast<std::size_t>(9 * 8 * 6), count = static_cast<std::size_t>(n[0] * n[1] * n[2]);
      std::vector<std::complex<double>> modes(2 * count), grid(2 * cells), want(2 * cells), back(2 * count);
      for (std::size_t i = 0; i < modes.size(); ++i) modes[i] = {1.0 + static_cast<double>(i), -2.0};
      const auto bytes = [](auto& v) { return std::as_writable_bytes(std::span(v)); };
      runtime::emulated::RunOptions checks;
      checks.instrumented = true;
      run_program(grid_copy(spec, false), bytes(modes), bytes(grid), checks);
      const auto cell = [&](std::size_t d, std::int64_t i) {
        std::int64_t k = order == generator::fft::Pruning::Kind::centred ? i - n[d] / 2
                         : i < (n[d] + 1) / 2                            ? i
                                                                         : i - n[d];
        return k < 0 ? k + spec.fine[d] : k;
      };
      std::vector<double> squares;
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < count; ++i) {
          const auto x = static_cast<std::int64_t>(i) % n[0], y = static_cast<std::int64_t>(i) / n[0] % n[1],
                     z = static_cast<std::int64_t>(i) / n[0] / n[1];
          const double factor = spec.factors[0][static_cast<std::size_t>(x)] *
                                spec.factors[1][static_cast<std::size_t>(y)] *
                                spec.factors[2][static_cast<std::size_t>(z)];
          want[b * cells + static_cast<std::size_t>((cell(2, z) * 8 + cell(1, y)) * 9 + cell(0, x))] =
              factor * modes[b * count + i];
          squares.push_back(factor * factor);
        }
      for (std::size_t i = 0; i < want.size(); ++i) EXPECT_LE(std::abs(want[i] - grid[i]), 1e-9) << i;
      run_program(grid_copy(spec, true), bytes(grid), bytes(back), checks);
      for (std::size_t i = 0; i < back.size(); ++i) EXPECT_LE(std::abs(back[i] - squares[i] * modes[i]), 1e-8) << i;
    }
}

}  // namespace
}  // namespace fourtune
