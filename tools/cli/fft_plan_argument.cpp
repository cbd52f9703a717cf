#include "tools/cli/fft_plan_argument.h"

#include <fmt/format.h>

#include "fourtune/status.h"
#include "generator/plan/fft/geometry.h"
#include "tools/common/errors.h"

namespace fourtune::tools {

namespace fft = generator::fft;

namespace {

// Extracts the stage fft of a plan text; returns other texts unchanged.
std::string notation_of(const std::string& text) {
  const std::string stage = "fft=", family = "interleaved";
  const std::size_t backend = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  if (backend == 0 || backend == std::string::npos || text[backend] != ';') return text;
  std::size_t begin = text.find(";" + stage, backend);
  if (begin == std::string::npos) return text;
  begin += 1 + stage.size();
  const std::string choice = text.substr(begin, text.find(';', begin) - begin);
  if (choice.rfind(family + "{", 0) == 0) return choice.substr(family.size());
  throw UsageError(fmt::format("{}: fft={} says no kernels, they follow from the problem", text, choice),
                   "`fourtune emit fft:type=c2c,n=1009,prec=f32 --stage kernels` shows those of a problem");
}

}  // namespace

fft::FftPlan fft_plan_argument(const std::string& text, const fft::Lengths& lengths) {
  constexpr const char* kHint = "docs/design/fft-plans.md has the notation and its rules";
  fft::FftPlan plan;
  try {
    plan = fft::parse_notation(notation_of(text));
  } catch (const Error& error) {
    throw UsageError(error.what(), kHint);
  }
  if (const auto broken = fft::check(plan, lengths); !broken.empty()) {
    const std::string more = broken.size() > 1 ? fmt::format(" (and {} more)", broken.size() - 1) : "";
    throw UsageError(broken[0].message + more, kHint);
  }
  return plan;
}

}  // namespace fourtune::tools
