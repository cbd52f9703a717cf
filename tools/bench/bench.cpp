// The command line of `fourtune bench`.
#include "tools/bench/bench.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "generator/plan/gpu_plan.h"
#include "tools/bench/compare.h"
#include "tools/bench/measure/options.h"
#include "tools/bench/report/report.h"
#include "tools/bench/suites/suites.h"
#include "tools/common/device_arrays.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/output.h"
#include "tools/common/say.h"
#include "tools/common/start_ranks.h"

namespace {

using namespace fourtune::tools;

void add_options(CLI::App& command, BenchOptions& options) {
  command.add_option("problem", options.tokens, "Problem tokens")->type_name("PROBLEM");
  command.add_option("--problems", options.problems, "Problem list: a file, or builtin:NAME")->type_name("FILE");
  command
      .add_option("--peer", options.peers,
                  "Shared library to compare with: FINUFFT, cuFINUFFT, cuFFT or an adapter "
                  "(docs/benchmark.md; repeatable)")
      ->type_name("PATH")
      ->take_all()
      ->allow_extra_args(false);
  add_backend_option(command, options.backend, "cpu; cuda for the suites of GPUs");
  add_device_option(command, options.device);
  command
      .add_option("--devices", options.devices,
                  "Also time ours on several devices that share batches: all, or numbers such as 0,1")
      ->type_name("LIST");
  command.add_option("--plan", options.plan, "Time ours with this plan, in the tuned column")->type_name("TEXT");
  command
      .add_option("--plans", options.plans,
                  "Also time ours with each plan of this file, whose lines are a problem and a plan text")
      ->type_name("FILE");
  command.add_option("--db", options.db, "Database with tuned plans (default: none, the tuned column is empty)")
      ->type_name("PATH");
  command.add_option("--threads", options.threads, "Threads that every library may use (default: all)")
      ->check(between(0, 4096))
      ->type_name("N");
  command.add_option("--rounds", options.rounds, "Interleaved rounds")
      ->check(between(1, 10000))
      ->capture_default_str()
      ->type_name("N");
  command
      .add_option("--seconds", options.seconds,
                  "Time for all problems together; what does not fit is skipped with a note (0: no limit)")
      ->transform(duration(0, 1e7))
      ->type_name("S");
  command
      .add_option("--max-seconds-per-problem", options.seconds_per_problem,
                  "Time for the calls of one problem; if three rounds do not fit, it is skipped with a note")
      ->transform(duration(1e-3, 1e7))
      ->capture_default_str()
      ->type_name("S");
  command
      .add_option("--max-memory", options.max_memory,
                  "Most bytes for the data and all libraries (default: 70 % of the free memory)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  command.add_option("--max-points", options.max_points, "Skip problems with more points, with a note (0: no limit)")
      ->check(between(std::int64_t{0}, std::int64_t{1} << 48))
      ->type_name("N");
  command.add_option("--filter", options.filter, "Only problems whose token contains this")->type_name("TEXT");
  command.add_flag("--cpu-time", options.cpu_time,
                   "Measure the thread's CPU time, for machines that are busy with other work (needs --threads 1)");
  command.add_flag("--untuned-only", options.untuned_only, "Leave the tuned column out");
  command.add_flag("--compile-first", options.compile_first,
                   "On a GPU: compile all kernels, on all threads, before the first measurement");
  command.add_flag("--memory,!--no-memory", options.measure_memory, "Measure peak memory in child processes (default)");
  command.add_option("--csv", options.csv, "Write every sample and the environment")->type_name("FILE");
  command
      .add_option("--plot", options.plot,
                  "Plot the ratios (suites: the paper's figures); without gnuplot, write its script")
      ->type_name("FILE.png|FILE.svg");
  command
      .add_option("--from-csv", options.from_csv,
                  "Print and plot what an earlier run wrote by --csv; measures nothing and needs no device")
      ->type_name("FILE");
  command
      .add_option(
          "--baseline", options.baseline,
          "CSV of the same suite on another device (nufft-type3, nufft-type3-gpu, cufinufft), to show the paper's "
          "speed-up over it or, for cufinufft, the curves of the library on the processor")
      ->type_name("FILE");
  command.add_option("--suite", options.suite, "Run a paper's experiment instead of a comparison")
      ->check(
          CLI::IsMember({"nufft3d-cpu", "nufft-type3", "nufft-type3-gpu", "cufinufft", "fft3d-interleaved", "mtip"}));
  command.add_option("--ranks", options.ranks, "Suite mtip: run on N MPI ranks, which mpirun starts")
      ->check(between(1, 100000))
      ->type_name("N");
  command.add_option("--scale", options.scale, "Suites: size relative to the full experiment")
      ->check(between(1e-6, 16.0))
      ->capture_default_str()
      ->type_name("X");
  command.add_option("--seed", options.seed, "Seed of the synthetic data")
      ->check(any_seed())
      ->capture_default_str()
      ->type_name("N");
  add_wide_option(command, options.wide);
  command.add_option("--memory-child", options.memory_child)->group("");
}

// Finds output errors, which would otherwise appear only when results are written, before minutes of measuring.
void check_outputs(const BenchOptions& options) {
  for (const auto& [option, path] : {std::pair("--csv", options.csv), std::pair("--plot", options.plot)}) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (!folder.empty() && !std::filesystem::is_directory(folder, error))
      throw UsageError(fmt::format("{} {}: there is no folder {}", option, path, folder.string()));
  }
  if (options.plot.empty()) return;
  if (const std::string missing = check_plot(options.plot); !missing.empty()) say("fourtune: note: {}\n", missing);
}

void require_gpu(const BenchOptions& options) {
  if (!options.from_csv.empty()) return;
  const auto& backend = checked_backend(options.backend, options.device);
  if (!fourtune::generator::is_gpu(backend.traits(options.device).backend))
    throw UsageError(fmt::format("--backend {}: suite {} runs kernels of GPUs", options.backend, options.suite));
}

// The suite of ranks, on the ranks of an mpirun.
[[noreturn]] void run_on_ranks(const BenchOptions& options) {
  const auto unknown = [](const char* name) {
    throw UsageError(fmt::format("{}: suite mtip has no such option", name),
                     "`fourtune-ranks bench --help` lists them");
  };
  if (!options.tokens.empty() || !options.problems.empty() || !options.filter.empty()) unknown("problems");
  if (!options.plan.empty() || !options.plans.empty() || !options.devices.empty())
    unknown("--plan, --plans, --devices");
  if (!options.from_csv.empty() || !options.baseline.empty()) unknown("--from-csv, --baseline");
  if (options.cpu_time) unknown("--cpu-time");
  std::vector<std::string> words{"bench", "--suite", "mtip"};
  const auto pass = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  pass("--backend", options.backend);
  for (const std::string& peer : options.peers) pass("--peer", peer);
  pass("--db", options.db);
  pass("--csv", options.csv);
  pass("--plot", options.plot);
  pass("--threads", std::to_string(options.threads));
  pass("--rounds", std::to_string(options.rounds));
  pass("--scale", fmt::format("{}", options.scale));
  pass("--seed", std::to_string(options.seed));
  start_ranks(std::max(1, options.ranks), words);
}

// The library of a processor is not measured beside a device: its run comes before.
void check_baseline(const BenchOptions& options) {
  if (options.baseline.empty()) return;
  if (!options.suite.starts_with("nufft-type3") && options.suite != "cufinufft")
    throw UsageError("--baseline: only suites nufft-type3, nufft-type3-gpu and cufinufft have one");
  std::array<char, 4> start{};
  std::ifstream(options.baseline, std::ios::binary).read(start.data(), start.size());
  if (std::string_view(start.data(), start.size()) == "\177ELF")
    throw UsageError(
        fmt::format("--baseline takes the CSV of a run, and {} is a library", fourtune::text::shown(options.baseline)),
        fmt::format("fourtune bench --suite {} --backend cpu --peer {} --csv host.csv, then --baseline host.csv",
                    options.suite, fourtune::text::shown(options.baseline)));
}

void run(const BenchOptions& options) {
  // A user's transforms wait 10 s for FFTW at most. As a peer it gets the time that it may need to be at its best.
  ::setenv("FOURTUNE_FFTW_SECONDS", "120", 0);
  if (!options.memory_child.empty()) return run_memory_child(options);
  if (options.suite == "mtip") run_on_ranks(options);
  if (options.ranks > 0) throw UsageError("--ranks: only suite mtip runs on ranks");
  if (!options.suite.empty() && !options.devices.empty()) throw UsageError("--devices: not with a suite");
  if (!options.suite.empty() && !options.plans.empty()) throw UsageError("--plans: not with a suite");
  check_outputs(options);
  check_baseline(options);
  if (options.suite == "nufft3d-cpu") {
    if (!options.from_csv.empty()) throw UsageError("--from-csv: suite nufft3d-cpu writes no such file");
    if (!takes_host_arrays(checked_backend(options.backend, options.device)))
      throw UsageError(fmt::format("--backend {}: suite nufft3d-cpu runs on the processor", options.backend));
    return run_suite_nufft3d_cpu(options);
  }
  if (options.suite == "nufft-type3") return run_suite_nufft_type3(options);
  if (!options.suite.empty()) {  // on a GPU, unless a backend is given
    BenchOptions device = options;
    if (device.backend.empty()) device.backend = "cuda";
    if (options.suite == "nufft-type3-gpu") return run_suite_nufft_type3(device);
    if (options.suite == "cufinufft") return run_suite_cufinufft(device);
    require_gpu(device);
    return run_suite_fft3d_interleaved(device);
  }
  run_comparison(options);
}

}  // namespace

void add_bench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* bench = app.add_subcommand("bench", "Run the papers' experiments and compare with other libraries");
  add_options(*bench, *options);
  bench->footer(
      "Nonuniform problems are compared with every --peer, and the fastest right one counts; FFTs with FFTW's\n"
      "MEASURE or, on a GPU, cuFFT. On a GPU arrays are in its memory, several sets in turn where they would stay in\n"
      "its cache, and events around whole transforms take the times.\n\n"
      "Example:\n"
      "  fourtune bench --problems builtin:applications --peer ./libfinufft.so --csv bench.csv --plot bench.png\n"
      "  fourtune bench --backend cuda --problems builtin:papers --peer ./libcufinufft.so --csv gpu.csv\n"
      "  fourtune bench --suite nufft3d-cpu --scale 0.1");
  bench->callback([options] { run(*options); });
}
