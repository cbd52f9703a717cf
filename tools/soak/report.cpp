#include "tools/soak/report.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tools/bench/report/ratio.h"
#include "tools/common/errors.h"
#include "tools/common/say.h"
#include "tools/common/text.h"
#include "tools/soak/protocol.h"
#include "tuner/report/json_text.h"
#include "tuner/report/report.h"

namespace fourtune::tools {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Adds quotes where CSV needs them.
std::string cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (const char letter : text) out += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return out + "\"";
}

struct Ratios {
  std::vector<double> all;  // peer / ours
  double least = INFINITY;
  std::string least_token;
  std::map<std::string, int> skipped;
};
Ratios ratios_of(const HuntState& state) {
  Ratios out;
  for (const HuntRatio& one : state.ratios) {
    if (!one.times.skipped.empty()) {
      ++out.skipped[one.times.skipped];
      continue;
    }
    const double ratio = one.times.peer / one.times.ours;
    out.all.push_back(ratio);
    if (ratio < out.least) out.least = ratio, out.least_token = one.token;
  }
  return out;
}

}  // namespace

SoakReport::SoakReport(const HuntOptions& options, const std::string& csv) : options_(options) {
  if (csv.empty()) return;
  csv_ = std::fopen(csv.c_str(), "w");
  if (!csv_) throw Failure(fmt::format("{}: {}", csv, std::strerror(errno)));
  fmt::print(csv_,
             "index,seed,backend,token,case,kind,plan,failure,message,refused,error,allowed,adjoint,repeat,create_s,"
             "set_points_s,execute_s,held_bytes,promised_bytes\n");
}
SoakReport::~SoakReport() {
  if (csv_) std::fclose(csv_);
}

void SoakReport::add(const HuntRun& run) {
  const SoakOutcome& o = run.trial.outcome;
  if (!o.refused.empty()) ++refusals_[o.refused];
  if (!csv_) return;
  const std::string line = fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{:.3g},{:.3g},{:.3g},{:.3g},{:.4g},{:.4g},{:.4g},{},{}\n", run.index,
      options_.seed, options_.worker.backend, cell(run.token), cell(to_text(run.trial.one)), to_string(run.trial.kind),
      cell(o.plan), cell(o.failure), cell(o.message), cell(o.refused), o.error, o.allowed, o.mismatch, o.repeat,
      o.create_seconds, o.set_points_seconds, o.execute_seconds, o.held, o.promised);
  say_to(csv_, "{}", line);
  std::fflush(csv_);
}

bool SoakReport::csv_is_written() const { return !csv_ || (std::fflush(csv_) == 0 && std::ferror(csv_) == 0); }

std::string SoakReport::add_failure(const HuntRun& run, const TriedCase& small) {
  failures_.push_back(failure_line(options_, run, small));
  return failures_.back();
}

void SoakReport::print_text(const HuntState& state) const {
  for (const auto& [reason, times] : refusals_) fmt::print("not run, {} times: {}\n", times, reason);
  if (!options_.worker.peers.empty()) {
    const Ratios ratios = ratios_of(state);
    for (const HuntRatio& one : state.ratios)
      if (one.times.skipped.empty())
        fmt::print("{:.2f}  {}  {} {}\n", one.times.peer / one.times.ours, one.token, one.times.name,
                   tuner::format_seconds(one.times.peer * 1e-9));
    for (const auto& [reason, times] : ratios.skipped) fmt::print("without a ratio, {} times: {}\n", times, reason);
    if (!ratios.all.empty())
      fmt::print("peer's time / ours: geometric mean {:.2f} of {}, least {:.2f} ({})\n", geometric_mean(ratios.all),
                 ratios.all.size(), ratios.least, ratios.least_token);
  }
  if (state.interrupted) fmt::print("interrupted\n");
  fmt::print("soak: {}\n", summary_text(state, options_));
}

void SoakReport::print_json(const HuntState& state) const {
  OrderedJson all{{"problems", state.problems},
                  {"runs", state.runs},
                  {"failures", failures_},
                  {"refused", refusals_},
                  {"seed", options_.seed},
                  {"backend", options_.worker.backend},
                  {"device", options_.worker.device},
                  {"seconds", state.elapsed},
                  {"interrupted", state.interrupted}};
  if (!options_.worker.peers.empty()) {
    const Ratios ratios = ratios_of(state);
    OrderedJson list = OrderedJson::array();
    for (const HuntRatio& one : state.ratios)
      if (one.times.skipped.empty())
        list.push_back({{"token", one.token}, {"peer", one.times.name}, {"ratio", one.times.peer / one.times.ours}});
    all["ratios"] = list;
    all["without_ratio"] = ratios.skipped;
    if (!ratios.all.empty()) all["geometric_mean"] = geometric_mean(ratios.all), all["least"] = ratios.least;
  }
  fmt::print("{}", tuner::json_text(all));
}

std::string summary_text(const HuntState& state, const HuntOptions& options) {
  return fmt::format("{} problems, {} runs, {} failures, seed {}, {}", state.problems, state.runs, state.failures,
                     options.seed, options.worker.backend);
}

std::string progress_text(const HuntState& state, const std::string& token) {
  return fmt::format("{} problems, {} runs, {} failures  {} left  {}", state.problems, state.runs, state.failures,
                     clock_text(state.eta), token);
}

void print_trial(const TriedCase& trial) {
  const SoakOutcome& o = trial.outcome;
  fmt::print("problem     {}\nplan        {}\n", to_text(trial.one), o.plan);
  fmt::print("error       {:.2e}  (up to {:.1e} is right)\nadjoint     {:.2e}\nsecond run  {:.2e}\n", o.error,
             o.allowed, o.mismatch, o.repeat);
  fmt::print("memory      {} held, {} promised\n", bytes_text(o.held), bytes_text(o.promised));
  if (!o.refused.empty()) fmt::print("not run     {}\n", o.refused);
  fmt::print("outcome     {}\n", o.failure.empty() ? "all is well" : o.failure + ": " + o.message);
}

void print_trial_json(const TriedCase& trial) {
  auto all = from_outcome(trial.outcome);
  all["case"] = to_text(trial.one);
  fmt::print("{}", to_line(all));
}

ScratchDatabase::ScratchDatabase() {
  std::string name = (std::filesystem::temp_directory_path() / "fourtune-soak-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw Failure(fmt::format("{}: {}", name, std::strerror(errno)));
  folder_ = name;
  ::setenv("FOURTUNE_DB", (folder_ / "tuning.db").c_str(), 1);
}
ScratchDatabase::~ScratchDatabase() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace fourtune::tools
