#include "runtime/checked_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/layout.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "runtime/memory_extent.h"

namespace fourtune::runtime {
namespace {

// One of the two arrays of execute.
struct Side {
  const char* name = "";
  ArrayLayout layout;
  Sizes sizes;
  std::int64_t batch = 1;
  std::int64_t parts = 2;  // real numbers per element

  std::int64_t bytes(Precision precision) const {
    if (batch == 0 || element_count(sizes) == 0) return 0;
    return layout_span(layout, sizes, batch, name) * parts * real_bytes(precision);
  }
};

Side line(const char* name, std::int64_t elements, std::int64_t batch) {
  Side side{name, {}, {elements, 1, 1, 1}, batch, 2};
  side.layout.stride.fill(1);
  side.layout.distance = elements;
  return side;
}

std::pair<Side, Side> sides_of(const Problem& problem) {
  if (problem.kind == Kind::nufft)
    return {
        line("execute: point_values", problem.m.value_or(0), problem.batch),
        line("execute: mode_values", problem.type == 3 ? problem.k.value_or(0) : mode_count(problem), problem.batch)};
  return {{"execute: the first array", resolved_input_layout(problem), input_sizes(problem), problem.batch,
           problem.fft_type == FftType::r2c ? 1 : 2},
          {"execute: the second array", resolved_output_layout(problem), output_sizes(problem), problem.batch,
           problem.fft_type == FftType::c2r ? 1 : 2}};
}

[[noreturn]] void bad(const std::string& message) {
  throw Error(Status::invalid_argument, message + " (found by FOURTUNE_CHECK)");
}

template <class T>
void require_numbers(const Side& side, const void* array) {
  const T* const values = static_cast<const T*>(array);
  for (std::int64_t b = 0; b < side.batch; ++b)
    for (std::int64_t e = 0; e < element_count(side.sizes); ++e) {
      const std::int64_t at = b * side.layout.distance + place_of(side.layout, side.sizes, e);
      for (std::int64_t part = 0; part < side.parts; ++part)
        if (const T value = values[at * side.parts + part]; !std::isfinite(value))
          bad(fmt::format("{}: element {} of transform {} is {}", side.name, e, b, value));
    }
}

void require_memory(const char* name, const void* array, std::int64_t bytes, bool writable, Precision precision) {
  if (const std::string why = why_too_short(array, bytes, writable); !why.empty())
    bad(fmt::format("{} {}; the problem says prec={}", name, why, to_string(precision)));
}

class CheckedArrays final : public TransformCore {
 public:
  CheckedArrays(std::unique_ptr<TransformCore> core, bool on_host, bool distinct)
      : core_(std::move(core)), on_host_(on_host), distinct_(distinct) {}

  void set_points(const Points& points) override {
    if (on_host_) {
      const void* const arrays[] = {points.x, points.y, points.z, points.s, points.t, points.u};
      static constexpr const char* names[] = {"set_points: x", "set_points: y", "set_points: z",
                                              "set_points: s", "set_points: t", "set_points: u"};
      const std::int64_t sets = distinct_ ? problem().batch : 1;
      for (int i = 0; i < 6; ++i) {
        const std::int64_t bytes = sets * (i < 3 ? points.m : points.k) * real_bytes(problem().precision);
        if (arrays[i]) require_memory(names[i], arrays[i], bytes, false, problem().precision);
      }
    }
    core_->set_points(points);
  }
  void execute(void* first, void* second, bool adjoint) override {
    if (first && second) check(first, second, adjoint);
    core_->execute(first, second, adjoint);
  }

  void set_bounds(const Bounds& bounds) override { core_->set_bounds(bounds); }
  void set_stream(void* stream) override { core_->set_stream(stream); }
  const Problem& problem() const override { return core_->problem(); }
  MemoryUse memory() const override { return core_->memory(); }
  const std::string& plan() const override { return core_->plan(); }
  const std::string& explain() const override { return core_->explain(); }
  const std::string& warnings() const override { return core_->warnings(); }
  std::vector<StageTime> stage_times() const override { return core_->stage_times(); }

 private:
  void check(const void* first, const void* second, bool adjoint) const {
    const Problem& its = problem();
    const auto [one, two] = sides_of(its);
    const bool reads_first = (its.kind == Kind::fft || its.type != 2) != adjoint;
    const std::int64_t bytes[2] = {one.bytes(its.precision), two.bytes(its.precision)};
    if (on_host_) {
      require_memory(one.name, first, bytes[0], !reads_first || first == second, its.precision);
      require_memory(two.name, second, bytes[1], reads_first || first == second, its.precision);
    }
    const auto a = reinterpret_cast<std::uintptr_t>(first), b = reinterpret_cast<std::uintptr_t>(second);
    if (first != second && bytes[0] > 0 && bytes[1] > 0 && a < b + static_cast<std::uintptr_t>(bytes[1]) &&
        b < a + static_cast<std::uintptr_t>(bytes[0]))
      bad(fmt::format("execute: the arrays overlap: the second of {} bytes begins {} bytes {} the first of {}",
                      bytes[1], a < b ? b - a : a - b, a < b ? "behind the beginning of" : "before", bytes[0]));
    if (!on_host_) return;
    const Side& read = reads_first ? one : two;
    const void* const array = reads_first ? first : second;
    its.precision == Precision::f32 ? require_numbers<float>(read, array) : require_numbers<double>(read, array);
  }

  std::unique_ptr<TransformCore> core_;
  bool on_host_, distinct_;
};

}  // namespace

bool checks_arrays() {
  const char* const text = std::getenv("FOURTUNE_CHECK");
  return text && *text && std::strcmp(text, "0") != 0;
}

std::unique_ptr<TransformCore> with_checked_arrays(std::unique_ptr<TransformCore> core, const Options& options) {
  const bool on_host =
      options.devices.empty() && find_backend(options.backend).capabilities().arrays != MemoryKind::device;
  return std::make_unique<CheckedArrays>(std::move(core), on_host, options.distinct_points);
}

}  // namespace fourtune::runtime
