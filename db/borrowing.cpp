#include "db/borrowing.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "fourtune/status.h"

namespace fourtune::db {
namespace {

constexpr std::size_t kFields = 7, kLongestField = 200;
constexpr double kMostSpeed = 1000;  // relative speeds are between 1/1000 and this

bool is_date(std::string_view text) {
  return text.size() == 10 && text[4] == '-' && text[7] == '-' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
}

}  // namespace

std::string to_text(const Borrowing& one) {
  return fmt::format("{}\t{}\t{}\t{}\t{:.3g}\t{:.3g}\t{}", one.device, one.from, one.kind, one.problems, one.speed,
                     one.least, one.date);
}

Borrowing parse_borrowing(std::string_view line) {
  const auto refuse = [&](const char* why) {
    throw Error(Status::invalid_argument,
                fmt::format("'{}': {}; a line has device, device of the plans, fft or nufft, problems, speed, least "
                            "speed and date, with tabs between them",
                            text::shown(std::string(line)), why));
  };
  std::vector<std::string> fields;
  for (const std::string_view field : text::split(line, '\t')) fields.emplace_back(field);
  if (fields.size() != kFields) refuse("not seven fields");
  for (const std::string& field : fields)
    if (field.empty() || field.size() > kLongestField) refuse("a field is empty or too long");
  Borrowing one{fields[0], fields[1], fields[2], 0, 0, 0, fields[6]};
  if (one.kind != "fft" && one.kind != "nufft") refuse("the kind is neither fft nor nufft");
  const auto problems = text::number<int>(fields[3]);
  const auto speed = text::number<double>(fields[4]), least = text::number<double>(fields[5]);
  if (!problems || *problems < 1) refuse("the number of problems is not positive");
  const auto possible = [](const std::optional<double>& v) { return v && *v >= 1 / kMostSpeed && *v <= kMostSpeed; };
  if (!possible(speed) || !possible(least)) refuse("a speed is not between 0.001 and 1000");
  if (!is_date(one.date)) refuse("the date is not as 2026-11-26");
  one.problems = *problems, one.speed = *speed, one.least = *least;
  return one;
}

}  // namespace fourtune::db
