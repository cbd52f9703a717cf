// Turns a plan into its passes, kernel by kernel.
#include "generator/codegen/fft/lower/arrange.h"
#include "generator/codegen/fft/lower/copy_pass.h"
#include "generator/codegen/fft/lower/pass_planner.h"
#include "generator/codegen/fft/lower/reach.h"

namespace fourtune::generator::fft {

PassPlanner::PassPlanner(const FftPlan& plan, const EmitOptions& options) : plan_(plan), options_(options) {
  static const char* names[] = {"x", "y", "z", "w"};
  for (int d = 0; d < most_dimensions; ++d) axes_.push_back({names[d], options.n[at(d)], d, {}});
  axes_.push_back({"batch", options.batch, batch_axis, {}});
  for (std::size_t k = 0; k < plan.kernels.size(); ++k)
    for (const SubFft& sub : plan.kernels[k].subs)
      axes_[at(index(sub.dim))].digits.push_back({sub.radix, sub.stride, 1, static_cast<int>(k)});
  for (auto& axis : axes_) {
    std::int64_t done = 1;
    for (auto& digit : axis.digits) digit.out = done, done *= digit.radix;
    if (axis.digits.empty()) axis.digits.push_back({axis.n, 1, 1, -1}), done = axis.n;
    if (done != axis.n)
      refuse(fmt::format("rule length: {}: the plan's radices give length {}, the transform has {}", axis.name, done,
                         axis.n));
  }
  check_orders();
}

void PassPlanner::check_orders() {
  if (plan_.from != DigitOrder::primes && plan_.order != DigitOrder::primes) return;
  bool plain = options_.type == FftType::c2c;
  for (const DimensionHooks& hooks : options_.hooks)
    plain = plain && !hooks.input && !hooks.output && hooks.input_factors.empty() && hooks.output_factors.empty() &&
            hooks.input_turns.empty() && hooks.output_turns.empty();
  if (!plain) refuse("rule order: orders by prime factors are for whole complex arrays, without padding or factors");
}

Lowering PassPlanner::run() {
  PlannedProgram out;
  for (std::size_t k = 0; k < plan_.kernels.size() && !refused(); ++k) {
    out.passes.push_back(pass(static_cast<int>(k)));
    if (refused()) break;
    choose_workspace(k ? &out.passes[k - 1] : nullptr, out.passes[k], static_cast<int>(k));
    for (const PlannedPass& last = out.passes.back();
         last.to == BufferRef::Where::workspace && last.to_index >= out.workspaces;)
      ++out.workspaces;
  }
  out.work_values = work_values_;
  if (refused()) return {{}, refusal_};
  return {std::move(out), {}};
}

bool PassPlanner::moves_values(const PassSpec& spec) {
  if (!spec.load.prunings.empty() || !spec.store.prunings.empty() || spec.load.values != spec.store.values) return true;
  for (const int atom : spec.grid_order)
    if (load_weight(spec, atom) != store_weight(spec, atom)) return true;
  return false;
}

void PassPlanner::choose_workspace(const PlannedPass* before, PlannedPass& pass, int k) {
  using Where = BufferRef::Where;
  pass.from_index = before ? before->to_index : 0;
  pass.to_index = pass.to == Where::workspace ? pass.from_index : 0;
  const Where from = pass.from == Where::first && options_.in_place ? Where::second : pass.from;
  // A real transform in place reads and writes rows that occupy the same bytes, one tile at a time.
  const bool rows = options_.in_place && k == 0 && options_.type != FftType::c2c && same_rows(options_);
  if (from != pass.to || rows || !moves_values(pass.spec)) return;
  if (pass.to == Where::workspace)
    pass.to_index = 1 - pass.from_index;
  else
    refuse(fmt::format(
        "rule target: kernel {} writes the array that it reads, but gives its values other places: let the kernel "
        "before write to=work",
        k + 1));
}

PlannedPass PassPlanner::pass(int k) {
  const KernelParameters& w = with(k);
  PlannedPass out;
  PassSpec& spec = out.spec;
  spec.precision = options_.precision;
  spec.sign = options_.sign;
  spec.threads = w.threads;
  spec.apart = w.parts == Parts::apart;
  spec.cluster = w.cluster;
  spec.load_by = w.load;
  spec.cache = w.cache;
  spec.pipeline = std::max(1, w.pipeline);
  spec.exchange = w.exchange;
  spec.banks = w.banks;
  spec.max_registers = w.registers;
  if (w.registers)
    spec.blocks_per_multiprocessor =
        std::max(1, options_.device.registers_per_multiprocessor / (w.threads * w.registers));
  spec.twiddles = w.twiddle == TwiddleForm::table      ? Twiddles::powers
                  : w.twiddle == TwiddleForm::computed ? Twiddles::computed
                                                       : Twiddles::fast;
  const auto coalesced = [&](Coalesce side, DigitOrder order) {
    if (w.coalesce == side || w.coalesce == Coalesce::both) return PassSpec::Coalesced::always;
    const bool may = order == DigitOrder::primes && w.exchange == Exchange::shared && w.cluster == 1;
    return may ? PassSpec::Coalesced::where_held : PassSpec::Coalesced::no;
  };
  spec.coalesced_load = coalesced(Coalesce::load, plan_.from);
  spec.coalesced_store = coalesced(Coalesce::store, plan_.order);
  spec.title = to_text(plan_.kernels[at(k)]);
  spec.name = fmt::format("{}{}", k + 1, options_.sign < 0 ? "f" : "b");
  const bool first = k == 0, last = k + 1 == kernels();
  const SplitStrides in = first ? outside(true) : between(k), store = last ? outside(false) : between(k + 1);
  std::vector<Dft> transforms(plan_.kernels[at(k)].subs.size());
  std::array<std::size_t, most_dimensions> next{};
  AxisParts parts;
  for (int d = 0; d <= batch_axis; ++d) parts[at(d)] = split_axis(spec, d, k, in[at(d)], store[at(d)]);
  if (refused()) return out;
  for (std::size_t s = 0; s < transforms.size(); ++s) {
    const SubFft& sub = plan_.kernels[at(k)].subs[s];
    const int d = index(sub.dim);
    const Line& axis = axes_[at(d)];
    std::size_t i = next[at(d)];
    while (axis.digits[i].kernel != k) ++i;
    next[at(d)] = i + 1;
    transforms[s] = transform(out, parts[at(d)], axis, i);
  }
  order_grid(spec, w);
  finish_ports(out, k, parts, in, store);
  for (const auto& table : out.tables)
    spec.tables.push_back(static_cast<std::int64_t>(table.size()) / (2 * real_bytes(options_.precision)));
  add_factors(out, k, parts);
  spec.loaded = spec.stored = 1;
  for (int d = 0; d <= batch_axis; ++d) spec.loaded *= length_between(d, k), spec.stored *= length_between(d, k + 1);
  spec.wide = last_element() > 0x7fffffff;
  if (!refused()) refuse(arrange(spec, transforms));
  out.from = first                            ? BufferRef::Where::first
             : with(k - 1).to == Target::work ? BufferRef::Where::workspace
                                              : BufferRef::Where::second;
  out.to = !last && w.to == Target::work ? BufferRef::Where::workspace : BufferRef::Where::second;
  return out;
}

std::int64_t PassPlanner::last_element() const {
  std::int64_t most = work_values_;
  for (const bool input : {true, false}) {
    const auto s = array_strides(options_, input);
    const auto n = array_sizes(options_, input);
    std::int64_t last = s[batch_axis] * (options_.batch - 1);
    for (int d = 0; d < most_dimensions; ++d) last += s[at(d)] * (n[at(d)] - 1);
    most = std::max(most, last);
  }
  return most;
}

Lowering lower(const FftPlan& plan, const EmitOptions& options) { return PassPlanner(plan, options).run(); }

PlannedProgram plan_passes(const FftPlan& plan, const EmitOptions& options) {
  Lowering lowered = lower(plan, options);
  if (!lowered.refusal.empty()) throw Error(Status::invalid_plan, lowered.refusal);
  return std::move(lowered.program);
}

}  // namespace fourtune::generator::fft
