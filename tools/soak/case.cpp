#include "tools/soak/case.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tools/common/errors.h"

namespace fourtune::tools {
namespace {

constexpr Scatter kScatters[] = {Scatter::none, Scatter::far, Scatter::folded, Scatter::duplicated, Scatter::borders};

constexpr Only kOnly[] = {Only::spread, Only::interpolate, Only::spread_centred, Only::interpolate_centred};
const char* to_string(Only only) {
  static constexpr const char* names[] = {"whole", "spread", "interpolate", "spread_centred", "interpolate_centred"};
  return names[static_cast<int>(only)];
}

template <class Number>
Number number_of(std::string_view word, std::string_view value) {
  const auto number = text::number<Number>(value);
  if (!number) throw UsageError(fmt::format("'{}': a whole number is needed", word));
  return *number;
}

void apply_word(SoakCase& one, std::string_view word) {
  const auto equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  if (word == "adjoint") return void(one.adjoint = true);
  if (word == "order=fft") return void(one.order = ModeOrder::fft);
  if (key == "only")
    for (const Only only : kOnly)
      if (value == to_string(only)) return void(one.only = only);
  if (word == "distinct") return void(one.distinct = true);
  if (word == "shared") return void(one.shared = true);
  if (word == "streamed") return void(one.streamed = true);
  if (word == "deterministic") return void(one.deterministic = true);
  if (word == "trust") return void(one.trust = true);
  if (key == "threads") return void(one.threads = number_of<int>(word, value));
  if (key == "seed") return void(one.seed = number_of<std::uint64_t>(word, value));
  if (key == "at")
    for (const Scatter scatter : kScatters)
      if (value == to_string(scatter)) return void(one.scatter = scatter);
  throw UsageError(
      fmt::format("'{}' is no option of a problem", word),
      "adjoint, order=fft, only=spread|interpolate[_centred], distinct, shared, streamed, deterministic, trust, "
      "at=far|folded|duplicated|borders, threads=N, seed=N");
}

}  // namespace

const char* to_string(Scatter scatter) noexcept {
  static constexpr const char* names[] = {"none", "far", "folded", "duplicated", "borders"};
  return names[static_cast<int>(scatter)];
}

std::string to_text(const SoakCase& one) {
  std::string out = to_token(one.problem);
  if (one.adjoint) out += " adjoint";
  if (one.order == ModeOrder::fft) out += " order=fft";
  if (one.only != Only::whole) out += fmt::format(" only={}", to_string(one.only));
  if (one.distinct) out += " distinct";
  if (one.shared) out += " shared";
  if (one.streamed) out += " streamed";
  if (one.deterministic) out += " deterministic";
  if (one.trust) out += " trust";
  if (one.scatter != Scatter::none) out += fmt::format(" at={}", to_string(one.scatter));
  if (one.threads != 0) out += fmt::format(" threads={}", one.threads);
  if (one.seed != 1) out += fmt::format(" seed={}", one.seed);
  return out;
}

SoakCase parse_case(std::string_view line) {
  SoakCase one;
  bool first = true;
  for (const auto word : text::split(line, ' ')) {
    if (word.empty()) continue;
    if (first)
      one.problem = parse_problem(word);
    else
      apply_word(one, word);
    first = false;
  }
  if (first) throw UsageError("a problem token is needed");
  const Problem& problem = one.problem;
  if (problem.kind == Kind::nufft && (!problem.m || (problem.type == 3 && !problem.k)))
    throw UsageError("a problem to be tried needs its number of points", "add m=... (and k=... for type 3)");
  return one;
}

Problem planned_problem(const SoakCase& one) {
  Problem problem = one.problem;
  if (one.distinct) problem.batch = 1;
  return problem;
}

}  // namespace fourtune::tools
