#include "runtime/c_boundary.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace fourtune::runtime {
namespace {

thread_local std::string message_of_last_error;

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
                                      END_OF(default_databases),
                                      END_OF(misses),
                                      END_OF(devices),
                                      END_OF(exact_points)};
#undef END_OF
// NOLINTEND(bugprone-sizeof-expression)

// Fields that end beyond the caller's structure keep their defaults; bytes beyond this library's must be zero.
fourtune_options complete(const fourtune_options* given) {
  fourtune_options options;
  fourtune_options_init(&options);
  if (!given) return options;
  const std::size_t size = given->size;
  if (size < kFieldEnds[0] || size > 65536)
    refuse(Status::invalid_option, "options.size is " + std::to_string(size) + ": start from fourtune_options_init");
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (size > sizeof options &&
      std::any_of(bytes + sizeof options, bytes + size, [](unsigned char b) { return b != 0; }))
    refuse(Status::invalid_option, "options.size is " + std::to_string(size) + " and there are values beyond the " +
                                       std::to_string(sizeof options) +
                                       " bytes that this library knows: an option that it does not have is set");
  std::memcpy(&options, given, *(std::upper_bound(std::begin(kFieldEnds), std::end(kFieldEnds), size) - 1));
  options.size = sizeof options;
  return options;
}

}  // namespace

Options options_of(const fourtune_options* given) {
  const fourtune_options in = complete(given);
  Options out;
  if (in.databases) {
    out.default_databases = in.default_databases != 0;
    for (std::size_t i = 0; i < in.database_count; ++i) {
      if (!in.databases[i]) refuse(Status::invalid_option, "options.databases has a null entry");
      out.databases.emplace_back(in.databases[i]);
    }
  }
  for (std::size_t i = 0; in.packs && i < in.pack_count; ++i) {
    const fourtune_pack& pack = in.packs[i];
    if (!pack.data) refuse(Status::invalid_option, "options.packs has an entry without data");
    out.packs.push_back({pack.data, pack.size, pack.name ? pack.name : ""});
  }
  for (std::size_t i = 0; in.trusted_keys && i < in.trusted_key_count; ++i) {
    if (!in.trusted_keys[i]) refuse(Status::invalid_option, "options.trusted_keys has a null entry");
    out.trusted_keys.emplace_back(in.trusted_keys[i]);
  }
  if (in.backend) out.backend = in.backend;
  if (in.plan) out.plan = in.plan;
  if (in.misses) out.misses = in.misses;
  if (in.devices) out.devices = in.devices;
  out.device = in.device;
  out.threads = in.threads;
  out.deterministic = in.deterministic != 0;
  out.stream = in.stream;
  if (in.mode_order != FOURTUNE_MODES_CENTRED && in.mode_order != FOURTUNE_MODES_FFT)
    refuse(Status::invalid_option, "options.mode_order is neither FOURTUNE_MODES_CENTRED nor FOURTUNE_MODES_FFT");
  out.mode_order = in.mode_order == FOURTUNE_MODES_FFT ? ModeOrder::fft : ModeOrder::centred;
  out.clamp_tolerance = in.clamp_tolerance != 0;
  out.trust_points = in.trust_points != 0;
  out.exact_points = in.exact_points != 0;
  if (in.only < FOURTUNE_WHOLE || in.only > FOURTUNE_INTERPOLATE_ONLY_CENTRED)
    refuse(
        Status::invalid_option,
        "options.only is none of FOURTUNE_WHOLE, FOURTUNE_SPREAD_ONLY, FOURTUNE_INTERPOLATE_ONLY and the two that are "
        "..._CENTRED");
  out.only = static_cast<Only>(in.only);
  out.distinct_points = in.distinct_points != 0;
  return out;
}

fourtune_status fail(Status status, const char* message) noexcept {
  try {
    message_of_last_error = message;
  } catch (...) {
    message_of_last_error.clear();
  }
  return static_cast<fourtune_status>(status);
}

void forget_error() noexcept { message_of_last_error.clear(); }
const char* last_error() noexcept { return message_of_last_error.c_str(); }
void refuse(Status status, const std::string& message) { throw Error(status, message); }

}  // namespace fourtune::runtime
