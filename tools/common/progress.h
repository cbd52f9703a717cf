// The progress display of a long command: one line that is redrawn on a terminal, plain lines elsewhere.
#pragma once

#include <cstdio>
#include <string>

#include "tuner/session/session.h"

namespace fourtune::tools {

class ProgressLine {
 public:
  // Writes to `out`, and redraws the line when `out` is a terminal.
  explicit ProgressLine(std::FILE* out);
  // `prefix` begins the text, for one of several sessions.
  void update(const tuner::Progress& progress, const std::string& prefix = {});
  bool on_terminal() const { return terminal_; }
  // The same for work without steps: elapsed time, remaining time, and a text.
  void show(double elapsed, double eta, const std::string& text);
  // Leaves the cursor on an empty line.
  void close();

 private:
  void redraw(double elapsed, double eta, const std::string& text);
  void append(double elapsed, const std::string& text);

  std::FILE* out_;
  bool terminal_;
  bool drawn_ = false;
  std::size_t last_problem_ = static_cast<std::size_t>(-1);
  tuner::Step last_step_ = tuner::Step::prepare;
  double last_elapsed_ = 0;
};

// "[3/5] nufft:... search 34/120  best 3.21 ms  2.1x untuned  2 failed  00:34 left", without bar or padding.
std::string progress_text(const tuner::Progress& progress);
// The same without the problem.
std::string progress_numbers(const tuner::Progress& progress);

}  // namespace fourtune::tools
