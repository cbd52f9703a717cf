#include "tools/common/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tools/common/say.h"
#include "tools/common/text.h"
#include "tuner/report/report.h"
#include "tuner/report/screen.h"

namespace fourtune::tools {
namespace {

constexpr double kPlainSeconds = 10;  // minimum time between plain lines within a step

std::string bar(double fraction) {
  constexpr int width = 12;
  const int full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * width);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '.') + "]";
}

}  // namespace

std::string progress_numbers(const tuner::Progress& progress) {
  std::string text = fmt::format("[{}/{}] ", std::min(progress.problem + 1, progress.problems), progress.problems);
  text += fmt::format("{} {}", tuner::to_string(progress.step), progress.evaluations + progress.reused);
  if (progress.candidates > 0) text += fmt::format("/{}", progress.candidates);
  if (progress.best_seconds > 0) text += "  best " + tuner::format_seconds(progress.best_seconds);
  if (progress.best_seconds > 0 && progress.untuned_seconds > 0)
    text += fmt::format(" ({:.2f}x untuned)", progress.untuned_seconds / progress.best_seconds);
  if (progress.failures > 0) text += fmt::format("  {} failed", progress.failures);
  return text + fmt::format("  {} left", clock_text(progress.eta));
}

std::string progress_text(const tuner::Progress& progress) {
  return progress_numbers(progress) + "  " + text::shown(progress.token);
}

ProgressLine::ProgressLine(std::FILE* out) : out_(out), terminal_(is_terminal(fileno(out))) {}

void ProgressLine::update(const tuner::Progress& progress, const std::string& prefix) {
  const std::string text = prefix + progress_text(progress);
  const bool moved = progress.problem != last_problem_ || progress.step != last_step_;
  if (moved && !terminal_) append(progress.elapsed, text);
  last_problem_ = progress.problem;
  last_step_ = progress.step;
  if (!moved || terminal_) show(progress.elapsed, progress.eta, text);
}

void ProgressLine::show(double elapsed, double eta, const std::string& text) {
  if (terminal_)
    redraw(elapsed, eta, text);
  else if (elapsed - last_elapsed_ >= kPlainSeconds)
    append(elapsed, text);
}

void ProgressLine::redraw(double elapsed, double eta, const std::string& text) {
  const double total = elapsed + eta;
  std::string line = bar(total > 0 ? elapsed / total : 0) + " " + text;
  line.resize(std::min(line.size(), tuner::screen_of(out_).width - 1));
  say_to(out_, "\r\x1b[K{}", line);
  std::fflush(out_);
  drawn_ = true;
}

void ProgressLine::append(double elapsed, const std::string& text) {
  say_to(out_, "{}\n", text);
  std::fflush(out_);
  last_elapsed_ = elapsed;
}

void ProgressLine::close() {
  if (drawn_) say_to(out_, "\r\x1b[K");
  std::fflush(out_);
  drawn_ = false;
}

}  // namespace fourtune::tools
