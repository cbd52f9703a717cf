// What problems lose that run with a pack's plans which were not tuned for them but for neighbours, or on another
// device: measured (tools/pack_loss), kept in the pack's manifest, and told by explain.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fourtune::db {

struct Borrowing {
  std::string device;  // on which the problems ran
  std::string from;    // on which the plans were tuned
  std::string kind;    // of the problems: fft or nufft
  int problems = 0;    // that ran with a borrowed plan
  double speed = 1;    // relative to plans tuned for the problems where they ran: geometric mean
  double least = 1;    // of a single problem
  std::string date;    // of the measurement, as 2026-11-26
  bool of_neighbours() const { return device == from; }
  friend bool operator==(const Borrowing&, const Borrowing&) = default;
};

// One line without its end: the members in their order, with tabs between them.
std::string to_text(const Borrowing& one);
// Throws Error{invalid_argument} that says what a line must be.
Borrowing parse_borrowing(std::string_view line);

}  // namespace fourtune::db
