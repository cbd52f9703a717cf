// The contents of the tuning database as plain records: environment, session, run, verdict. Problems are tokens and
// plans are canonical texts; this layer never interprets either.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/device_traits.h"
#include "fourtune/status.h"

namespace fourtune::db {

// Row numbers of one database file; they mean nothing in another file.
enum class SessionId : std::int64_t {};
enum class VerdictId : std::int64_t {};

// The environment in which a measurement is valid. Every piece is stored as readable text and compared as text: nothing
// is hashed here (`generator` is a digest because its source is long).
struct Environment {
  std::string backend;    // "cpu"
  std::string device;     // DeviceTraits::name
  std::string isa;        // "avx512", "sm_90"
  std::string traits;     // traits_text(): cores, caches, memory
  std::string driver;     // GPU driver; empty on a CPU
  std::string compiler;   // the one that compiled the kernels
  std::string libraries;  // libraries that a plan may call, such as "fftw 3.3.10"
  std::string generator;  // changes when a plan text may mean different code
  friend bool operator==(const Environment&, const Environment&) = default;
};

// The numbers of a device as one line of JSON, with memory rounded to GiB (the operating system's share of it varies).
std::string traits_text(const DeviceTraits& traits);
// Fills backend, device, isa, traits and compiler (of this build); libraries, driver and generator stay empty.
Environment environment_of(const DeviceTraits& traits);

// How far a verdict measured in one environment is valid in another; ordered best first.
enum class Freshness {
  current,    // every piece is equal
  serves,     // another driver or compiler: the same code for the same device, times may differ a little
  candidate,  // another generator, library or core count on such a device: measure it first, use it before guessing
  kindred,    // another device of the same backend and instruction set: its plan, adapted, is often a good one
  foreign,    // another instruction set or backend
};
// An empty compiler or libraries of `here` means that nobody has looked, since asking would load them; they then count
// as equal.
Freshness freshness(const Environment& measured, const Environment& here) noexcept;
const char* to_string(Freshness) noexcept;
// How different two devices are: the sum of |log2| of the ratios of their numbers; infinite for texts that are not from
// traits_text() of one kind of device. Memory does not count, since a plan that does not fit is
// refused anyway, and neither does a number that is not known (0).
double traits_distance(std::string_view a, std::string_view b);

// The cores in a text of traits_text(); 0 for a GPU's and for other texts.
int cores_in(std::string_view traits);

// How one measurement ended. A failure is stored like any other result.
enum class RunStatus {
  ok,
  rejected,  // refused before it was built: out of range, too much memory, predicted to be hopeless
  compile_error,
  too_many_resources,  // registers, shared memory, host memory
  wrong_result,        // ran, but its error exceeds the allowed one
  timeout,
  crash,
  interrupted,  // stopped by the user; says nothing about the plan
};
const char* to_string(RunStatus) noexcept;
// Throws Error{database} when the name is unknown.
RunStatus run_status_from(std::string_view name);

// What makes one plan better than another.
enum class Objective {
  time,    // of one execute
  energy,  // that one execute uses
};
const char* to_string(Objective) noexcept;
// Throws Error{database} when the name is unknown.
Objective objective_from(std::string_view name);

struct StageNs {
  std::string stage;
  std::int64_t ns = 0;
  friend bool operator==(const StageNs&, const StageNs&) = default;
};

// One measurement of one plan in one round of one session.
struct Run {
  std::string problem;  // token
  std::string plan;     // text
  int round = 0;
  RunStatus status = RunStatus::ok;
  std::optional<double> error;           // relative l2 against the reference; absent when not measured
  std::vector<std::int64_t> samples_ns;  // every raw sample of execute, in the order measured
  std::vector<StageNs> stages;           // of one typical execution, in execution order
  std::string wisdom;                    // FFTW wisdom gathered during planning; empty: none
  std::int64_t memory_bytes = 0;         // held by the transform
  std::string message;                   // why it failed, for people
  std::string kernels;                   // JSON list of a GPU plan's kernels and their resources; empty: none
  std::string state;                     // JSON: what the device said of itself then (device_sensors.h); empty: nothing
  std::optional<double> joules;          // energy of one execute; absent when not measured
  std::int64_t started_ms = 0;           // since the epoch, UTC; 0 when recording means now
  friend bool operator==(const Run&, const Run&) = default;
};
struct StoredRun : Run {
  SessionId session{};
};

// A session's decision and its evidence: this plan replaces that one for this problem.
struct Verdict {
  std::string problem;
  std::string plan;
  std::string replaces;     // the incumbent's plan text; empty: there was none
  std::string validity;     // JSON: for which m, density, batch, extent, strides it was measured; empty: the token only
  double winner_ns = 0;     // median over the interleaved rounds
  double incumbent_ns = 0;  // the same for the incumbent; 0 without one
  double ratio_low = 1;     // interval of incumbent time / winner time, or of their energies
  double ratio_high = 1;
  int rounds = 0;  // number of interleaved rounds behind the interval
  Objective objective = Objective::time;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};
struct StoredVerdict : Verdict {
  VerdictId id{};
  SessionId session{};
  std::int64_t created_ms = 0;
  Environment environment;
  std::string withdrawn;  // why it is no longer valid; empty: valid
};

struct SessionStart {
  Environment environment;
  std::uint64_t seed = 0;
  std::string strategy;       // name of the search strategy
  double budget_seconds = 0;  // 0: unlimited
  std::string command;        // as the user typed it
};
enum class SessionEnd { complete, interrupted, failed };
const char* to_string(SessionEnd) noexcept;

struct StoredSession : SessionStart {
  SessionId id{};
  std::int64_t started_ms = 0;
  std::int64_t finished_ms = 0;   // 0: still running, or killed
  std::optional<SessionEnd> end;  // absent while finished_ms is 0
};

// All that is known about one plan for one problem in one environment, over all sessions. A resumed session reads this
// to skip work already done.
struct PlanHistory {
  std::string plan;
  int ok_runs = 0;
  int failed_runs = 0;                    // neither ok nor interrupted
  RunStatus last_status = RunStatus::ok;  // of the latest run that was not interrupted
  std::string last_message;
  std::optional<double> worst_error;     // over ok runs
  std::vector<std::int64_t> samples_ns;  // of all ok runs, oldest first
  double median_ns = 0;                  // of samples_ns; 0 without any
  std::optional<double> joules;          // of the latest ok run that measured them
};

// Median of samples (mean of the middle two); 0 when empty.
double median(std::vector<std::int64_t> samples);

}  // namespace fourtune::db
