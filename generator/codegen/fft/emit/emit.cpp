#include "generator/codegen/fft/emit/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fft_prelude_text.h"
#include "fourtune/status.h"
#include "generator/codegen/fft/codelet/codelet.h"
#include "generator/codegen/fft/emit/emit_pass.h"
#include "generator/codegen/fft/lower/reach.h"
#include "generator/plan/fft/geometry.h"
#include "launch_order_text.h"

namespace fourtune::generator::fft {
namespace {

// Kept, because kernels of a transform share codelets, and to schedule one takes longer than all else here.
const std::string& kept_codelet_text(int n) {
  thread_local std::map<int, std::string> texts;
  const auto found = texts.find(n);
  return found != texts.end() ? found->second : texts.emplace(n, codelet_text(make_codelet(n))).first->second;
}

}  // namespace

std::string emit_prelude(Precision precision, const std::vector<int>& codelets) {
  const char* name = precision == Precision::f32 ? "float" : "double";
  std::string text =
      fmt::format("typedef {0} real;\ntypedef {0}2 real2;\n\n{1}{2}\n", name, launch_order_text, fft_prelude_text);
  std::vector<int> sizes = codelets;
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const int n : sizes)
    if (n > 1) text.append(kept_codelet_text(n)).append(1, '\n');
  return text;
}

KernelSource emit_kernel(const PassSpec& pass, bool text) {
  const PassText body = emit_pass(pass, text);
  KernelSource kernel;
  kernel.entry = body.entry;
  if (text) kernel.text = emit_prelude(pass.precision, body.codelets) + body.text;
  kernel.block = {static_cast<std::uint32_t>(pass.threads), 1, 1};
  kernel.cluster = {static_cast<std::uint32_t>(pass.cluster), 1, 1};
  kernel.shared_bytes = body.shared_bytes;
  kernel.max_registers = pass.max_registers;
  return kernel;
}

namespace {

double flops_of(const PassSpec& pass) {
  double values = static_cast<double>(tile_values(pass)) * static_cast<double>(tile_count(pass)), flops = 0;
  for (const Round& round : pass.rounds)
    for (const Transform& transform : round.transforms) {
      double radix = 1;
      for (const int atom : transform.digits)
        radix *= static_cast<double>(pass.atoms[static_cast<std::size_t>(atom)].size);
      flops += 5 * values * std::log2(radix);
    }
  return flops;
}

std::int64_t bytes_of(const PassSpec& pass, Precision precision) {
  const std::int64_t all = tile_values(pass) * tile_count(pass), one = real_bytes(precision);
  return one * ((pass.loaded ? pass.loaded : all) * (pass.load.values == Values::real ? 1 : 2) +
                (pass.stored ? pass.stored : all) * (pass.store.values == Values::real ? 1 : 2));
}

// Distance in values between the first values of neighbouring blocks; 0: not constant.
std::int64_t step_of(const PassSpec& pass, const Port& port) {
  std::int64_t first = 0, next = 0;
  for (const int atom : pass.grid_order) {
    const std::int64_t stride = weight_of(port.address, atom), size = pass.atoms[static_cast<std::size_t>(atom)].size;
    if (first == 0) first = next = stride;
    if (stride != next) return 0;
    next *= size;
    for (const Window& window : port.windows)
      if (weight_of(window.index, atom) != 0) return 0;
    for (const Window& turned : port.turned)
      if (weight_of(turned.index, atom) != 0) return 0;
    const bool halved = port.values == Values::folded || port.values == Values::unfolded;
    if (halved && weight_of(port.mirror.index, atom) != 0) return 0;
  }
  return port.bounds.empty() ? first : 0;
}

// Number of blocks of a persistent kernel: as many as the device can hold at once, each with the same number of tiles.
std::int64_t persistent_blocks(const PassSpec& pass, const KernelSource& kernel, const DeviceTraits& device) {
  std::int64_t held = 1;
  for (const Round& round : pass.rounds) {
    std::int64_t registers = 1;
    for (const int atom : round.registers) registers *= pass.atoms[static_cast<std::size_t>(atom)].size;
    held = std::max(held, registers);
  }
  int registers = registers_estimate(static_cast<int>(held), pass.precision);
  if (pass.max_registers) registers = std::min(registers, pass.max_registers);
  const std::int64_t each = std::max(1, resident_blocks(pass.threads, registers, kernel.shared_bytes, device));
  return std::min(tile_count(pass), each * std::max(1, device.multiprocessors));
}

Launch whole_launch(GpuProgram& program, const PlannedPass& pass, int kernel, const EmitOptions& options) {
  Launch launch;
  launch.kernel = kernel;
  const Precision precision = options.precision;
  const KernelSource& source = program.kernels[static_cast<std::size_t>(kernel)];
  std::int64_t blocks = tile_count(pass.spec);
  if (pass.spec.load_by != Load::plain) blocks = persistent_blocks(pass.spec, source, options.device);
  blocks *= pass.spec.cluster;
  if (blocks > 0x7fffffff)
    throw Error(Status::invalid_plan, fmt::format("{} blocks in one launch: at most 2147483647", blocks));
  launch.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
  launch.arguments = {BufferRef{pass.from, pass.from_index, 0}, BufferRef{pass.to, pass.to_index, 0}};
  for (const auto& table : pass.tables) {
    const auto it = std::find(program.constants.begin(), program.constants.end(), table);
    launch.arguments.push_back(
        BufferRef{BufferRef::Where::constant, static_cast<int>(it - program.constants.begin()), 0});
    if (it == program.constants.end()) program.constants.push_back(table);
  }
  if (pass.spec.load.ranks || pass.spec.store.ranks) {
    launch.arguments.push_back(BufferRef{BufferRef::Where::workspace, rank_addresses, 0});
    program.workspace_bytes.resize(rank_addresses + 1, 0);
  }
  launch.stage = "fft";
  launch.bytes = bytes_of(pass.spec, precision);
  launch.flops = flops_of(pass.spec);
  if (pass.spec.load_by == Load::plain && pass.spec.cluster == 1) {
    const auto bytes = [&](const Port& port) {
      return step_of(pass.spec, port) * real_bytes(precision) * (in_reals(port) ? 1 : 2);
    };
    launch.load_step = bytes(pass.spec.load), launch.store_step = bytes(pass.spec.store);
  }
  return launch;
}

// The part of a launch that processes slab s of `slabs`.
Launch slab_launch(Launch launch, const PassSpec& pass, std::int64_t s, std::int64_t slabs, std::int64_t real) {
  if (pass.grid_order.empty() || pass.load_by != Load::plain)
    throw Error(Status::invalid_plan, "slabs need plain loads and a grid");
  const int atom = pass.grid_order.back();
  const std::int64_t size = pass.atoms[static_cast<std::size_t>(atom)].size;
  if (size % slabs) throw Error(Status::invalid_plan, fmt::format("{} slabs do not divide {}", slabs, size));
  launch.grid[0] = static_cast<std::uint32_t>(launch.grid[0] / slabs);
  launch.bytes /= slabs, launch.flops /= static_cast<double>(slabs);
  launch.load_step = launch.store_step = 0;
  const auto shift = [&](std::size_t argument, const Port& port) {
    std::get<BufferRef>(launch.arguments[argument]).byte_offset =
        weight_of(port.address, atom) * (size / slabs) * s * real * (in_reals(port) ? 1 : 2);
  };
  shift(0, pass.load), shift(1, pass.store);
  return launch;
}

}  // namespace

GpuProgram emit_program(const PlannedProgram& planned, const EmitOptions& options) {
  GpuProgram program;
  const std::int64_t real = real_bytes(options.precision);
  program.workspace_bytes = workspace_bytes(planned, options);
  if (const std::string refusal = beyond_reach(planned, options); !refusal.empty())
    throw Error(Status::invalid_plan, refusal);
  std::vector<Launch> whole;
  for (const PlannedPass& pass : planned.passes) {
    constexpr int bulk_alignment = 16;
    if (pass.spec.load_by == Load::bulk && pass.from == BufferRef::Where::first) program.alignment[0] = bulk_alignment;
    if (pass.spec.load_by == Load::bulk && pass.from == BufferRef::Where::second) program.alignment[1] = bulk_alignment;
    program.kernels.push_back(emit_kernel(pass.spec, options.contents));
    whole.push_back(whole_launch(program, pass, static_cast<int>(whole.size()), options));
  }
  const int passes = static_cast<int>(whole.size());
  for (int k = 0; k < passes;) {
    const bool together = planned.slabs.slabs > 1 && k == planned.slabs.first;
    if (!together) {
      program.launches.push_back(whole[static_cast<std::size_t>(k++)]);
      continue;
    }
    for (std::int64_t s = 0; s < planned.slabs.slabs; ++s)
      for (int i = k; i < k + planned.slabs.count; ++i)
        program.launches.push_back(slab_launch(whole[static_cast<std::size_t>(i)],
                                               planned.passes[static_cast<std::size_t>(i)].spec, s, planned.slabs.slabs,
                                               real));
    k += planned.slabs.count;
  }
  return program;
}

GpuProgram emit_program(const FftPlan& plan, const EmitOptions& options) {
  return emit_program(plan_passes(plan, options), options);
}

}  // namespace fourtune::generator::fft
