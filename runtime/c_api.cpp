// The C interface.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fourtune/fourtune.h"
#include "fourtune/transform.h"
#include "runtime/c_boundary.h"

struct fourtune_transform {
  fourtune::Transform transform;
  mutable std::string explain, warnings;  // keep the texts returned alive
};

namespace {

using fourtune::runtime::guarded;
using fourtune::runtime::options_of;
using fourtune::runtime::refuse;

fourtune::Transform& checked(fourtune_transform* transform) {
  if (!transform) refuse(fourtune::Status::invalid_argument, "the transform is null");
  return transform->transform;
}

}  // namespace

extern "C" {

fourtune_status fourtune_options_init(fourtune_options* options) {
  return guarded([&] {
    if (!options) refuse(fourtune::Status::invalid_argument, "options is null");
    *options = fourtune_options{};
    options->size = sizeof *options;
  });
}

fourtune_status fourtune_create(const char* problem, const fourtune_options* options, fourtune_transform** transform) {
  if (transform) *transform = nullptr;
  return guarded([&] {
    if (!problem) refuse(fourtune::Status::invalid_argument, "the problem is null");
    if (!transform) refuse(fourtune::Status::invalid_argument, "the pointer to receive the transform is null");
    *transform = new fourtune_transform{fourtune::Transform(problem, options_of(options)), {}, {}};
  });
}

fourtune_status fourtune_prepare(const char* const* problems, size_t count, const fourtune_options* options,
                                 fourtune_prepare_progress progress, void* user) {
  return guarded([&] {
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < count; ++i) {
      if (!problems || !problems[i]) refuse(fourtune::Status::invalid_argument, "problems has a null entry");
      tokens.emplace_back(problems[i]);
    }
    fourtune::PrepareProgress report;
    if (progress)
      report = [&](std::size_t done, std::size_t all, const std::string& problem) {
        return progress(done, all, problem.c_str(), user) == 0;
      };
    fourtune::prepare(tokens, options_of(options), report);
  });
}

fourtune_status fourtune_set_points(fourtune_transform* transform, int64_t m, const void* x, const void* y,
                                    const void* z, int64_t k, const void* s, const void* t, const void* u) {
  return guarded([&] { checked(transform).set_points({m, x, y, z, k, s, t, u}); });
}

fourtune_status fourtune_set_bounds(fourtune_transform* transform, const double* low, const double* high) {
  return guarded([&] {
    if (!low || !high) refuse(fourtune::Status::invalid_argument, "low or high is null");
    fourtune::Bounds bounds;
    std::copy_n(low, bounds.low.size(), bounds.low.begin());
    std::copy_n(high, bounds.high.size(), bounds.high.begin());
    checked(transform).set_bounds(bounds);
  });
}

fourtune_status fourtune_execute(fourtune_transform* transform, void* point_values, void* mode_values) {
  return guarded([&] { checked(transform).execute(point_values, mode_values); });
}

fourtune_status fourtune_execute_adjoint(fourtune_transform* transform, void* point_values, void* mode_values) {
  return guarded([&] { checked(transform).execute_adjoint(point_values, mode_values); });
}

fourtune_status fourtune_spectrum_index(const fourtune_transform* transform, const int64_t* frequency, int64_t* index) {
  return guarded([&] {
    if (!transform) refuse(fourtune::Status::invalid_argument, "the transform is null");
    if (!frequency || !index) refuse(fourtune::Status::invalid_argument, "frequency or index is null");
    const fourtune::Problem& problem = transform->transform.problem();
    std::array<std::int64_t, fourtune::most_dimensions> of{};
    std::copy_n(frequency, problem.dim, of.begin());
    *index = fourtune::spectrum_index(problem, of);
  });
}

fourtune_status fourtune_set_stream(fourtune_transform* transform, void* stream) {
  return guarded([&] { checked(transform).set_stream(stream); });
}

fourtune_status fourtune_memory(const fourtune_transform* transform, int64_t* held, int64_t* needed) {
  return guarded([&] {
    if (!transform) refuse(fourtune::Status::invalid_argument, "the transform is null");
    const auto use = transform->transform.memory();
    if (held) *held = use.held;
    if (needed) *needed = use.needed;
  });
}

void fourtune_destroy(fourtune_transform* transform) { delete transform; }

const char* fourtune_last_error(void) { return fourtune::runtime::last_error(); }

const char* fourtune_explain(const fourtune_transform* transform) {
  if (!transform) return "";
  const fourtune_status status = guarded([&] { transform->explain = transform->transform.explain(); });
  return status == FOURTUNE_SUCCESS ? transform->explain.c_str() : "";
}

const char* fourtune_warnings(const fourtune_transform* transform) {
  if (!transform) return "";
  const fourtune_status status = guarded([&] { transform->warnings = transform->transform.warnings(); });
  return status == FOURTUNE_SUCCESS ? transform->warnings.c_str() : "";
}

const char* fourtune_status_name(fourtune_status status) {
  return fourtune::status_name(static_cast<fourtune::Status>(status));
}
const char* fourtune_status_text(fourtune_status status) {
  return fourtune::status_text(static_cast<fourtune::Status>(status));
}
const char* fourtune_version(void) { return FOURTUNE_VERSION; }

}  // extern "C"
