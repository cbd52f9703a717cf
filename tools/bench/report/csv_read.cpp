#include "tools/bench/report/csv_read.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "tools/common/errors.h"

namespace fourtune::tools {
namespace {

// Splits a CSV text into records of fields. Quoted fields may contain commas, line ends and doubled quotes.
std::vector<std::vector<std::string>> records_of(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted && letter == '"' && i + 1 < text.size() && text[i + 1] == '"')
      record.back() += text[++i];
    else if (letter == '"')
      quoted = !quoted;
    else if (!quoted && letter == ',')
      record.emplace_back();
    else if (!quoted && letter == '\n')
      records.push_back(std::exchange(record, std::vector<std::string>(1)));
    else
      record.back() += letter;
  }
  if (record.size() > 1 || !record.front().empty()) records.push_back(std::move(record));
  return records;
}

// Splits at single blanks.
std::vector<std::string_view> words_of(std::string_view text) {
  return text.empty() ? std::vector<std::string_view>() : text::split(text, ' ');
}

template <class T>
T value_of(std::string_view text, T missing) {
  if (text.empty()) return missing;
  const std::optional<T> value = text::number<T>(text);
  if (!value) throw Failure(fmt::format("\"{}\" is not a number", text));
  return *value;
}

std::vector<std::int64_t> samples_of(const std::string& text) {
  std::vector<std::int64_t> samples;
  for (const std::string_view word : words_of(text)) samples.push_back(value_of<std::int64_t>(word, 0));
  return samples;
}

Role role_of(const std::string& name) {
  for (const Role role : {Role::tuned, Role::untuned, Role::peer, Role::reference})
    if (name == role_name(role)) return role;
  throw Failure(fmt::format("\"{}\" is no role of a contender", name));
}

// A row whose fields are accessed by column name.
class Row {
 public:
  Row(const std::map<std::string, std::size_t>& columns, const std::vector<std::string>& fields)
      : columns_(columns), fields_(fields) {}
  const std::string& text(const char* column) const { return fields_[columns_.at(column)]; }
  bool has(const char* column) const { return columns_.contains(column); }
  double number(const char* column, double missing = 0) const { return value_of<double>(text(column), missing); }
  std::int64_t count(const char* column) const { return value_of<std::int64_t>(text(column), 0); }
  // A number that is rounded to an integer afterwards.
  double countable(const char* column, double missing, double most) const {
    const double value = number(column, missing);
    if (!(std::abs(value) <= most))
      throw Failure(fmt::format("{} is {}, at most {} can be counted", column, value, most));
    return value;
  }

 private:
  const std::map<std::string, std::size_t>& columns_;
  const std::vector<std::string>& fields_;
};

tuner::MedianInterval interval_of(const std::vector<std::int64_t>& samples) {
  return samples.empty() ? tuner::MedianInterval{} : tuner::median_interval(samples);
}

// "spread=0.001 fft=0.002"
std::vector<StageTime> stages_of(const std::string& text) {
  std::vector<StageTime> stages;
  for (const std::string_view word : words_of(text)) {
    const std::size_t at = word.rfind('=');
    if (at == word.npos) throw Failure(fmt::format("\"{}\" is no stage with its seconds", word));
    stages.push_back({std::string(word.substr(0, at)), value_of<double>(word.substr(at + 1), 0)});
  }
  return stages;
}

// "spread:entry:seconds=1e-3:bytes=8:flops=4 ..."; a launch of a library has no entry.
std::vector<PassResult> passes_of(const std::string& text) {
  std::vector<PassResult> passes;
  for (const std::string_view word : words_of(text)) {
    const auto parts = text::split(word, ':');
    if (parts.size() != 5) throw Failure(fmt::format("\"{}\" is no launch with its seconds, bytes and flops", word));
    const auto after = [&](std::size_t i) {
      return value_of<double>(parts[i].substr(std::min(parts[i].find('=') + 1, parts[i].size())), 0);
    };
    passes.push_back({std::string(parts[0]), std::string(parts[1]), after(2), after(3), after(4)});
  }
  return passes;
}

ContenderResult contender_of(const Row& row) {
  ContenderResult one;
  one.name = row.text("contender");
  one.role = role_of(row.text("role"));
  one.plan = row.text("plan");
  one.variants = row.text("variants");
  one.refusal = row.text("refusal");
  one.failure = row.text("failure");
  one.create_seconds = row.number("create_seconds");
  one.first_set_points_seconds = row.number("first_set_points_seconds");
  one.set_points_ns = samples_of(row.text("set_points_samples_ns"));
  one.execute_ns = samples_of(row.text("execute_samples_ns"));
  one.total_ns = samples_of(row.text("total_samples_ns"));
  one.transfers_ns = samples_of(row.text("total_with_transfers_samples_ns"));
  one.set_points = interval_of(one.set_points_ns);
  one.execute = interval_of(one.execute_ns);
  one.total = interval_of(one.total_ns);
  one.transfers = interval_of(one.transfers_ns);
  one.error = row.number("error", kNone);
  one.right = row.text("right") == "1";
  one.memory = row.count("peak_bytes");
  one.code = row.count("code_bytes");
  if (row.has("too_busy")) {
    one.busy.disturbed = row.count("busy_samples");
    one.too_busy = row.text("too_busy") == "1";
    one.busy.samples = std::ssize(one.execute_ns) + (one.too_busy ? 0 : one.busy.disturbed);
  }
  one.first_use_ns = static_cast<std::int64_t>(1e9 * row.countable("first_use_seconds", 0, 9e9));
  one.stages = stages_of(row.text("stages"));
  one.passes = passes_of(row.text("passes"));
  return one;
}

void add_row(const Row& row, CsvRun& run) {
  const std::string& token = row.text("problem");
  if (run.results.empty() || run.results.back().token != token || run.results.back().skipped != row.text("skipped")) {
    ProblemResult& result = run.results.emplace_back();
    result.problem = parse_problem(token);
    result.token = token;
    result.skipped = row.text("skipped");
    result.copy_bandwidth = row.number("copy_bytes_per_second");
    result.peak_flops = row.number("peak_flops_per_second");
    result.sets = static_cast<int>(row.countable("sets_of_arrays", 1, 1e9));
  }
  if (!row.text("contender").empty()) run.results.back().contenders.push_back(contender_of(row));
}

BenchEnvironment environment_of(const Row& row) {
  BenchEnvironment environment;
  environment.device = row.text("device");
  environment.isa = row.text("isa");
  environment.compiler = row.text("compiler");
  environment.libraries = row.text("libraries");
  environment.started = row.text("started");
  environment.cores = static_cast<int>(row.count("cores"));
  environment.threads = static_cast<int>(row.count("threads"));
  if (!row.text("peers").empty()) environment.peers.push_back(row.text("peers"));
  return environment;
}

}  // namespace

const ProblemResult* CsvRun::find(const std::string& token) const {
  const ProblemResult* found = nullptr;
  for (const ProblemResult& result : results)
    if (result.token == token && (!found || (!found->skipped.empty() && result.skipped.empty()))) found = &result;
  return found;
}

CsvRun read_comparison_csv(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw cannot_read(path);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto records = records_of(whole);
  std::map<std::string, std::size_t> columns;
  if (!records.empty())
    for (std::size_t i = 0; i < records.front().size(); ++i)
      if (!columns.emplace(records.front()[i], i).second)
        throw Failure(fmt::format("{}: has column {} twice", path, text::shown(records.front()[i])));
  for (const std::string& column : csv_columns())
    if (!columns.contains(column) && column != "busy_samples" && column != "too_busy")  // runs before 0.5 lack them
      throw Failure(fmt::format("{}: has no column {}; it must come from fourtune bench --csv", path, column));
  CsvRun run;
  for (std::size_t i = 1; i < records.size(); ++i) try {
      if (records[i].size() != columns.size())
        throw Failure(fmt::format("{} fields where the heading has {}", records[i].size(), columns.size()));
      const Row row(columns, records[i]);
      if (i == 1) run.environment = environment_of(row);
      add_row(row, run);
    } catch (const std::exception& error) {
      throw Failure(fmt::format("{}, row {}: {}", path, i, error.what()));
    }
  return run;
}

}  // namespace fourtune::tools
