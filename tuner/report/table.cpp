#include "tuner/report/table.h"

#include <algorithm>

#include "base/text.h"

namespace fourtune::tuner {
namespace {

constexpr std::size_t kGap = 2;            // blanks between columns
constexpr std::size_t kShortestTail = 40;  // a tail with less room has a line to itself
constexpr std::size_t kIndent = 2;         // of the lines under a subject

// The number of columns that the text takes: bytes that do not continue a character of UTF-8.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string cut(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;
    if (seen++ + 3 >= columns) break;
  }
  return text.substr(0, at) + "...";
}

class Writer {
 public:
  Writer(const std::vector<Cells>& rows, const TableShape& shape, const Screen& screen)
      : shape_(shape), screen_(screen), rows_(rows) {
    for (Cells& row : rows_) {
      width_.resize(std::max(width_.size(), row.size()), 0);
      for (std::size_t c = 0; c < row.size(); ++c) {
        row[c] = text::shown(row[c], kLongestCell);
        width_[c] = std::max(width_[c], columns_of(row[c]));
      }
    }
  }

  std::string text() {
    lay_out();
    std::string out;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const Cells& row = rows_[r];
      if (stacked_ && !row[subject()].empty()) out += painted(row[subject()], Paint::strong, screen_) + '\n';
      for (std::size_t l = 0; l < lines_.size(); ++l) {
        std::string line = line_of(row, lines_[l], l);
        if (line.empty() && l > 0) continue;
        out += (r == 0 ? painted(line, Paint::strong, screen_) : line) + '\n';
      }
    }
    return out;
  }

 private:
  bool is_tail(std::size_t c) const { return static_cast<int>(c) == shape_.tail; }
  bool is_subject(std::size_t c) const { return static_cast<int>(c) == shape_.subject; }
  std::size_t subject() const { return static_cast<std::size_t>(shape_.subject); }
  std::size_t indent_of(std::size_t line) const { return stacked_ ? kIndent : line == 0 ? 0 : 2 * kIndent; }

  // Which columns make each line.
  void lay_out() {
    std::vector<std::size_t> all;
    std::size_t whole = 0, tail = 0;
    for (std::size_t c = 0; c < width_.size(); ++c) {
      all.push_back(c);
      whole += width_[c] + (c > 0 ? kGap : 0);
      if (is_tail(c)) tail = width_[c];
    }
    if (screen_.width == 0 || whole - tail + std::min(tail, kShortestTail) <= screen_.width) {
      lines_.push_back(all);
      return;
    }
    stacked_ = shape_.subject >= 0 && !rows_.empty();
    std::size_t used = 0;
    for (const std::size_t c : all) {
      if (stacked_ && is_subject(c)) continue;
      const std::size_t wanted = is_tail(c) ? std::min(width_[c], kShortestTail) : width_[c];
      if (lines_.empty() || used + kGap + wanted > screen_.width) {
        used = indent_of(lines_.size()) + wanted;
        lines_.push_back({c});
      } else {
        used += kGap + wanted;
        lines_.back().push_back(c);
      }
    }
  }

  std::string line_of(const Cells& row, const std::vector<std::size_t>& columns, std::size_t number) const {
    std::string line(indent_of(number), ' ');
    std::size_t used = line.size();
    bool empty = true;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t c = columns[i];
      if (i > 0) line += std::string(kGap, ' '), used += kGap;
      std::string cell = c < row.size() ? row[c] : std::string();
      if (screen_.width > 0 && !is_subject(c)) cell = cut(cell, screen_.width - std::min(used, screen_.width - 4));
      empty &= cell.empty();
      const std::size_t blanks = is_tail(c) ? 0 : width_[c] - std::min(width_[c], columns_of(cell));
      const bool right = std::find(shape_.right.begin(), shape_.right.end(), static_cast<int>(c)) != shape_.right.end();
      line += right ? std::string(blanks, ' ') + cell : cell + std::string(blanks, ' ');
      used += is_tail(c) ? columns_of(cell) : width_[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return empty ? std::string() : line;
  }

  const TableShape& shape_;
  const Screen& screen_;
  std::vector<Cells> rows_;
  std::vector<std::size_t> width_;
  std::vector<std::vector<std::size_t>> lines_;
  bool stacked_ = false;
};

}  // namespace

std::string table_text(const std::vector<Cells>& rows, const TableShape& shape, const Screen& screen) {
  return rows.empty() ? std::string() : Writer(rows, shape, screen).text();
}

}  // namespace fourtune::tuner
