#include "generator/codegen/nufft/fft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "fourtune/status.h"
#include "generator/codegen/at.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "launch_order_text.h"
#include "nufft_modes_text.h"

namespace fourtune::generator::gpu_nufft {
namespace {

// The frequency of element i of an array of modes.
std::int64_t frequency(std::int64_t i, std::int64_t modes, fft::Pruning::Kind order) {
  if (order == fft::Pruning::Kind::centred) return i - modes / 2;
  return i < (modes + 1) / 2 ? i : i - modes;
}

std::vector<std::byte> packed(const std::vector<double>& values, Precision precision) {
  std::vector<std::byte> bytes(values.size() * at(real_bytes(precision)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto single = static_cast<float>(values[i]);
    if (precision == Precision::f32)
      std::memcpy(bytes.data() + 4 * i, &single, 4);
    else
      std::memcpy(bytes.data() + 8 * i, &values[i], 8);
  }
  return bytes;
}

}  // namespace

std::vector<double> deconvolution_factors(const Window& window, std::int64_t fine, std::int64_t modes,
                                          fft::Pruning::Kind order) {
  const auto table =
      window.fourier_table(2 * std::numbers::pi / static_cast<double>(fine), static_cast<long>(modes / 2 + 1));
  std::vector<double> factors(at(modes));
  for (std::int64_t i = 0; i < modes; ++i) factors[at(i)] = 1 / table[at(std::abs(frequency(i, modes, order)))];
  return factors;
}

namespace {

// The kernels of a plain plan with one kernel for each dimension, working in the memory of the grid: what a kernel
// leaves of a line, or finds of it, lies where the line begins in the grid. A kernel reads all of its lines before it
// writes them, and no block touches another one's lines. Nothing where a line takes several kernels, or does not fit
// where it begins.
std::optional<GpuProgram> inside_grid(fft::EmitOptions options, const GridFft& spec, bool to_modes) {
  options.last_first = false;
  const fft::FftPlan plan = fft::plain_plan(options);
  if (plan.kernels.size() != at(spec.dim)) return {};
  std::array<std::int64_t, 3> held = spec.fine;
  for (int d = 0; d < spec.dim; ++d) {
    if (spec.held[at(d)] != 0) held[at(d)] = spec.held[at(d)];
    if (spec.modes[at(d)] > held[at(d)]) return {};
  }
  // The transforms of an interleaved grid lie side by side; groups of them come as one more dimension.
  const std::int64_t run = spec.interleaved ? spec.batch : 1, dims = spec.dim;
  const auto of_grid = [&](const std::array<std::int64_t, 3>& n) {
    const std::int64_t cells = n[0] * n[1] * n[2];
    return ArrayLayout{{run, run * n[0], run * n[0] * n[1]}, spec.interleaved ? 1 : cells};
  };
  const auto of_modes = [&](const std::array<std::int64_t, 3>& n) {
    const std::int64_t modes = n[0] * n[1] * n[2];
    ArrayLayout layout{{1, n[0], n[0] * n[1]}, modes};
    if (dims < 3) layout.stride[at(dims)] = run * modes;
    return layout;
  };
  fft::PlannedProgram all;
  std::array<std::int64_t, 3> left = to_modes ? held : spec.modes;
  for (int d = 0; d < spec.dim; ++d) {
    const bool from_modes = !to_modes && d == 0, into_modes = to_modes && d + 1 == spec.dim;
    fft::FftPlan one = plan;
    one.kernels = {plan.kernels[at(d)]};
    one.kernels.front().with.to = fft::Target::out;
    one.place = Place::out;
    fft::EmitOptions line = options;
    left[at(d)] = spec.fine[at(d)];
    line.n = left;
    line.tile_rank = spec.dim;
    line.input = from_modes ? of_modes(spec.modes) : of_grid(held);
    line.output = into_modes ? of_modes(spec.modes) : of_grid(held);
    if (spec.interleaved) fft::carry_batch(one, line, true);
    if (spec.groups > 1) line.n[at(spec.dim)] = spec.groups;
    for (int other = 0; other < spec.dim; ++other)
      if (other != d) line.hooks[at(other)] = {};
    fft::PlannedProgram part = fft::plan_passes(one, line);
    if (part.passes.size() != 1) return {};
    fft::PlannedPass& pass = part.passes.front();
    const auto grid = to_modes ? BufferRef::Where::first : BufferRef::Where::second;
    pass.from = from_modes ? BufferRef::Where::first : grid;
    pass.to = into_modes ? BufferRef::Where::second : grid;
    pass.spec.name = fmt::format("d{}_{}", d + 1, pass.spec.name);
    all.passes.push_back(std::move(pass));
    left[at(d)] = (to_modes ? spec.modes : held)[at(d)];
  }
  if (spec.groups > 1) options.n[at(spec.dim)] = spec.groups;
  return fft::emit_program(all, options);
}

}  // namespace

GpuProgram grid_fft(const GridFft& spec, const GpuFftChoice& choice, bool to_modes) {
  fft::EmitOptions options;
  options.n = spec.fine;
  options.precision = spec.precision;
  options.sign = spec.sign;
  options.batch = spec.batch;
  options.device = spec.device;
  for (int d = 0; d < spec.dim; ++d) {
    fft::DimensionHooks& hooks = options.hooks[at(d)];
    fft::Pruning window;
    window.kind = spec.order;
    window.kept = spec.modes[at(d)];
    (to_modes ? hooks.output : hooks.input) = window;
    (to_modes ? hooks.output_factors : hooks.input_factors) = spec.factors[at(d)];
    if (spec.held[at(d)] == 0 || spec.held[at(d)] == spec.fine[at(d)]) continue;
    window.kind = fft::Pruning::Kind::centred;
    window.kept = spec.held[at(d)];
    (to_modes ? hooks.input : hooks.output) = window;
  }
  (to_modes ? options.output_ranks : options.input_ranks) = spec.ranks;
  if (choice.family == GpuFftFamily::cufft)
    throw Error(Status::unsupported, "fft=cufft: a library's transform is not a program of kernels");
  options.last_first = to_modes && spec.save_memory && !spec.interleaved;
  const bool codelets = std::all_of(spec.fine.begin(), spec.fine.end(), fft::has_codelets);
  if (spec.interleaved) {
    const std::int64_t run = spec.batch;
    (to_modes ? options.input : options.output) =
        ArrayLayout{{run, run * spec.fine[0], run * spec.fine[0] * spec.fine[1]}, 1};
    const std::int64_t modes = spec.modes[0] * spec.modes[1] * spec.modes[2];
    ArrayLayout side{{1, spec.modes[0], spec.modes[0] * spec.modes[1]}, modes};
    if (spec.dim < 3) side.stride[at(spec.dim)] = run * modes;
    (to_modes ? options.output : options.input) = side;
  }
  if (choice.family == GpuFftFamily::plain && spec.inside_grid && spec.dim > 1 && codelets)
    if (std::optional<GpuProgram> program = inside_grid(options, spec, to_modes)) return *std::move(program);
  if (choice.family == GpuFftFamily::plain && spec.interleaved && codelets) {
    fft::FftPlan plan = fft::plain_plan(options);
    if (!plan.kernels.empty()) fft::carry_batch(plan, options, to_modes);
    if (spec.groups > 1) options.n[at(spec.dim)] = spec.groups;  // a dimension that is only carried
    return fft::emit_program(plan, options);
  }
  if (choice.family == GpuFftFamily::plain) return fft::emit_any_size(options);
  fft::FftPlan plan = choice.plan;
  // Neither array can hold the values between two kernels: the array of modes is too small, and the grid may still be
  // read.
  plan.place = Place::out;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k)
    plan.kernels[k].with.to = k + 1 < plan.kernels.size() ? fft::Target::work : fft::Target::out;
  if (plan.order != fft::DigitOrder::natural || plan.from != fft::DigitOrder::natural)
    throw Error(Status::invalid_plan, "fft: a nonuniform transform needs its fine grid's FFT in natural order");
  return fft::emit_program(plan, options);
}

GpuProgram slab_lines(const SlabLines& spec, bool to_modes) {
  fft::EmitOptions options;
  options.n = {spec.count, spec.fine, 1, 1};
  options.precision = spec.precision;
  options.sign = spec.sign;
  options.device = spec.device;
  const ArrayLayout modes{{1, spec.modes_stride}, spec.modes * spec.modes_stride};
  const std::int64_t held = spec.held == 0 ? spec.fine : spec.held;
  const ArrayLayout fine{{1, spec.fine_stride}, held * spec.fine_stride};
  options.input = to_modes ? fine : modes, options.output = to_modes ? modes : fine;
  fft::Pruning window;
  window.kind = spec.order;
  window.kept = spec.modes;
  (to_modes ? options.input_ranks : options.output_ranks) = spec.ranks;
  fft::DimensionHooks& hooks = options.hooks[1];
  (to_modes ? hooks.output : hooks.input) = window;
  (to_modes ? hooks.output_factors : hooks.input_factors) = spec.factors;
  if (held != spec.fine) {
    window.kind = fft::Pruning::Kind::centred, window.kept = held;
    (to_modes ? hooks.input : hooks.output) = window;
  }
  return fft::emit_program(fft::line_plan(options, 1), options);
}

GpuProgram grid_copy(const GridFft& spec, bool to_modes) {
  std::int64_t cells = 1, modes = 1;
  std::string constants;
  for (int d = 0; d < 3; ++d) {
    cells *= spec.fine[at(d)], modes *= spec.modes[at(d)];
    if (spec.held[at(d)] != 0 && spec.held[at(d)] != spec.fine[at(d)])
      throw Error(Status::unsupported, "fft=cufft: the library transforms whole grids");
    if (spec.fine[at(d)] >= std::int64_t{1} << 31)
      throw Error(Status::unsupported, fmt::format("fft=cufft: {} cells in one dimension", spec.fine[at(d)]));
    constants +=
        fmt::format("#define MODES_N{0} {1}\n#define MODES_F{0} {2}\n", d, spec.modes[at(d)], spec.fine[at(d)]);
  }
  GpuProgram program;
  KernelSource source;
  source.entry = fmt::format("nufft_{}_{}d_{}", to_modes ? "truncate" : "pad", spec.dim,
                             spec.precision == Precision::f32 ? "f32" : "f64");
  source.text = fmt::format("typedef {0} real;\ntypedef {0}2 real2;\n#define MODES_ENTRY {1}\n#define MODES_PAD {2}\n",
                            spec.precision == Precision::f32 ? "float" : "double", source.entry, to_modes ? 0 : 1) +
                fmt::format("#define MODES_CENTRED {}\n", spec.order == fft::Pruning::Kind::centred ? 1 : 0) +
                constants + launch_order_text + nufft_modes_text;
  source.block = {256, 1, 1};
  program.kernels.push_back(std::move(source));
  const std::int64_t blocks = ((to_modes ? modes : cells) + 255) / 256;
  if (blocks >= std::int64_t{1} << 31 || spec.batch > 65535)
    throw Error(Status::unsupported, fmt::format("fft=cufft: {} blocks for {} transforms", blocks, spec.batch));
  Launch launch;
  launch.grid = {static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>(spec.batch), 1};
  launch.arguments = {BufferRef{BufferRef::Where::first, 0, 0}, BufferRef{BufferRef::Where::second, 0, 0}};
  for (int d = 0; d < 3; ++d) {
    launch.arguments.push_back(BufferRef{BufferRef::Where::constant, d, 0});
    program.constants.push_back(packed(d < spec.dim ? spec.factors[at(d)] : std::vector<double>{1.0}, spec.precision));
  }
  launch.stage = "deconvolve";
  launch.bytes = spec.batch * (cells + modes) * 2 * real_bytes(spec.precision);
  program.launches.push_back(std::move(launch));
  return program;
}

GpuProgram placed(GpuProgram program, const BufferRef& first, const BufferRef& second, int first_work) {
  for (Launch& launch : program.launches)
    for (LaunchArgument& argument : launch.arguments) {
      auto* ref = std::get_if<BufferRef>(&argument);
      if (!ref || ref->where == BufferRef::Where::constant) continue;
      const std::int64_t offset = ref->byte_offset;
      if (ref->where == BufferRef::Where::workspace)
        ref->index += first_work;
      else
        *ref = ref->where == BufferRef::Where::first ? first : second;
      if (ref->where != BufferRef::Where::workspace || ref->index < first_work) ref->byte_offset += offset;
    }
  program.workspace_bytes.insert(program.workspace_bytes.begin(), at(first_work), 0);
  return program;
}

namespace {

BufferRef* workspace_in(LaunchArgument& argument, int workspace) {
  auto* ref = std::get_if<BufferRef>(&argument);
  return ref && ref->where == BufferRef::Where::workspace && ref->index == workspace ? ref : nullptr;
}

// Moves a whole workspace to a place in the grid.
void move_to_grid(GpuProgram& program, int workspace, int grid, std::int64_t offset) {
  for (Launch& launch : program.launches)
    for (LaunchArgument& argument : launch.arguments)
      if (BufferRef* ref = workspace_in(argument, workspace)) ref->index = grid, ref->byte_offset += offset;
  program.workspace_bytes[at(workspace)] = 0;
}

// Runs the first kernel (of to_modes) or the last one in place: its workspace then lies at the beginning of the grid.
// The kernel's blocks start at equal offsets in both arrays, one step apart, and touch every value of both arrays once.
// Hence each block's values are runs of one step at multiples of the total step of all blocks (no other set fills an
// array in this way). Its values in the smaller array are then among its values in the grid, and no block touches
// another block's values. Every value of a line depends on all values that were read, so reads precede writes. The
// other workspace follows the first one if there is room.
bool in_place(GpuProgram& program, bool first, int grid, std::int64_t bytes, int first_work) {
  if (program.launches.empty()) return false;
  Launch& one = first ? program.launches.front() : program.launches.back();
  if (one.arguments.size() < 2 || one.load_step <= 0 || one.load_step != one.store_step) return false;
  const auto* other = std::get_if<BufferRef>(&one.arguments[first ? 1 : 0]);
  const BufferRef* whole = workspace_in(one.arguments[first ? 0 : 1], grid);
  if (!other || !whole || other->where != BufferRef::Where::workspace || other->index < first_work) return false;
  const int work = other->index;
  const std::int64_t size = program.workspace_bytes[at(work)], row = one.load_step * one.grid[0];
  if (other->byte_offset != 0 || whole->byte_offset != 0 || size > bytes || size % row != 0 || bytes % row != 0)
    return false;
  for (Launch& launch : program.launches)
    for (LaunchArgument& argument : launch.arguments)
      if (&launch != &one && workspace_in(argument, grid)) return false;
  move_to_grid(program, work, grid, 0);
  std::int64_t used = (size + 255) / 256 * 256;
  for (int w = first_work; w < static_cast<int>(program.workspace_bytes.size()); ++w) {
    const std::int64_t next = program.workspace_bytes[at(w)];
    if (next == 0 || used + next > bytes) continue;
    move_to_grid(program, w, grid, used);
    used += (next + 255) / 256 * 256;
  }
  return true;
}

}  // namespace

void share_grid(GpuProgram& program, int grid, std::int64_t bytes, int first_work, std::int64_t offset,
                bool interleaved) {
  if (offset == 0 && !interleaved &&
      (in_place(program, true, grid, bytes, first_work) || in_place(program, false, grid, bytes, first_work)))
    return;
  const int launches = static_cast<int>(program.launches.size());
  // The first and the last launch that touch a workspace.
  const auto used = [&](int workspace) {
    std::pair<int, int> range{launches, -1};
    for (int i = 0; i < launches; ++i)
      for (const LaunchArgument& argument : program.launches[at(i)].arguments)
        if (const auto* ref = std::get_if<BufferRef>(&argument);
            ref && ref->where == BufferRef::Where::workspace && ref->index == workspace)
          range = {std::min(range.first, i), i};
    return range;
  };
  const auto whole = used(grid);
  for (int w = static_cast<int>(program.workspace_bytes.size()) - 1; w >= first_work; --w) {
    const auto range = used(w);
    if (range.second >= whole.first && range.first <= whole.second) continue;
    if (program.workspace_bytes[at(w)] > bytes || range.second < 0) continue;
    move_to_grid(program, w, grid, offset);
    return;
  }
}

}  // namespace fourtune::generator::gpu_nufft
