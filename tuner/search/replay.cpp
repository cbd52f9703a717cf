#include "tuner/search/replay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <istream>
#include <ostream>

#include "fourtune/status.h"

namespace fourtune::tuner {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line)
    if (c == ',')
      fields.emplace_back();
    else if (c != '\r')
      fields.back() += c;
  return fields;
}

[[noreturn]] void bad_line(const std::string& name, std::size_t line, const std::string& what) {
  throw Error(Status::io, name + ", line " + std::to_string(line) + ": " + what);
}

template <class T>
T number(const std::string& text, const std::string& name, std::size_t line) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) bad_line(name, line, "'" + text + "' is not a number");
  return value;
}

std::string shortest(double value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

double worst(const Recording& recording) {
  double result = 0;
  for (const double t : recording.seconds)
    if (std::isfinite(t)) result = std::max(result, t);
  return result;
}

// Of a value of the best time after 1, 2, ... evaluations in random order.
template <class Value>
std::vector<double> expectation(const Recording& recording, std::size_t evaluations, const Value& value) {
  std::vector<double> sorted = recording.seconds;
  const double no_result = worst(recording);
  for (double& t : sorted) t = std::min(t, no_result);
  std::sort(sorted.begin(), sorted.end());
  const double n = static_cast<double>(sorted.size());
  std::vector<double> curve;
  for (std::size_t k = 1; k <= std::min(evaluations, sorted.size()); ++k) {
    // The best of k has rank 0 with probability k/n; each further rank multiplies this by (n - r - k + 1) / (n - r).
    double probability = static_cast<double>(k) / n, mean = 0;
    for (std::size_t r = 0; r + k <= sorted.size(); ++r) {
      mean += probability * value(sorted[r]);
      const double left = n - 1 - static_cast<double>(r);
      if (left > 0) probability *= (left - static_cast<double>(k) + 1) / left;
    }
    curve.push_back(mean);
  }
  return curve;
}

}  // namespace

double Recording::optimum() const { return *std::min_element(seconds.begin(), seconds.end()); }

Recording read_recording(std::istream& in, const std::string& name) {
  Recording result;
  result.name = name;
  std::string line;
  std::size_t number_of_line = 0;
  while (std::getline(in, line)) {
    ++number_of_line;
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string> fields = split(line);
    if (result.axes.empty()) {
      if (fields.size() < 3 || fields[fields.size() - 2] != "estimate" || fields.back() != "seconds")
        bad_line(name, number_of_line, "the header must be axis names, then estimate,seconds");
      result.axes.assign(fields.begin(), fields.end() - 2);
      continue;
    }
    if (fields.size() != result.axes.size() + 2)
      bad_line(name, number_of_line, "there must be " + std::to_string(result.axes.size() + 2) + " fields");
    auto& coordinates = result.space.coordinates.emplace_back();
    for (std::size_t a = 0; a < result.axes.size(); ++a) {
      coordinates.push_back(number<int>(fields[a], name, number_of_line));
      if (coordinates.back() < 0) bad_line(name, number_of_line, "a coordinate is negative");
    }
    result.space.estimates.push_back(number<double>(fields[fields.size() - 2], name, number_of_line));
    result.seconds.push_back(fields.back() == "failed" ? failed : number<double>(fields.back(), name, number_of_line));
    if (!(result.seconds.back() > 0)) bad_line(name, number_of_line, "seconds must be positive, or failed");
  }
  if (!std::any_of(result.seconds.begin(), result.seconds.end(), [](double t) { return std::isfinite(t); }))
    throw Error(Status::io, name + ": no candidate worked, so there is nothing to search for");
  return result;
}

Recording read_recording(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(Status::io, path + ": cannot be read");
  return read_recording(in, path);
}

void write_recording(std::ostream& out, const Recording& recording) {
  for (const std::string& axis : recording.axes) out << axis << ',';
  out << "estimate,seconds\n";
  for (std::size_t i = 0; i < recording.seconds.size(); ++i) {
    for (const int c : recording.space.coordinates[i]) out << std::to_string(c) << ',';
    out << shortest(recording.space.estimates[i]) << ','
        << (std::isfinite(recording.seconds[i]) ? shortest(recording.seconds[i]) : "failed") << '\n';
  }
  if (!out) throw Error(Status::io, recording.name + ": cannot be written");
}

std::vector<double> replay(const Recording& recording, const Strategy& strategy, std::uint64_t seed,
                           std::size_t evaluations) {
  const auto search = strategy.make(recording.space, seed);
  std::vector<double> curve;
  double best = worst(recording);
  while (curve.size() < evaluations) {
    const auto candidate = search->ask();
    if (!candidate) break;
    search->tell(*candidate, recording.seconds[*candidate]);
    best = std::min(best, recording.seconds[*candidate]);
    curve.push_back(best);
  }
  return curve;
}

std::vector<double> random_expectation(const Recording& recording, std::size_t evaluations) {
  return expectation(recording, evaluations, [](double best) { return best; });
}

std::vector<double> random_speed_expectation(const Recording& recording, std::size_t evaluations) {
  return expectation(recording, evaluations, [optimum = recording.optimum()](double best) { return optimum / best; });
}

std::vector<double> mean_speeds(const Recording& recording, const Strategy& strategy, int seeds,
                                std::size_t evaluations) {
  const double optimum = recording.optimum();
  std::vector<double> speeds(evaluations, 0);
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::vector<double> curve = replay(recording, strategy, static_cast<std::uint64_t>(seed), evaluations);
    for (std::size_t k = 0; k < evaluations; ++k)  // a strategy that has seen all has found the optimum
      speeds[k] += (k < curve.size() ? optimum / curve[k] : 1) / seeds;
  }
  return speeds;
}

std::size_t evaluation_allowance(const Recording& recording) {
  return std::clamp<std::size_t>(recording.seconds.size() / 10, 1, 200);
}

Quality quality(const Recording& recording, const Strategy& strategy, int seeds) {
  Quality result;
  result.evaluations = evaluation_allowance(recording);
  const double optimum = recording.optimum();
  const std::vector<double> random = random_expectation(recording, recording.seconds.size());
  std::vector<double> ok;
  for (const double t : recording.seconds)
    if (std::isfinite(t)) ok.push_back(t);
  std::nth_element(ok.begin(), ok.begin() + static_cast<std::ptrdiff_t>(ok.size() / 2), ok.end());
  const double target = optimum + 0.05 * (ok[ok.size() / 2] - optimum);
  std::size_t horizon = 1;
  while (horizon < random.size() && random[horizon - 1] > target) ++horizon;

  std::vector<double> speeds;
  const Strategy& random_strategy = find_strategy("random");
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::uint64_t s = static_cast<std::uint64_t>(seed);
    const std::vector<double> curve = replay(recording, strategy, s, std::max(result.evaluations, horizon));
    speeds.push_back(optimum / curve[std::min(result.evaluations, curve.size()) - 1]);
    result.mean_speed += speeds.back() / seeds;
    result.random_speed += optimum / replay(recording, random_strategy, s, result.evaluations).back() / seeds;
    double score = 0;
    for (std::size_t k = 0; k < horizon; ++k) {
      const double gap = random[k] - optimum;
      score += gap > 0 ? (random[k] - curve[std::min(k, curve.size() - 1)]) / gap : 1;
    }
    result.score += score / static_cast<double>(horizon) / seeds;
  }
  std::sort(speeds.begin(), speeds.end());
  result.worst_speed = speeds.front();
  result.median_speed = speeds[speeds.size() / 2];
  return result;
}

}  // namespace fourtune::tuner
