// The one writer of tables for people.
//
// 1. Where a row fits into the screen, it is one line.
// 2. Otherwise the subject (what the row is about, mostly a token) has a line to itself, which is never cut because it
//    is there to be copied, and the other cells stand under it, in as many lines as they need.
// 3. The tail (mostly a plan) comes last and is cut at the edge of the screen, with "..." at its end.
#pragma once

#include <string>
#include <vector>

#include "tuner/report/screen.h"

namespace fourtune::tuner {

using Cells = std::vector<std::string>;
inline constexpr std::size_t kLongestCell = 5000;  // bytes that are shown; a plan has at most 4096

// What the columns are, by their index. All others are short texts, to the left.
struct TableShape {
  std::vector<int> right;  // numbers
  int subject = 0;         // -1: none
  int tail = -1;           // -1: none; else the last column
};

// The first row is the heading. Cells are made safe for terminals (text::shown). Every line ends with a newline. A row
// whose subject is empty belongs to that of the row before.
std::string table_text(const std::vector<Cells>& rows, const TableShape& shape, const Screen& screen = {});

}  // namespace fourtune::tuner
