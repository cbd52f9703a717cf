#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "tools/bench/report/report.h"
#include "tools/common/errors.h"
#include "tools/common/numbers.h"
#include "tools/ranks/commands.h"
#include "tools/ranks/mtip_suite.h"

namespace fourtune::tools {
namespace {

// Per second and seconds, in the units of the command line.
struct NetworkArguments {
  double link = 450, network = 50, link_latency = 5, network_latency = 10;
};

struct BenchArguments {
  std::string suite;
  mtip::Options options;
  NetworkArguments network;
};

// Found before minutes of measuring, on every rank.
void check_outputs(const mtip::Options& options) {
  for (const auto& [option, path] : {std::pair("--csv", options.csv), std::pair("--plot", options.plot)}) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (!folder.empty() && !std::filesystem::is_directory(folder, error))
      throw UsageError(fmt::format("{} {}: there is no folder {}", option, path, folder.string()));
  }
  if (!options.plot.empty()) check_plot(options.plot);
}

void bench(const BenchArguments& arguments) {
  mtip::Options options = arguments.options;
  Network& network = options.network;
  network.link = arguments.network.link * 1e9, network.network = arguments.network.network * 1e9;
  network.link_latency = arguments.network.link_latency * 1e-6;
  network.network_latency = arguments.network.network_latency * 1e-6;
  check_outputs(options);
  const mtip::Results results = mtip::measure(options);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  const tuner::Screen screen = tuner::screen_of(stdout);
  fmt::print("{}{}{}", mtip::table_two(results, screen), mtip::weak_scaling(results, screen),
             mtip::beyond(results, options, screen));
  if (!options.csv.empty()) write_text_file(options.csv, mtip::csv_text(results));
  if (!options.plot.empty()) fmt::print("{}\n", mtip::plot(results, options.plot));
}

void add_model_options(CLI::App& command, BenchArguments& arguments) {
  NetworkArguments& network = arguments.network;
  command.add_option("--gpus-per-node", arguments.options.network.gpus_per_node, "Model: GPUs of a node")
      ->check(between(1, 1024))
      ->capture_default_str();
  command.add_option("--most-gpus", arguments.options.most_gpus, "Model: up to so many GPUs")
      ->check(between(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--link", network.link, "Model: GB/s of a GPU to those of its node, in each direction")
      ->check(between(1e-3, 1e6))
      ->capture_default_str();
  command.add_option("--network", network.network, "Model: GB/s of a GPU to those of other nodes")
      ->check(between(1e-3, 1e6))
      ->capture_default_str();
  command.add_option("--link-latency", network.link_latency, "Model: microseconds of a step within a node")
      ->check(between(0.0, 1e6))
      ->capture_default_str();
  command.add_option("--network-latency", network.network_latency, "Model: microseconds of a step between nodes")
      ->check(between(0.0, 1e6))
      ->capture_default_str();
}

}  // namespace

void add_ranks_bench(CLI::App& app) {
  auto arguments = std::make_shared<BenchArguments>();
  mtip::Options& options = arguments->options;
  CLI::App* command = app.add_subcommand("bench", "Run a paper's experiment on all ranks");
  command->add_option("--suite", arguments->suite, "mtip: Table II and Figure 9 of the paper on cuFINUFFT")
      ->required()
      ->check(CLI::IsMember({"mtip"}));
  command->add_option("--backend", options.backend, "cpu, cuda, emulated")->type_name("NAME");
  command->add_option("--peer", options.peers, "Shared library to compare with: FINUFFT, cuFINUFFT or an adapter")
      ->type_name("PATH")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--db", options.db, "Database with tuned plans (default: none)")->type_name("PATH");
  command->add_option("--threads", options.threads, "Of each rank; 0: its share of the cores")->check(between(0, 4096));
  command->add_option("--rounds", options.rounds, "Rounds on each number of ranks")
      ->check(between(1, 10000))
      ->capture_default_str();
  command->add_option("--scale", options.scale, "Size relative to the paper's")
      ->check(between(1e-6, 16.0))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Of the points and values")->capture_default_str();
  command->add_option("--csv", options.csv, "Write every round")->type_name("FILE");
  command->add_option("--plot", options.plot, "Plot Figure 9; without gnuplot its script is written")
      ->type_name("FILE.png|FILE.svg");
  add_model_options(*command, *arguments);
  command->footer(
      "Ranks have GPUs in turn, and a problem each. Peers have their arrays where the backend has them.\n\n"
      "Example:\n  mpirun -n 4 fourtune-ranks bench --suite mtip --backend cuda --peer ./libcufinufft.so --csv mtip.csv");
  command->callback([arguments] { bench(*arguments); });
}

}  // namespace fourtune::tools
