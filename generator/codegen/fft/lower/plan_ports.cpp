// Operations fused into loads and stores: prunings, factors, real arrays.
#include "generator/codegen/at.h"
#include "generator/codegen/fft/lower/pass_planner.h"
#include "generator/codegen/fft/lower/tables.h"

namespace fourtune::generator::fft {

namespace {

std::int64_t position_in_transform(const std::optional<Pruning>& hook, std::int64_t i, std::int64_t kept,
                                   std::int64_t n) {
  if (!hook || hook->kind == Pruning::Kind::head) return i;
  if (hook->kind == Pruning::Kind::wrapped) return i < (kept + 1) / 2 ? i : i + n - kept;
  return i >= kept / 2 ? i - kept / 2 : i + n - kept / 2;
}

// Values of the kept positions, indexed by position in the transform; 0 elsewhere.
template <class T>
std::vector<T> by_position(const std::optional<Pruning>& pruning, const std::vector<T>& values, std::int64_t n) {
  const std::int64_t kept = pruning ? pruning->kept : n;
  if (static_cast<std::int64_t>(values.size()) != kept)
    throw Error(Status::invalid_plan, fmt::format("{} factors for {} kept positions", values.size(), kept));
  std::vector<T> full(at(n), T(0));
  for (std::int64_t i = 0; i < kept; ++i) full[at(position_in_transform(pruning, i, kept, n))] = values[at(i)];
  return full;
}

}  // namespace

bool PassPlanner::pruned(int d, int k, bool load) const {
  if (d == batch_axis) return false;
  const Line& axis = axes_[at(d)];
  if (load) {
    if (axis.digits.front().kernel != k) return false;
    return options_.hooks[at(d)].input.has_value() || (d == 0 && options_.type == FftType::c2r) || turned(d, k);
  }
  if (axis.digits.back().kernel != k) return false;
  return options_.hooks[at(d)].output.has_value() || (d == 0 && options_.type == FftType::r2c);
}

bool PassPlanner::turned(int d, int k) const {
  const Line &x = axes_.front(), &axis = axes_[at(d)];
  return options_.type == FftType::c2r && d != 0 && d != batch_axis && !x.digits.empty() && !axis.digits.empty() &&
         x.digits.front().kernel == k && axis.digits.front().kernel == k && axis.digits.back().kernel == k;
}

void PassPlanner::finish_ports(PlannedPass& out, int k, const AxisParts& parts, const SplitStrides& in,
                               const SplitStrides& store) {
  PassSpec& spec = out.spec;
  for (int d = 0; d < most_dimensions; ++d) {
    const Line& axis = axes_[at(d)];
    for (const bool load : {true, false}) {
      if (!pruned(d, k, load)) continue;
      Port& port = load ? spec.load : spec.store;
      Pruning pruning;
      const auto& hook = load ? options_.hooks[at(d)].input : options_.hooks[at(d)].output;
      if (hook) pruning = *hook;
      pruning.index = natural(parts[at(d)], load);
      pruning.n = axis.n;
      pruning.stride = (load ? in : store)[at(d)].low;
      if (d == 0 && load && options_.type == FftType::c2r) {
        port.values = Values::hermitian;
        port.mirror = pruning;
        continue;
      }
      if (load && turned(d, k)) {
        if (hook)
          refuse("rule window: a half spectrum that is padded in another dimension takes separate kernels along x");
        port.turned.push_back(pruning);
        continue;
      }
      if (!hook) pruning.kind = Pruning::Kind::head, pruning.kept = axis.n / 2 + 1;  // r2c
      if (!load && plan_.order != DigitOrder::natural) refuse("rule order: a truncated output needs order=natural");
      port.prunings.push_back(pruning);
    }
  }
  if (k == 0) spec.load.ranks = options_.input_ranks;
  if (k + 1 == kernels()) spec.store.ranks = options_.output_ranks;
  if (spec.load.ranks && spec.load_by != Load::plain)
    refuse("rule load: values in the memory of other GPUs are loaded plainly");
  if (k == 0 && options_.type == FftType::r2c) spec.load.values = Values::real;
  if (k + 1 == kernels()) {
    spec.store.scale = options_.scale;
    if (options_.type == FftType::c2r) spec.store.values = Values::real;
  }
}

void PassPlanner::add_factors(PlannedPass& out, int k, const AxisParts& parts) {
  for (int d = 0; d < most_dimensions; ++d) {
    const Line& axis = axes_[at(d)];
    const DimensionHooks& hooks = options_.hooks[at(d)];
    for (const bool load : {true, false}) {
      if ((load ? axis.digits.front().kernel : axis.digits.back().kernel) != k) continue;
      const auto& pruning = load ? hooks.input : hooks.output;
      const auto add = [&](std::vector<std::byte> table, bool complex) {
        out.tables.push_back(std::move(table));
        (load ? out.spec.load : out.spec.store)
            .factors.push_back({natural(parts[at(d)], load), out.spec.extra_tables++, complex});
      };
      if (const auto& factors = load ? hooks.input_factors : hooks.output_factors; !factors.empty())
        add(real_table(by_position(pruning, factors, axis.n), options_.precision), false);
      if (const auto& turns = load ? hooks.input_turns : hooks.output_turns; !turns.empty())
        add(options_.tables ? complex_table(by_position(pruning, turns, axis.n), options_.precision)
                            : zero_table(axis.n, options_.precision),
            true);
    }
  }
}

}  // namespace fourtune::generator::fft
