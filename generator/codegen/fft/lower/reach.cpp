#include "generator/codegen/fft/lower/reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "generator/codegen/at.h"

namespace fourtune::generator::fft {
namespace {

std::int64_t largest(const PassSpec& pass, const Index& index) {
  std::int64_t most = 0;
  for (const IndexTerm& term : index) most += (pass.atoms[at(term.atom)].size - 1) * term.weight;
  return most;
}

// Number of elements by which the address moves when the bounded index increases by one; 0 if it does not follow the
// index.
std::int64_t stride_of(const Index& address, const Bound& bound) {
  std::int64_t stride = -1;
  for (const IndexTerm& term : bound.index) {
    const std::int64_t weight = weight_of(bound.index, term.atom), here = weight_of(address, term.atom);
    if (here % weight != 0 || (stride >= 0 && here / weight != stride)) return 0;
    stride = here / weight;
  }
  return std::max<std::int64_t>(stride, 0);
}

// The largest value of an index for which every bound of the port holds.
std::int64_t largest_within(const PassSpec& pass, const Port& port, const Index& index) {
  std::int64_t most = largest(pass, index);
  for (const Bound& bound : port.bounds)
    if (const std::int64_t beyond = largest(pass, bound.index) - (bound.limit - 1); beyond > 0)
      most -= beyond * stride_of(index, bound);
  return most;
}

class ReachCheck {
 public:
  ReachCheck(const std::vector<std::int64_t>& workspace_bytes, const EmitOptions& options)
      : workspace_bytes_(workspace_bytes), options_(options), real_(real_bytes(options.precision)) {}

  // The first refusal; empty: none.
  std::string refusal(const PlannedPass& pass, std::size_t kernel) {
    const PassSpec& spec = pass.spec;
    side(spec, spec.load, pass.from, pass.from_index, fmt::format("kernel {} reads", kernel + 1));
    side(spec, spec.store, pass.to, pass.to_index, fmt::format("kernel {} writes", kernel + 1));
    const std::string looks = fmt::format("kernel {} looks up", kernel + 1);
    const auto factors = [&](const std::vector<Factor>& list) {
      for (const Factor& factor : list)
        lookup(largest(spec, factor.index),
               static_cast<std::int64_t>(pass.tables[spec.tables.size() + at(factor.table)].size()) /
                   (real_ * (factor.complex ? 2 : 1)),
               looks);
    };
    factors(spec.load.factors), factors(spec.store.factors);
    for (const Round& round : spec.rounds)
      for (const Dft& transform : round.transforms) {
        factors(transform.before);
        if (transform.period > 1) lookup(largest(spec, transform.index), transform.period, looks);
      }
    return std::move(refusal_);
  }

 private:
  // The table is longer than the period by some factor, and look-ups use that multiple of the index; checking the index
  // against the period is enough.
  void lookup(std::int64_t last, std::int64_t length, const std::string& looks) {
    if (last >= length) refuse(fmt::format("rule target: {} factor {} of {}", looks, last + 1, length));
  }

  void refuse(std::string why) {
    if (refusal_.empty()) refusal_ = std::move(why);
  }

  void side(const PassSpec& pass, const Port& port, BufferRef::Where where, int index, const std::string& does) {
    const std::int64_t bytes = reach(pass, port) * real_ * (in_reals(port) ? 1 : 2);
    const bool workspace = where == BufferRef::Where::workspace;
    const std::int64_t there =
        workspace ? workspace_bytes_[at(index)] : array_bytes(options_, where == BufferRef::Where::first);
    if (bytes <= there) return;
    const char* const array = workspace                          ? "a workspace"
                              : where == BufferRef::Where::first ? "the input array"
                                                                 : "the output array; to=work before";
    refuse(fmt::format("rule target: {} {} bytes, there are {} of {}", does, bytes, there, array));
  }

  const std::vector<std::int64_t>& workspace_bytes_;
  const EmitOptions& options_;
  std::int64_t real_;
  std::string refusal_;
};

}  // namespace

Lengths array_sizes(const EmitOptions& options, bool input) {
  Lengths n = options.n;
  if (options.type == (input ? FftType::c2r : FftType::r2c)) n[0] = n[0] / 2 + 1;
  for (int d = 0; d < most_dimensions; ++d)
    if (const auto& pruning = input ? options.hooks[at(d)].input : options.hooks[at(d)].output)
      n[at(d)] = pruning->kept;
  return n;
}

AxisNumbers array_strides(const EmitOptions& options, bool input) {
  if (const auto& layout = input ? options.input : options.output)
    return {layout->stride[0], layout->stride[1], layout->stride[2], layout->stride[3], layout->distance};
  Lengths n = array_sizes(options, input);
  const bool real = options.type == (input ? FftType::r2c : FftType::c2r);
  if (options.in_place && real) n[0] = 2 * (options.n[0] / 2 + 1);  // rows padded to hold the half spectrum
  AxisNumbers strides{1};
  for (std::size_t d = 0; d < n.size(); ++d) strides[d + 1] = strides[d] * n[d];
  return strides;
}

std::int64_t array_bytes(const EmitOptions& options, bool input) {
  const auto bytes = [&](bool first) {
    const auto n = array_sizes(options, first);
    const auto s = array_strides(options, first);
    const bool real = options.type == (first ? FftType::r2c : FftType::c2r);
    std::int64_t last = s[batch_axis] * (options.batch - 1);
    for (std::size_t d = 0; d < n.size(); ++d) last += s[d] * (n[d] - 1);
    return (last + 1) * real_bytes(options.precision) * (real ? 1 : 2);
  };
  return options.in_place ? std::max(bytes(true), bytes(false)) : bytes(input);
}

std::int64_t reach(const PassSpec& pass, const Port& port) {
  std::int64_t last = largest_within(pass, port, port.address);
  for (const Pruning& pruning : port.prunings) last += (pruning.kept - 1) * pruning.stride;
  if (port.values == Values::hermitian) last += port.mirror.n / 2 * port.mirror.stride;
  if (port.values == Values::folded || port.values == Values::unfolded)
    last += (port.mirror.kept - 1) * port.mirror.stride;
  if (port.values == Values::pairs) last += port.pair;
  for (const Pruning& turned : port.turned) last += (turned.n - 1) * turned.stride;
  return last + 1;
}

std::vector<std::int64_t> workspace_bytes(const PlannedProgram& planned, const EmitOptions& options) {
  // The values up to the last one that a port reaches, if its tiles do not extend beyond the array.
  const auto values = [](const PassSpec& pass, const Port& port) {
    std::int64_t last = largest(pass, port.address);
    for (const Pruning& pruning : port.prunings) last += (pruning.kept - 1) * pruning.stride;
    return last + 1;
  };
  std::vector<std::int64_t> all(at(planned.workspaces), 0);
  for (const PlannedPass& pass : planned.passes) {
    if (pass.to != BufferRef::Where::workspace) continue;
    std::int64_t& bytes = all[at(pass.to_index)];
    bytes = std::max(
        bytes, std::min(values(pass.spec, pass.spec.store), planned.work_values) * 2 * real_bytes(options.precision));
  }
  return all;
}

std::string beyond_reach(const PlannedProgram& planned, const EmitOptions& options) {
  const std::vector<std::int64_t> workspaces = workspace_bytes(planned, options);
  for (std::size_t i = 0; i < planned.passes.size(); ++i)
    if (std::string refusal = ReachCheck(workspaces, options).refusal(planned.passes[i], i); !refusal.empty())
      return refusal;
  return {};
}

}  // namespace fourtune::generator::fft
