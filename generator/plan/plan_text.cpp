// Stages that are written alike in the plans of all backends.
#include "generator/plan/plan_text.h"

#include <algorithm>

namespace fourtune::generator::plan_text {
namespace {

WindowKind window_named(const StageText& text) {
  Spelling<WindowKind> windows[kWindowCount];
  for (int k = 0; k < kWindowCount; ++k) {
    const auto kind = static_cast<WindowKind>(k);
    windows[k] = {kind, to_string(kind)};
  }
  return value_of(windows, text.stage(), text.family());
}

bool points_decide_grid(const Problem& problem) { return problem.type == 3; }

}  // namespace

std::string print_window(const char* stage, const WindowChoice& window, const Problem& problem) {
  std::string out =
      fmt::format("{}={}(sigma={},width={}", stage, to_string(window.kind), text::shortest(window.sigma), window.width);
  if (!points_decide_grid(problem)) out += ",fine=" + sizes_text(window.fine, problem.dim);
  if (window.table) out += fmt::format(",table={}", window.table);
  if (window.beta > 0) out += ",beta=" + text::shortest(window.beta);
  return out + ")";
}
WindowChoice parse_window(StageText& text, const Problem& problem) {
  WindowChoice window;
  window.kind = window_named(text);
  window.sigma = text.number<double>("sigma", 1.0, 4.0);
  if (!(window.sigma > 1)) bad(fmt::format("{}: sigma={} is not above 1", text.stage(), window.sigma));
  window.width = text.number<int>("width", kMinWidth, kMaxWidth);
  window.table = text.number<int>("table", 0, 1 << 20, 0);
  window.beta = text.number<double>("beta", 0.0, kMaxBeta, 0.0);
  if (points_decide_grid(problem)) {
    window.fine = {0, 0, 0};
  } else {
    window.fine = text.sizes<std::int64_t>("fine", problem.dim, 1, std::int64_t{1} << 40);
    for (int d = 0; d < problem.dim; ++d)
      if (window.fine[d] < problem.n[d])
        bad(fmt::format("{}: fine={} is smaller than the {} modes of dimension {}", text.stage(), window.fine[d],
                        problem.n[d], "xyz"[d]));
  }
  return window;
}

std::string print_type3(const Plan& plan) {
  return plan.type3 == Type3Rule::compose ? "type3=compose"
                                          : "type3=gaussian(r=" + text::shortest(plan.gaussian_r) + ")";
}
void parse_type3(StageText& text, Plan& plan) {
  if (text.family() != "compose" && text.family() != "gaussian")
    bad(fmt::format("type3={}: allowed are compose, gaussian", text::shown(text.family())));
  plan.type3 = text.family() == "compose" ? Type3Rule::compose : Type3Rule::gaussian;
  if (plan.type3 == Type3Rule::compose) return;
  plan.gaussian_r = text.number<double>("r", 2.0, 8.0);
  if (!(plan.gaussian_r > 2)) bad("type3=gaussian: r must be strictly above 2");
}

int plain_number(const StageText& text, int least, int most) {
  const auto value = text::number<int>(text.family());
  if (!value || *value < least || *value > most)
    bad(fmt::format("{}={}: a whole number from {} to {} is needed", text.stage(), text::shown(text.family()), least,
                    most));
  return *value;
}

std::string for_each_stage(std::string_view plan_text, const std::vector<std::string>& known,
                           std::set<std::string>& seen, const std::function<void(StageText&)>& take) {
  const auto parts = text::split(plan_text, ';');
  std::string backend(parts.front());
  if (backend.empty() || backend.find('=') != std::string::npos)
    bad(fmt::format("'{}': a plan starts with its backend, for example cpu;threads=2;...", text::shown(backend)));
  for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
    StageText text(*part);
    const std::string& stage = text.stage();
    if (std::find(known.begin(), known.end(), stage) == known.end())
      bad(fmt::format("stage '{}' is not one of this problem; its stages are {}", text::shown(stage),
                      fmt::join(known, ", ")));
    if (!seen.insert(stage).second) bad(fmt::format("stage '{}' is given twice", stage));
    take(text);
    text.finish();
  }
  return backend;
}

void check_stages(const Plan& plan, const Problem& problem, const std::vector<std::string>& known,
                  const std::set<std::string>& seen) {
  const bool gaussian = problem.kind == Kind::nufft && problem.type == 3 && plan.type3 == Type3Rule::gaussian;
  std::string whole = plan.backend, missing;
  for (const std::string& stage : known) {
    const bool fixed = gaussian && (stage == "window" || stage == "inner");
    if (fixed && seen.contains(stage))
      bad(fmt::format("type3=gaussian fixes its windows; leave stage '{}' out", stage));
    if (fixed || stage == "chunk" || stage == "type3") continue;
    whole += ";" + stage + "=...";
    if (missing.empty() && !seen.contains(stage)) missing = stage;
  }
  if (missing.empty()) return;
  bad(fmt::format("stage '{}' is missing; a whole plan is {}", missing, whole));
}

}  // namespace fourtune::generator::plan_text
