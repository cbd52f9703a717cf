// The C interface: this is the only file where exceptions become statuses.
#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "fourtune/fourtune.h"
#include "fourtune/transform.h"

struct fourtune_transform {
  fourtune::Transform transform;
  mutable std::string explain, warnings;  // keep the texts returned alive
};

namespace {

thread_local std::string last_error;

fourtune_status fail(fourtune::Status status, const char* message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear();
  }
  return static_cast<fourtune_status>(status);
}

template <class Work>
fourtune_status guarded(Work&& work) noexcept {
  try {
    last_error.clear();
    work();
    return FOURTUNE_SUCCESS;
  } catch (const fourtune::Error& error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(fourtune::Status::out_of_memory, "not enough memory");
  } catch (const std::exception& error) {
    return fail(fourtune::Status::internal, error.what());
  } catch (...) {
    return fail(fourtune::Status::internal, "unknown exception");
  }
}

[[noreturn]] void refuse(fourtune::Status status, const std::string& message) {
  throw fourtune::Error(status, message);
}

// The offset at which each field of the structure ends, in the order of the fields.
// NOLINTBEGIN(bugprone-sizeof-expression): the sizes of pointers are meant
#define END_OF(field) (offsetof(fourtune_options, field) + sizeof(fourtune_options::field))
constexpr std::size_t kFieldEnds[] = {END_OF(size),
                                      END_OF(databases),
                                      END_OF(database_count),
                                      END_OF(backend),
                                      END_OF(device),
                                      END_OF(threads),
                                      END_OF(plan),
                                      END_OF(deterministic),
                                      END_OF(stream),
                                      END_OF(mode_order),
                                      END_OF(clamp_tolerance),
                                      END_OF(trust_points),
                                      END_OF(only),
                                      END_OF(distinct_points),
                                      END_OF(packs),
                                      END_OF(pack_count),
                                      END_OF(trusted_keys),
                                      END_OF(trusted_key_count),
                                      END_OF(default_databases)};
#undef END_OF
// NOLINTEND(bugprone-sizeof-expression)

// Fields that end beyond the caller's structure keep their defaults; bytes beyond this library's must be zero.
fourtune_options complete(const fourtune_options* given) {
  fourtune_options options;
  fourtune_options_init(&options);
  if (!given) return options;
  const std::size_t size = given->size;
  if (size < kFieldEnds[0] || size > 65536)
    refuse(fourtune::Status::invalid_option,
           "options.size is " + std::to_string(size) + ": start from fourtune_options_init");
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (size > sizeof options &&
      std::any_of(bytes + sizeof options, bytes + size, [](unsigned char b) { return b != 0; }))
    refuse(fourtune::Status::invalid_option,
           "options.size is " + std::to_string(size) + " and there are values beyond the " +
               std::to_string(sizeof options) +
               " bytes that this library knows: an option that it does not have is set");
  std::memcpy(&options, given, *(std::upper_bound(std::begin(kFieldEnds), std::end(kFieldEnds), size) - 1));
  options.size = sizeof options;
  return options;
}

fourtune::Options translate(const fourtune_options* given) {
  const fourtune_options in = complete(given);
  fourtune::Options out;
  if (in.databases) {
    out.default_databases = in.default_databases != 0;
    for (std::size_t i = 0; i < in.database_count; ++i) {
      if (!in.databases[i]) refuse(fourtune::Status::invalid_option, "options.databases has a null entry");
      out.databases.emplace_back(in.databases[i]);
    }
  }
  for (std::size_t i = 0; in.packs && i < in.pack_count; ++i) {
    const fourtune_pack& pack = in.packs[i];
    if (!pack.data) refuse(fourtune::Status::invalid_option, "options.packs has an entry without data");
    out.packs.push_back({pack.data, pack.size, pack.name ? pack.name : ""});
  }
  for (std::size_t i = 0; in.trusted_keys && i < in.trusted_key_count; ++i) {
    if (!in.trusted_keys[i]) refuse(fourtune::Status::invalid_option, "options.trusted_keys has a null entry");
    out.trusted_keys.emplace_back(in.trusted_keys[i]);
  }
  if (in.backend) out.backend = in.backend;
  if (in.plan) out.plan = in.plan;
  out.device = in.device;
  out.threads = in.threads;
  out.deterministic = in.deterministic != 0;
  out.stream = in.stream;
  if (in.mode_order != FOURTUNE_MODES_CENTRED && in.mode_order != FOURTUNE_MODES_FFT)
    refuse(fourtune::Status::invalid_option,
           "options.mode_order is neither FOURTUNE_MODES_CENTRED nor FOURTUNE_MODES_FFT");
  out.mode_order = in.mode_order == FOURTUNE_MODES_FFT ? fourtune::ModeOrder::fft : fourtune::ModeOrder::centred;
  out.clamp_tolerance = in.clamp_tolerance != 0;
  out.trust_points = in.trust_points != 0;
  if (in.only < FOURTUNE_WHOLE || in.only > FOURTUNE_INTERPOLATE_ONLY)
    refuse(fourtune::Status::invalid_option,
           "options.only is none of FOURTUNE_WHOLE, FOURTUNE_SPREAD_ONLY, FOURTUNE_INTERPOLATE_ONLY");
  out.only = static_cast<fourtune::Only>(in.only);
  out.distinct_points = in.distinct_points != 0;
  return out;
}

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
    *transform = new fourtune_transform{fourtune::Transform(problem, translate(options)), {}, {}};
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
    fourtune::prepare(tokens, translate(options), report);
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

const char* fourtune_last_error(void) { return last_error.c_str(); }

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
