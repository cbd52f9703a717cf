#include "generator/codegen/fft/any_length/half_lines.h"

#include <algorithm>

#include "generator/codegen/at.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/any_length/convolved.h"
#include "generator/codegen/fft/any_length/line_radices.h"
#include "generator/codegen/fft/emit/pass_memory.h"
#include "generator/codegen/fft/lower/arrange.h"
#include "generator/codegen/fft/lower/reach.h"

namespace fourtune::generator::fft {
namespace {

bool has_hooks(const DimensionHooks& hooks) {
  return hooks.input || hooks.output || !hooks.input_factors.empty() || !hooks.output_factors.empty() ||
         !hooks.input_turns.empty() || !hooks.output_turns.empty();
}

// Takes the pruning along x off a port.
Pruning pruning_along_x(Port& port) {
  Pruning pruning = port.prunings.front();
  port.prunings.erase(port.prunings.begin());
  return pruning;
}

ArrayLayout layout_of(const AxisNumbers& strides) {
  return {{strides[0], strides[1], strides[2], strides[3]}, strides[batch_axis]};
}

}  // namespace

EmitOptions half_lines(const EmitOptions& options) {
  EmitOptions half = options;
  half.input = layout_of(array_strides(options, true)), half.output = layout_of(array_strides(options, false));
  (options.type == FftType::r2c ? half.input : half.output)->stride[0] *= 2;
  half.type = FftType::c2c;
  half.n[0] /= 2;
  return half;
}

std::optional<FftPlan> half_line_plan(const EmitOptions& options) {
  const EmitOptions half = half_lines(options);
  if (is_convolved(half, 0)) return {};
  return plan_of_half_lines(half, options.type);
}

bool unfolds_apart(const EmitOptions& options) {
  const std::optional<FftPlan> plan = half_line_plan(options);
  return plan && plan->kernels.size() > 1;
}

bool takes_half_lines(const EmitOptions& options) {
  const bool natural = options.order == DigitOrder::natural && options.from == DigitOrder::natural;
  if (options.type == FftType::c2c || options.n[0] % 2 != 0 || !natural || has_hooks(options.hooks[0])) return false;
  if (is_convolved(options, 0)) return true;
  // An r2c of one kernel gains 1.05 to 1.6 times from 512 values on (H200). Where it makes its half spectrum apart,
  // that passes through memory as often as kernels of whole lines do, unless these are three.
  // A c2r of fewer values has two large radices, of which a thread would make two DFTs (on an H200 720 f32 took 44.2 us
  // by whole lines and 40.6 by half ones, 500 and 512 f64 25.0 and 23.0, 22.9 and 21.8; but 512 f32 21.9 and 22.5, and
  // 600 f64, whose first round would be of two values, 22.7 and 24.8).
  constexpr std::int64_t kFewest = 500;
  if (options.n[0] < kFewest) return false;
  const bool small_round = radices_up_to_16(options.n[0] / 2).back() < 4;
  const std::int64_t is_long = options.type == FftType::r2c          ? 512
                               : options.precision == Precision::f32 ? 700
                               : small_round                         ? 1000
                                                                     : kFewest;
  const bool one_dimension = std::all_of(options.n.begin() + 1, options.n.end(), [](std::int64_t n) { return n == 1; });
  if (options.n[0] < is_long || !one_dimension) return false;
  if (options.type == FftType::c2r || !unfolds_apart(options)) return true;
  EmitOptions whole = options;
  whole.type = FftType::c2c;
  whole.input = whole.output = std::nullopt;
  return line_plan(whole, 0).kernels.size() > 2;
}

void load_pairs(Port& load, std::int64_t pair) { load.values = Values::pairs, load.pair = pair; }
void store_pairs(Port& store, std::int64_t pair) { store.values = Values::pairs, store.pair = pair; }

void load_folded(Port& load, std::int64_t n) {
  load.values = Values::folded;
  load.mirror = pruning_along_x(load);
  load.mirror.n = n, load.mirror.kept = n + 1;
  load.bounds.push_back({load.mirror.index, n});
}

namespace {

// Left alone, the compiler computes all turns ahead of the barrier, and holds them: 80 registers for 16 values in f32,
// where 56 are enough, and 148 in f64 (96). More resident blocks are worth more.
void promise_blocks(PassSpec& spec, std::int64_t bytes, const DeviceTraits& device) {
  const std::int64_t single = spec.precision == Precision::f32 ? 1 : 2;
  const std::int64_t registers = (2 * most_registers(spec) + 16) * single + (single == 1 ? 8 : 0);
  const std::int64_t by_memory = device.shared_per_multiprocessor / (bytes + 1024);
  const std::int64_t by_threads = std::min(16, device.threads_per_multiprocessor / spec.threads);
  const std::int64_t blocks = device.registers_per_multiprocessor / ((registers + 7) / 8 * 8 * spec.threads);
  spec.blocks_per_multiprocessor =
      static_cast<int>(std::max<std::int64_t>(1, std::min({blocks, by_memory, by_threads})));
}

// Numbers the DFTs of the first round so that threads make opposite ones (PassSpec::paired); false: they are in no
// pairs.
bool pair_opposite(PassSpec& spec) {
  Round& round = spec.rounds.front();
  const Index& position = spec.load.mirror.index;
  if (spec.rounds.size() < 2 || round.transforms.size() != 1) return false;
  const std::vector<int>& digits = round.transforms.front().digits;
  std::int64_t radix = 1;
  for (const int atom : digits) radix *= spec.atoms[at(atom)].size;
  const std::int64_t paired = spec.load.mirror.n / radix;
  std::vector<int> rest;
  for (int atom = 0; atom < static_cast<int>(spec.atoms.size()); ++atom)
    if (spec.atoms[at(atom)].in_tile && std::find(digits.begin(), digits.end(), atom) == digits.end())
      rest.push_back(atom);
  // DFTs of a line by their numbers, then lines as they lie in memory.
  const auto key = [&](int atom) {
    const std::int64_t weight = weight_of(position, atom);
    return std::pair(weight == 0, weight == 0 ? weight_of(spec.load.address, atom) : weight);
  };
  std::stable_sort(rest.begin(), rest.end(), [&](int a, int b) { return key(a) < key(b); });
  std::int64_t next = 1;
  for (const int atom : rest) {
    const std::int64_t weight = weight_of(position, atom);
    if (weight != 0 && weight != next) return false;
    if (weight != 0) next *= spec.atoms[at(atom)].size;
  }
  if (paired % 2 != 0 || next != paired || weight_of(position, digits.front()) != paired) return false;
  round.registers = digits, round.threads = rest;
  spec.paired = paired;
  return true;
}

}  // namespace

void load_once(PassSpec& spec, const DeviceTraits& device) {
  if (PassSpec pairs = spec; pair_opposite(pairs)) {
    promise_blocks(pairs, pass_memory(pairs).bytes, device);
    spec = std::move(pairs);
    return;
  }
  PassSpec inside = spec;
  inside.folds_inside = true, inside.apart = false;
  const std::int64_t bytes = pass_memory(inside).bytes;
  if (bytes > device.shared_per_block) return;
  promise_blocks(inside, bytes, device);
  spec = std::move(inside);
}

FftPlan plan_of_half_lines(const EmitOptions& half, FftType type) {
  FftPlan plan = line_plan(half, 0);
  if (type != FftType::c2r || plan.kernels.size() != 1) return plan;
  // A thread makes two DFTs of the first round, so it takes the smallest radix, or one less where all are large.
  const std::int64_t n = half.n[0];
  Kernel& kernel = plan.kernels.front();
  std::vector<int> radices;
  for (const SubFft& sub : kernel.subs) radices.push_back(sub.radix);
  if (n == 4096) radices = {8, 8, 8, 8};
  // Fewer rounds of threads that hold 32 values: on an H200 16384 x 1024 in f32 took 50.6 us by 8 8 16 8 and takes 44.0
  // so, 8192 x 2048 41.1 by 8 8 8 8 and 38.9.
  if (half.precision == Precision::f32 && (n == 4096 || n == 8192)) {
    radices = {n == 4096 ? 16 : 32, 16, 16};
    kernel.with.threads = static_cast<int>(n / 32);
  }
  const auto fits = [&](int radix) { return n / radix % 2 == 0 && 2 * radix <= most_held(half.precision); };
  const auto first = std::find_if(radices.rbegin(), radices.rend(), fits);  // they descend
  if (first == radices.rend()) return plan;
  std::rotate(radices.begin(), std::prev(first.base()), first.base());
  kernel.subs.clear();
  std::int64_t left = n;
  for (const int r : radices) {
    kernel.subs.push_back({Dim::x, n / r, r, left / r, left, left != r});
    left /= r;
  }
  return plan;
}

void store_unfolded(PassSpec& spec, std::int64_t n) {
  Port& store = spec.store;
  store.values = Values::unfolded;
  store.mirror = pruning_along_x(store);
  store.mirror.n = n, store.mirror.kept = n + 1;
  spec.apart = false;
}

PlannedPass unfolding_pass(const EmitOptions& options, const AxisNumbers& n, const AxisNumbers& from,
                           const AxisNumbers& to) {
  constexpr std::int64_t tile = 512;
  constexpr const char* names[] = {"x", "y", "z", "w", "batch"};
  PlannedPass out;
  PassSpec& spec = out.spec;
  spec.name = "unfold", spec.title = "half spectra of real lines";
  spec.precision = options.precision, spec.sign = options.sign;
  spec.threads = 256;
  const std::int64_t values = n[0] + 1, tiles = (values + tile - 1) / tile;
  spec.atoms = {{"k", std::min(tile, values), true}, {"part", tiles, false}};
  spec.grid_order = {1};
  const Index position{{0, 1}, {1, tile}};
  spec.load.values = Values::unfolded;
  spec.load.mirror = {Pruning::Kind::head, position, n[0], n[0], from[0]};
  for (const IndexTerm& term : position) spec.store.address.push_back({term.atom, term.weight * to[0]});
  if (tiles * tile != values)
    for (Port* port : {&spec.load, &spec.store}) port->bounds.push_back({position, values});
  std::int64_t last = n[0] * std::max(from[0], to[0]);
  spec.loaded = n[0], spec.stored = values;
  for (int d = 1; d <= batch_axis; ++d) {
    if (n[at(d)] == 1) continue;
    const int atom = static_cast<int>(spec.atoms.size());
    spec.atoms.push_back({names[d], n[at(d)], false});
    spec.grid_order.push_back(atom);
    spec.load.address.push_back({atom, from[at(d)]}), spec.store.address.push_back({atom, to[at(d)]});
    last += (n[at(d)] - 1) * std::max(from[at(d)], to[at(d)]);
    spec.loaded *= n[at(d)], spec.stored *= n[at(d)];
  }
  spec.wide = last > 0x7fffffff;
  assert_arranged(spec, {});
  return out;
}

}  // namespace fourtune::generator::fft
