#include "tools/cli/tune_devices.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/locked_file.h"
#include "base/text.h"
#include "runtime/backends/backend.h"
#include "tools/cli/shards.h"
#include "tools/common/errors.h"
#include "tools/common/progress.h"
#include "tuner/measure/validate.h"
#include "tuner/worker/worker.h"

namespace fourtune::tools {
namespace {

// "my.db" becomes "my.device-1.db".
std::filesystem::path part_path(const std::filesystem::path& database, int device) {
  std::filesystem::path path = database;
  path.replace_filename(fmt::format("{}.device-{}{}", database.stem().string(), device, database.extension().string()));
  return path;
}

void remove_database(const std::filesystem::path& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path.string() + suffix, ignored);
}

// One device's part: written by its thread, read when that has ended.
struct DeviceTuning {
  int device = 0;
  std::filesystem::path database;
  tuner::SessionOptions session;
  std::optional<LockedFile> lock;  // held while the database may be removed, so that two runs never share one
  tuner::Report report;
  std::string failure;
};

// Gives this thread, and the processes that it starts, its share of the processors, so that devices do not wait for
// each other's compilers. Where there are fewer processors than devices they share them all.
void take_processors(std::size_t part, std::size_t parts) {
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return;
  const auto count = static_cast<std::size_t>(CPU_COUNT(&all));
  if (count < parts) return;
  cpu_set_t mine;
  CPU_ZERO(&mine);
  std::size_t place = 0;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all) && place++ * parts / count == part) CPU_SET(cpu, &mine);
  ::sched_setaffinity(0, sizeof mine, &mine);  // without the right to it, all processors serve all
}

// The progress of all devices: one line on a terminal, elsewhere lines of each.
class DevicesLine {
 public:
  void update(int device, const tuner::Progress& progress) {
    const std::lock_guard lock(mutex_);
    if (!line_.on_terminal()) {
      plain_.try_emplace(device, stderr).first->second.update(progress, fmt::format("device {}: ", device));
      return;
    }
    latest_[device] = progress;
    double elapsed = 0, eta = 0;
    std::string text;  // it has room for the numbers of several devices, but not for their problems
    for (const auto& [number, its] : latest_) {
      elapsed = std::max(elapsed, its.elapsed), eta = std::max(eta, its.eta);
      text += fmt::format("{}device {}: {}", text.empty() ? "" : " | ", number, progress_numbers(its));
    }
    line_.show(elapsed, eta, text);
  }
  void close() { line_.close(); }

 private:
  std::mutex mutex_;
  std::map<int, tuner::Progress> latest_;
  std::map<int, ProgressLine> plain_;
  ProgressLine line_{stderr};
};

void tune_part(const DevicesTuning& tuning, DeviceTuning& part) try {
  begin_shard(part.database, tuning.database);
  auto store = db::TuningStore::open_for_writing(part.database);
  tuner::WorkerOptions options;
  options.backend = tuning.backend;
  options.device = part.device;
  options.recorded = tuning.recorded;
  options.database = tuning.database;  // devices share the kernels that they compile
  options.stop = tuning.stop;
  tuner::WorkerProcess worker(options);
  part.report = tuner::run_session(part.session, store, worker);
} catch (const Error& error) {
  part.report.interrupted = error.status() == Status::interrupted;
  if (!part.report.interrupted) part.failure = fmt::format("device {}: {}", part.device, error.what());
} catch (const std::exception& error) {
  part.failure = fmt::format("device {}: {}", part.device, error.what());
}

std::string token_of(const Problem& problem) { return to_token(tuner::bound_problem(problem)); }

// What all devices found, the problems in the order in which they were named.
tuner::Report joined_report(const DevicesTuning& tuning, const std::vector<DeviceTuning>& parts) {
  tuner::Report all;
  std::map<std::string, const tuner::ProblemReport*> found;
  for (const DeviceTuning& part : parts) {
    for (const tuner::ProblemReport& problem : part.report.problems) found[problem.problem] = &problem;
    all.interrupted = all.interrupted || part.report.interrupted;
    all.elapsed = std::max(all.elapsed, part.report.elapsed);
    all.evaluations += part.report.evaluations;
    all.failures += part.report.failures;
    all.worker_restarts += part.report.worker_restarts;
    for (const std::string& warning : part.report.warnings) all.warnings.push_back(warning);
  }
  std::map<std::string, std::string> failed;
  for (const DeviceTuning& part : parts)
    if (!part.failure.empty())
      for (const Problem& problem : part.session.problems) failed[token_of(problem)] = part.failure;
  for (const Problem& problem : tuning.session.problems) {
    const std::string token = token_of(problem);
    if (const auto its = found.find(token); its != found.end()) {
      all.problems.push_back(*its->second);
    } else if (const auto why = failed.find(token); why != failed.end()) {
      tuner::ProblemReport& missing = all.problems.emplace_back();
      missing.problem = token;
      missing.note = why->second;
    }
  }
  return all;
}

// Adds to the database what is in the devices' databases that are there.
void join_parts(const std::filesystem::path& database, int devices) {
  std::vector<std::filesystem::path> there;
  std::error_code ignored;
  for (int device = 0; device < devices; ++device)
    if (const auto path = part_path(database, device); std::filesystem::exists(path, ignored)) there.push_back(path);
  if (!there.empty()) join_shards(database, there);
}

std::vector<DeviceTuning> parts_of(const DevicesTuning& tuning, DevicesLine& line, std::mutex& traces) {
  std::vector<DeviceTuning> parts;
  for (std::size_t i = 0; i < tuning.devices.size(); ++i) {
    DeviceTuning part;
    part.device = tuning.devices[i];
    part.database = part_path(tuning.database, part.device);
    part.session = tuning.session;
    part.session.problems =
        share_of(tuning.session.problems, {static_cast<int>(i) + 1, static_cast<int>(tuning.devices.size())});
    part.session.stop = tuning.stop;
    if (!tuning.quiet)
      part.session.progress = [&line, device = part.device](const tuner::Progress& progress) {
        line.update(device, progress);
      };
    if (tuning.session.trace)
      part.session.trace = [&tuning, &traces](const tuner::Trace& step) {
        const std::lock_guard lock(traces);
        tuning.session.trace(step);
      };
    if (part.session.problems.empty()) continue;  // there are more devices than problems
    auto lock = LockedFile::open(part.database.string() + ".lock", 1);
    if (!lock)
      throw Failure(fmt::format("device {} is being tuned by another run with this database", part.device),
                    "wait for it, or name another database with --db");
    part.lock.emplace(std::move(*lock));
    parts.push_back(std::move(part));
  }
  return parts;
}

// A winner belongs to one kind of device, so devices of two kinds cannot share a list.
void require_one_kind(const std::vector<int>& devices, const runtime::Backend& backend) {
  const DeviceTraits first = backend.traits(devices.front());
  for (const int device : devices) {
    const DeviceTraits other = backend.traits(device);
    if (db::environment_of(first) == db::environment_of(other)) continue;
    throw UsageError(
        fmt::format("--devices: device {} is a {}, device {} a {}, and winners of one are none of the other",
                    devices.front(), first.name, device, other.name),
        "name the devices of one kind, as --devices 0,1, and tune each kind for itself");
  }
}

}  // namespace

std::vector<int> devices_from(const std::string& text, const runtime::Backend& backend) {
  std::vector<int> devices;
  if (text == "all") {
    for (int device = 0; device < backend.device_count(); ++device) devices.push_back(device);
    require_one_kind(devices, backend);
    return devices;
  }
  for (const std::string_view word : text::split(text, ',')) {
    const auto number = text::number<int>(word);
    if (!number)
      throw UsageError(fmt::format("--devices {}: '{}' is no device's number", text::shown(text), text::shown(word)),
                       "all, or numbers from 0 as in 0,1");
    backend.check_device(*number);
    if (std::find(devices.begin(), devices.end(), *number) != devices.end())
      throw UsageError(fmt::format("--devices {}: names device {} twice", text::shown(text), *number));
    devices.push_back(*number);
  }
  require_one_kind(devices, backend);
  return devices;
}

tuner::Report tune_on_devices(const DevicesTuning& tuning) {
  // 1. Shares the problems out, and keeps what a killed run left.
  DevicesLine line;
  std::mutex traces;
  std::vector<DeviceTuning> parts = parts_of(tuning, line, traces);
  const int devices = 1 + *std::max_element(tuning.devices.begin(), tuning.devices.end());
  join_parts(tuning.database, devices);

  // 2. Tunes, each device on a separate thread.
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < parts.size(); ++i)
      threads.emplace_back([&tuning, &parts, i] {
        take_processors(i, parts.size());
        tune_part(tuning, parts[i]);
      });
  }
  line.close();

  // 3. Joins what they measured. Only then their databases go.
  join_parts(tuning.database, devices);
  for (DeviceTuning& part : parts) {
    remove_database(part.database);
    part.lock->remove();
  }

  // 4. Reports. If no device could work, the first failure is the command's.
  if (std::all_of(parts.begin(), parts.end(), [](const DeviceTuning& part) { return !part.failure.empty(); }))
    throw Failure(parts.front().failure);
  return joined_report(tuning, parts);
}

}  // namespace fourtune::tools
