#include "db/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "db/store_error.h"

namespace fourtune::db {
namespace {

constexpr std::array<const char*, 8> kRunStatusNames{"ok",           "rejected", "compile_error", "too_many_resources",
                                                     "wrong_result", "timeout",  "crash",         "interrupted"};

}  // namespace

std::string traits_text(const DeviceTraits& traits) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  if (traits.compute_capability > 0)
    return fmt::format(R"({{"multiprocessors":{},"shared_per_block":{},"registers":{},"l2_bytes":{},"memory_gib":{}}})",
                       traits.multiprocessors, traits.shared_per_block, traits.registers_per_multiprocessor,
                       traits.l2_bytes, (traits.memory_bytes + kGib / 2) / kGib);
  return fmt::format(R"({{"cores":{},"l1_bytes":{},"l2_bytes":{},"l3_bytes":{},"memory_gib":{}}})", traits.cores,
                     traits.l1_bytes, traits.l2_bytes, traits.l3_bytes, (traits.memory_bytes + kGib / 2) / kGib);
}

Environment environment_of(const DeviceTraits& traits) {
  Environment environment;
  environment.backend = traits.backend;
  environment.device = traits.name;
  environment.isa = traits.isa;
  environment.traits = traits_text(traits);
#if defined(__clang__)
  environment.compiler = fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  environment.compiler = fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  return environment;
}

Freshness freshness(const Environment& measured, const Environment& here) noexcept {
  if (measured.backend != here.backend || measured.isa != here.isa) return Freshness::foreign;
  // A device is what its numbers say, whatever its marketing name.
  if (measured.device != here.device && measured.traits != here.traits) return Freshness::kindred;
  const auto differs = [&](std::string Environment::*piece) {
    return !(here.*piece).empty() && measured.*piece != here.*piece;
  };
  if (measured.device != here.device || measured.traits != here.traits || differs(&Environment::libraries) ||
      measured.generator != here.generator)
    return Freshness::candidate;
  return measured.driver != here.driver || differs(&Environment::compiler) ? Freshness::serves : Freshness::current;
}

double traits_distance(std::string_view a, std::string_view b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a == b) return 0;
  const auto left = parse_json(a), right = parse_json(b);
  if (!left.is_object() || !right.is_object() || left.size() != right.size()) return kInfinity;
  double distance = 0;
  for (const auto& [key, value] : left.items()) {
    if (key == "memory_gib") continue;
    const auto other = right.find(key);
    if (other == right.end() || !value.is_number() || !other->is_number()) return kInfinity;
    const auto size = [](const nlohmann::json& number) { return std::log2(std::max(number.get<double>(), 1.0)); };
    if (value != 0 && *other != 0) distance += std::abs(size(value) - size(*other));
  }
  return std::isfinite(distance) ? distance : kInfinity;
}

int cores_in(std::string_view traits) {
  const auto numbers = parse_json(traits);
  const auto cores = numbers.is_object() ? numbers.find("cores") : numbers.end();
  return cores != numbers.end() && cores->is_number_unsigned() ? static_cast<int>(std::min(cores->get<double>(), 1e6))
                                                               : 0;
}

const char* to_string(Freshness freshness) noexcept {
  switch (freshness) {
    case Freshness::current:
      return "current";
    case Freshness::serves:
      return "serves";
    case Freshness::candidate:
      return "candidate";
    case Freshness::kindred:
      return "kindred";
    case Freshness::foreign:
      return "foreign";
  }
  return "unknown";
}

const char* to_string(RunStatus status) noexcept {
  const auto index = static_cast<std::size_t>(status);
  return index < kRunStatusNames.size() ? kRunStatusNames[index] : "unknown";
}

RunStatus run_status_from(std::string_view name) {
  const auto* found = std::find(kRunStatusNames.begin(), kRunStatusNames.end(), name);
  if (found == kRunStatusNames.end()) {
    throw StoreError(StoreFault::damaged,
                     fmt::format("unknown run status '{}'; known are {}", name, fmt::join(kRunStatusNames, ", ")));
  }
  return static_cast<RunStatus>(found - kRunStatusNames.begin());
}

const char* to_string(Objective objective) noexcept { return objective == Objective::energy ? "energy" : "time"; }

Objective objective_from(std::string_view name) {
  for (const Objective objective : {Objective::time, Objective::energy})
    if (name == to_string(objective)) return objective;
  throw StoreError(StoreFault::damaged, fmt::format("unknown objective '{}'; known are time, energy", name));
}

const char* to_string(SessionEnd end) noexcept {
  switch (end) {
    case SessionEnd::complete:
      return "complete";
    case SessionEnd::interrupted:
      return "interrupted";
    case SessionEnd::failed:
      return "failed";
  }
  return "unknown";
}

double median(std::vector<std::int64_t> samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return static_cast<double>(*middle);
  return (static_cast<double>(*middle) + static_cast<double>(*std::max_element(samples.begin(), middle))) / 2;
}

}  // namespace fourtune::db
