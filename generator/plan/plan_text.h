// Helpers for plan texts of all backends: stage=family(key=value,...). plan_text.cpp implements them; gpu_plan_text.cpp
// has the stages of GPU backends.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "generator/plan/plan.h"

namespace fourtune::generator::plan_text {

[[noreturn]] inline void bad(const std::string& message) { throw Error(Status::invalid_plan, message); }

template <class Enum>
struct Spelling {
  Enum value;
  const char* name;
};
template <class Enum, std::size_t N>
const char* name_of(const Spelling<Enum> (&table)[N], Enum value) {
  for (const auto& entry : table)
    if (entry.value == value) return entry.name;
  return "?";
}
template <class Enum, std::size_t N>
Enum value_of(const Spelling<Enum> (&table)[N], std::string_view stage, std::string_view name) {
  std::string names;
  for (const auto& entry : table) {
    if (name == entry.name) return entry.value;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  bad(fmt::format("{}={}: allowed are {}", text::shown(stage), text::shown(name), names));
}

template <class N>
std::string sizes_text(const std::array<N, 3>& sizes, int dim) {
  std::string out = fmt::format("{}", sizes[0]);
  for (int d = 1; d < dim; ++d) out += fmt::format("x{}", sizes[d]);
  return out;
}

// ---- one stage of a plan text: stage=family(key=value,...) --------------------------------------------------------
class StageText {
 public:
  explicit StageText(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos)
      bad(fmt::format("'{}': a stage is written stage=family(key=value,...)", text::shown(text)));
    stage_ = text.substr(0, equals);
    auto rest = text.substr(equals + 1);
    auto open = rest.find('(');
    if (rest.find('{') < open) open = std::string_view::npos;  // FFT notation contains brackets itself
    family_ = rest.substr(0, open);
    if (open == std::string_view::npos) return;
    if (rest.back() != ')') bad(fmt::format("{}: the closing ) is missing", text::shown(stage_)));
    rest = rest.substr(open + 1, rest.size() - open - 2);
    for (const auto pair : text::split(rest, ',')) {
      const auto at = pair.find('=');
      if (at == std::string_view::npos)
        bad(fmt::format("{}: parameter '{}' has no value", text::shown(stage_), text::shown(pair)));
      if (!parameters_.emplace(pair.substr(0, at), pair.substr(at + 1)).second)
        bad(fmt::format("{}: parameter '{}' is given twice", text::shown(stage_), text::shown(pair.substr(0, at))));
    }
  }
  const std::string& stage() const { return stage_; }
  const std::string& family() const { return family_; }

  std::optional<std::string> take(const std::string& key) {
    const auto found = parameters_.find(key);
    if (found == parameters_.end()) return std::nullopt;
    std::string value = found->second;
    parameters_.erase(found);
    return value;
  }
  template <class N>
  N number(const std::string& key, N least, N most, std::optional<N> fallback = std::nullopt) {
    const auto value = take(key);
    if (!value && fallback) return *fallback;
    if (!value) bad(fmt::format("{}={}: parameter '{}' is missing", text::shown(stage_), text::shown(family_), key));
    const auto parsed = text::number<N>(*value);
    if (!parsed || !(*parsed >= least && *parsed <= most))
      bad(fmt::format("{}={}({}={}): a number from {} to {} is needed", text::shown(stage_), text::shown(family_), key,
                      text::shown(*value), least, most));
    return *parsed;
  }
  template <class N>
  std::array<N, 3> sizes(const std::string& key, int dim, N least, N most) {
    const auto value = take(key);
    if (!value) bad(fmt::format("{}={}: parameter '{}' is missing", text::shown(stage_), text::shown(family_), key));
    const auto parts = text::split(*value, 'x');
    if (static_cast<int>(parts.size()) != dim)
      bad(fmt::format("{}={}({}={}): {} numbers joined by x are needed", text::shown(stage_), text::shown(family_), key,
                      text::shown(*value), dim));
    std::array<N, 3> out{1, 1, 1};
    for (int d = 0; d < dim; ++d) {
      const auto parsed = text::number<N>(parts[d]);
      if (!parsed || *parsed < least || *parsed > most)
        bad(fmt::format("{}={}({}={}): numbers from {} to {} are needed", text::shown(stage_), text::shown(family_),
                        key, text::shown(*value), least, most));
      out[d] = *parsed;
    }
    return out;
  }
  void finish() const {
    if (!parameters_.empty())
      bad(fmt::format("{}={}: parameter '{}' is unknown", text::shown(stage_), text::shown(family_),
                      text::shown(parameters_.begin()->first)));
  }

 private:
  std::string stage_, family_;
  std::map<std::string, std::string> parameters_;
};

// All backends write window= and inner= alike; in type 3 these have no fine grid.
std::string print_window(const char* stage, const WindowChoice& window, const Problem& problem);
WindowChoice parse_window(StageText& text, const Problem& problem);
// type3=compose | gaussian(r=...)
std::string print_type3(const Plan& plan);
void parse_type3(StageText& text, Plan& plan);
// Reads a stage that is a bare number.
int plain_number(const StageText& text, int least, int most);
// Returns the backend of the text, after passing its stages to `take` one by one; anything that `take` leaves unread in
// a StageText is an error. Each stage must be in `known` and may appear once; the stages found are added to `seen`.
std::string for_each_stage(std::string_view plan_text, const std::vector<std::string>& known,
                           std::set<std::string>& seen, const std::function<void(StageText&)>& take);
// Checks that the windows and type3 are as the type-3 rule demands, and that every other stage of `known` except chunk
// was seen.
void check_stages(const Plan& plan, const Problem& problem, const std::vector<std::string>& known,
                  const std::set<std::string>& seen);

// plan/gpu_plan_text.cpp: the stages of GPU backends.
std::string gpu_to_text(const Plan& plan, const Problem& problem);
Plan parse_gpu_plan(std::string_view text, const Problem& problem);

}  // namespace fourtune::generator::plan_text
