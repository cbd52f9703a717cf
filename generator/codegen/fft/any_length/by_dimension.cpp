// One dimension after the other: by the plan for the length, by convolutions inside one kernel, or, where a line is
// longer than a block holds, by the plans of the convolution's two DFTs with the products fused into their loads and
// stores.
#include "generator/codegen/fft/any_length/by_dimension.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fourtune/status.h"
#include "generator/codegen/at.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/any_length/bluestein.h"
#include "generator/codegen/fft/any_length/convolved.h"
#include "generator/codegen/fft/any_length/half_lines.h"
#include "generator/codegen/fft/emit/pass_memory.h"
#include "generator/codegen/fft/lower/copy_pass.h"
#include "generator/codegen/fft/lower/reach.h"

namespace fourtune::generator::fft {

AxisNumbers with_batch(const Lengths& n, std::int64_t batch) { return {n[0], n[1], n[2], n[3], batch}; }

ArrayLayout dense(const Lengths& n) {
  ArrayLayout out;
  out.distance = 1;
  for (std::size_t d = 0; d < n.size(); ++d) out.stride[d] = out.distance, out.distance *= n[d];
  return out;
}

PlannedPass whole_copy(const EmitOptions& options) {
  const auto side = [&](bool input) {
    const bool real = options.type == (input ? FftType::r2c : FftType::c2r);
    return CopySide{real ? Values::real : Values::complex, array_strides(options, input)};
  };
  double scale = options.scale;
  for (int d = 0; d < most_dimensions; ++d)
    if (options.n[at(d)] == 1)
      for (const auto* factors : {&options.hooks[at(d)].input_factors, &options.hooks[at(d)].output_factors})
        if (!factors->empty()) scale *= factors->front();
  return copy_pass(options, with_batch(options.n, options.batch), side(true), side(false), scale);
}

namespace {

// An array that holds the values between two dimensions.
struct Held {
  BufferRef::Where where = BufferRef::Where::first;
  int index = 0;
  ArrayLayout layout;
};
constexpr int half_spectrum = 2, spectrum = 3;  // workspaces in addition to the two that plans use

class ByDimension {
 public:
  explicit ByDimension(const EmitOptions& options)
      : options_(options), n_(options.n), halves_(takes_half_lines(options)) {}

  PlannedProgram all() {
    std::vector<int> order;
    for (const int d : options_.type == FftType::c2r ? std::array{1, 2, 3, 0} : std::array{0, 1, 2, 3})
      if (options_.n[at(d)] > 1 || (d == 0 && options_.type != FftType::c2c)) order.push_back(d);
    if (options_.type == FftType::c2r) n_[0] = options_.n[0] / 2 + 1;
    Held from{BufferRef::Where::first, 0, input_layout()};
    for (std::size_t i = 0; i < order.size();) {
      const std::optional<FftPlan> two = i + 1 < order.size() ? joined(order[i], order[i + 1]) : std::nullopt;
      const std::size_t next = i + (two ? 2 : 1);
      const bool last = next == order.size();
      Held to{BufferRef::Where::second, 0, output_layout()};
      if (!last && options_.type == FftType::c2r)  // the output is too small for the spectrum
        to = {BufferRef::Where::workspace, half_spectrum, dense(n_)};
      if (two)
        append(plan_passes(*two, line_options(from, to, last)), from, to);
      else
        dimension(order[i], from, to, last);
      from = to, i = next;
    }
    all_.workspaces = workspaces_;
    return std::move(all_);
  }
  // Along dimension d alone; complex values.
  PlannedProgram only(int d) {
    dimension(d, {BufferRef::Where::first, 0, input_layout()}, {BufferRef::Where::second, 0, output_layout()}, true);
    all_.workspaces = workspaces_;
    return std::move(all_);
  }

 private:
  ArrayLayout layout(bool input) const {
    auto n = options_.n;
    const bool real = options_.type == (input ? FftType::r2c : FftType::c2r);
    if (options_.type == (input ? FftType::c2r : FftType::r2c)) n[0] = n[0] / 2 + 1;
    if (real && options_.in_place) n[0] = 2 * (n[0] / 2 + 1);
    return dense(n);
  }
  ArrayLayout input_layout() const { return options_.input.value_or(layout(true)); }
  ArrayLayout output_layout() const { return options_.output.value_or(layout(false)); }

  // Options for complex lines with the lengths of the last array.
  EmitOptions line_options(const Held& from, const Held& to, bool last) const {
    EmitOptions line = options_;
    line.n = n_;
    line.type = FftType::c2c;
    line.input = from.layout, line.output = to.layout;
    if (from.where != BufferRef::Where::first) line.input_ranks.reset();
    if (!last) line.output_ranks.reset();
    line.scale = last ? options_.scale : 1;
    line.in_place = from.where == to.where ? from.index == to.index
                                           : options_.in_place && from.where == BufferRef::Where::first &&
                                                 to.where == BufferRef::Where::second;
    return line;
  }
  // One kernel for two dimensions, if both have codelets and are short.
  std::optional<FftPlan> joined(int d, int next) const {
    if (options_.type != FftType::c2c || next != d + 1) return {};
    if (is_convolved(options_, d) || is_convolved(options_, next)) return {};
    return joined_plan(options_, d);
  }

  void dimension(int d, const Held& from, const Held& to, bool last) {
    const bool convolved = is_convolved(options_, d);
    if (convolved && (options_.input_ranks || options_.output_ranks))
      throw Error(Status::unsupported, "arrays of several ranks: a length with a prime factor above 61");
    const bool r2c = d == 0 && options_.type == FftType::r2c, c2r = d == 0 && options_.type == FftType::c2r;
    const std::int64_t n = options_.n[at(d)], kept = r2c ? n / 2 + 1 : n;
    EmitOptions line = line_options(from, to, last);
    line.n[at(d)] = n;
    line.type = r2c ? FftType::r2c : c2r ? FftType::c2r : FftType::c2c;
    if (n == 1)
      append(one_value(line), from, to);
    else if (d == 0 && halves_)
      by_half_lines(line, from, to);
    else if (!convolved)
      by_plan(d, flattened(line, d), from, to);
    else if (!by_convolution(d, line, kept, from, to))
      by_two_plans(d, flattened(line, d), kept, from, to);
    n_[at(d)] = kept;
  }

  // A real line of one value: its spectrum is that value.
  static PlannedProgram one_value(const EmitOptions& line) {
    PlannedProgram out;
    out.passes.push_back(whole_copy(line));
    return out;
  }

  // If the lines along x are contiguous in both arrays, treats them as a batch, so that a tile carries several of them.
  static EmitOptions flattened(EmitOptions line, int d) {
    const AxisNumbers n = with_batch(line.n, line.batch);
    const auto behind = [&](const ArrayLayout& layout) {
      std::int64_t next = layout.stride[1];
      for (std::size_t axis = 1; axis < n.size(); next *= n[axis++])
        if (n[axis] > 1 && (axis == batch_axis ? layout.distance : layout.stride[axis]) != next) return false;
      return true;
    };
    if (d != 0 || line.n[1] == 1 || !behind(*line.input) || !behind(*line.output)) return line;
    for (ArrayLayout* layout : {&*line.input, &*line.output})
      *layout = {.stride = {layout->stride[0]}, .distance = layout->stride[1]};
    line.batch = n[1] * n[2] * n[3] * n[4];
    line.n = Lengths(line.n[0]);
    for (int other = 1; other < most_dimensions; ++other) line.hooks[at(other)] = {};  // of other dimensions' kernels
    return line;
  }

  // Appends the passes, which read their first array and write their second one, to the program.
  void append(PlannedProgram part, const Held& from, const Held& to) {
    for (PlannedPass& pass : part.passes) {
      const bool first = &pass == &part.passes.front(), end = &pass == &part.passes.back();
      if (pass.from == BufferRef::Where::second && !first) pass.from = to.where, pass.from_index = to.index;
      if (pass.to == BufferRef::Where::second && !end) pass.to = to.where, pass.to_index = to.index;
      if (first) pass.from = from.where, pass.from_index = from.index;
      if (end) pass.to = to.where, pass.to_index = to.index;
      pass.spec.name = fmt::format("d{}_{}", ++parts_, pass.spec.name);
      for (const auto& [where, index] : {std::pair(pass.from, pass.from_index), std::pair(pass.to, pass.to_index)})
        if (where == BufferRef::Where::workspace) workspaces_ = std::max(workspaces_, index + 1);
      all_.passes.push_back(std::move(pass));
    }
    all_.work_values = std::max({all_.work_values, part.work_values, dense(n_).distance * options_.batch});
  }

  void by_plan(int d, const EmitOptions& line, const Held& from, const Held& to) {
    append(plan_passes(line_plan(line, d), line), from, to);
  }

  // Real lines along x as complex ones of half the length.
  void by_half_lines(const EmitOptions& line, const Held& from, const Held& to) {
    const EmitOptions half = half_lines(line);
    const std::int64_t n = half.n[0];
    if (line.type == FftType::c2r || unfolds_inside(half)) return complex_lines(half, line.type, from, to);
    // The complex lines' spectra go to a workspace.
    n_[0] = n;
    const Held apart{BufferRef::Where::workspace, half_spectrum, dense(n_)};
    EmitOptions first = half;
    first.output = apart.layout, first.in_place = false;
    complex_lines(first, FftType::r2c, from, apart);
    const auto strides = [](const ArrayLayout& layout) {
      return AxisNumbers{layout.stride[0], layout.stride[1], layout.stride[2], layout.stride[3], layout.distance};
    };
    PlannedProgram part;
    part.passes.push_back(
        unfolding_pass(half, with_batch(n_, options_.batch), strides(apart.layout), strides(to.layout)));
    append(std::move(part), apart, to);
  }
  // Whether one kernel of the complex lines makes the half spectra, in shared memory.
  bool unfolds_inside(const EmitOptions& half) const {
    const std::int64_t n = half.n[0];
    if (is_convolved(half, 0))
      return shape_in_one(n, convolution_arrays(lines_of(half), 0, half.precision), half.device).has_value();
    const PlannedProgram planned = unfolding_plan(half);
    return planned.passes.size() == 1 && least_bytes(planned.passes.back().spec) <= half.device.shared_per_block;
  }
  static PlannedProgram unfolding_plan(const EmitOptions& half) {
    EmitOptions line = flattened(half, 0);
    const FftPlan plan = line_plan(line, 0);
    line.hooks[0].output = Pruning{}, line.hooks[0].output->kept = line.n[0];
    line.in_place = false;  // its tiles are whole rows of both arrays
    PlannedProgram planned = plan_passes(plan, line);
    store_unfolded(planned.passes.back().spec, line.n[0]);
    return planned;
  }
  // `half` transforms x alone. Where its results stay in a workspace of ours, they are left as they are.
  void complex_lines(const EmitOptions& half, FftType type, const Held& from, const Held& to) {
    const std::int64_t n = half.n[0];
    const bool unfolds = type == FftType::r2c && to.where != BufferRef::Where::workspace;
    real_ = {type, unfolds};
    if (is_convolved(half, 0)) {
      if (!by_convolution(0, half, n, from, to)) by_two_plans(0, flattened(half, 0), n, from, to);
      real_ = {};
      return;
    }
    PlannedProgram planned;
    if (unfolds) {
      planned = unfolding_plan(half);
    } else {
      EmitOptions line = flattened(half, 0);
      const FftPlan plan = plan_of_half_lines(line, type);
      if (type == FftType::c2r) line.hooks[0].input = Pruning{}, line.hooks[0].input->kept = n;
      line.in_place = false;  // kernels between write workspaces, and one kernel alone whole rows of both arrays
      planned = plan_passes(plan, line);
    }
    halve_ports(planned, half);
    real_ = {};
    append(std::move(planned), from, to);
  }
  // The ports that face a real transform's arrays; x is a window of those of half spectra.
  void halve_ports(PlannedProgram& planned, const EmitOptions& half) const {
    if (real_.type == FftType::r2c) load_pairs(planned.passes.front().spec.load, half.input->stride[0] / 2);
    if (real_.type != FftType::c2r) return;
    load_folded(planned.passes.front().spec.load, half.n[0]);
    store_pairs(planned.passes.back().spec.store, half.output->stride[0] / 2);
    if (planned.passes.size() == 1) load_once(planned.passes.front().spec, half.device);
  }
  Lines lines_of(const EmitOptions& line) const {
    Lines lines;
    for (int other = 0; other < most_dimensions; ++other)
      lines.n[at(other)] = line.n[at(other)], lines.load[at(other)] = line.input->stride[at(other)],
      lines.store[at(other)] = line.output->stride[at(other)];
    lines.n[batch_axis] = options_.batch;
    lines.load[batch_axis] = line.input->distance, lines.store[batch_axis] = line.output->distance;
    return lines;
  }

  // Uses one kernel or three; returns false if the convolution is too long for them.
  bool by_convolution(int d, const EmitOptions& line, std::int64_t kept, const Held& from, const Held& to) {
    Lines lines = lines_of(line);
    lines.kept = kept;
    if (line.type == FftType::r2c) lines.loaded = Values::real;
    if (line.type == FftType::c2r) lines.loaded = Values::hermitian, lines.stored = Values::real;
    if (real_.type == FftType::r2c) lines.loaded = Values::pairs, lines.pair = line.input->stride[0] / 2;
    if (real_.unfolds) lines.stored = Values::unfolded;
    if (real_.type == FftType::c2r)
      lines.loaded = Values::folded, lines.stored = Values::pairs, lines.pair = line.output->stride[0] / 2;
    const ConvolutionArrays arrays = convolution_arrays(lines, d, line.precision);
    std::optional<ConvolutionShape> shape = shape_in_one(line.n[at(d)], arrays, line.device);
    if (!shape) shape = shape_in_three(line.n[at(d)], arrays, line.device);
    if (!shape) return false;
    Convolution made = convolution(line, d, lines, *shape);
    made.passes.back().spec.store.scale = line.scale;
    if (made.passes.size() > 1) {
      const Held middle{BufferRef::Where::workspace, spectrum, {}};
      for (std::size_t i = 0; i < made.passes.size(); ++i) {
        PlannedPass& pass = made.passes[i];
        if (i > 0) pass.from = middle.where, pass.from_index = middle.index;
        if (i + 1 < made.passes.size()) pass.to = middle.where, pass.to_index = middle.index;
      }
    }
    PlannedProgram part;
    part.passes = std::move(made.passes), part.work_values = made.work_values;
    append(std::move(part), from, to);
    return true;
  }

  using Turns = std::vector<std::complex<long double>>;
  // The spectrum of the padded lines is stored in a separate workspace.
  void by_two_plans(int d, const EmitOptions& line, std::int64_t kept, const Held& from, const Held& to) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const std::int64_t n = line.n[at(d)];
    const std::int64_t m = 2 * n - 1 > most ? 2 * n - 1 : convolution_length(n);
    if (m > most)
      throw Error(Status::unsupported,
                  fmt::format("length {} needs Bluestein's algorithm on at least {} values: at most 2^24", n, m));
    EmitOptions forward = line, inverse = line;
    forward.type = inverse.type = FftType::c2c;
    forward.n[at(d)] = inverse.n[at(d)] = m;
    // The spectrum of the filter, which is symmetric, is the same either way; half lines take their turns by the sign
    // of the transform.
    forward.sign = options_.sign, inverse.sign = -options_.sign;
    forward.in_place = inverse.in_place = false;
    forward.scale = 1;
    const Held middle{BufferRef::Where::workspace, spectrum, dense(forward.n)};
    forward.output = inverse.input = middle.layout;
    auto& load = forward.hooks[at(d)];
    auto& store = inverse.hooks[at(d)];
    load.input = store.output = Pruning{};
    load.input->kept = n, store.output->kept = kept;
    load.input_turns = store.output_turns = line.tables ? chirps(n, options_.sign) : Turns(at(n));
    store.output_turns.resize(at(kept));
    load.output_turns = line.tables ? filter(n, m, options_.sign) : Turns(at(m));
    load.output_factors.clear(), store.input_factors.clear();
    if (!store.output_factors.empty()) store.output_factors.resize(at(kept));
    PlannedProgram there = plan_passes(line_plan(forward, d), forward),
                   back = plan_passes(line_plan(inverse, d), inverse);
    real_values(line, n, there.passes.front().spec.load, back.passes.back().spec.store);
    if (real_.type == FftType::r2c) load_pairs(there.passes.front().spec.load, line.input->stride[0] / 2);
    if (real_.type == FftType::c2r) {
      load_folded(there.passes.front().spec.load, n);
      store_pairs(back.passes.back().spec.store, line.output->stride[0] / 2);
    }
    append(std::move(there), from, middle);
    append(std::move(back), middle, to);
    all_.work_values = std::max(all_.work_values, dense(forward.n).distance * forward.batch);
  }
  // Reads or writes real arrays where needed, and a half spectrum in place of padded lines.
  static void real_values(const EmitOptions& line, std::int64_t n, Port& load, Port& store) {
    if (line.type == FftType::r2c) load.values = Values::real;
    if (line.type != FftType::c2r) return;
    store.values = Values::real;
    load.values = Values::hermitian;
    load.mirror = load.prunings.front();
    load.mirror.n = n;
    load.prunings.clear();
    load.bounds.push_back({load.mirror.index, n});
  }

  // Of which real transform the complex lines are that are being made; whether a kernel of theirs makes half spectra.
  struct Real {
    FftType type = FftType::c2c;
    bool unfolds = false;
  };

  const EmitOptions& options_;
  Lengths n_;  // lengths of the last array
  bool halves_;
  Real real_;
  PlannedProgram all_;
  int parts_ = 0, workspaces_ = 0;
};

}  // namespace

PlannedProgram passes_by_dimension(const EmitOptions& options) { return ByDimension(options).all(); }
PlannedProgram passes_along(const EmitOptions& options, int dimension) { return ByDimension(options).only(dimension); }

}  // namespace fourtune::generator::fft
