// What runs on a GPU for drawn problems: the text of every kernel, launches with their arguments, and memory, for the
// default plan and a few candidates. tests/golden/programs.txt has digests of them. Numbers with a point are left out:
// their last digits differ between machines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "generator/planner/gpu_fft/program.h"
#include "runtime/backends/gpu/nufft_executor.h"
#include "tests/support/golden.h"
#include "tests/support/noting_queue.h"

namespace fourtune::runtime {
namespace {

std::string without_fractions(const std::string& text) {
  const auto part_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (!std::isdigit(static_cast<unsigned char>(text[i])) || (i > 0 && part_of_word(text[i - 1]))) {
      out += text[i++];
      continue;
    }
    const std::size_t first = i;
    const auto exponent = [&] { return std::string_view("eEpP").find(text[i - 1]) != std::string_view::npos; };
    while (i < text.size() && (part_of_word(text[i]) || ((text[i] == '-' || text[i] == '+') && exponent()))) ++i;
    const std::string word = text.substr(first, i - first);
    out += word.find('.') != word.npos || (word.find("e-") != word.npos) ? "#" : word;
  }
  return out;
}

struct Digests {
  test::Digest kernels, launches;
  std::size_t number_of_kernels = 0, number_of_launches = 0;

  void add(const generator::KernelSource& one) {
    kernels.add(one.entry);
    kernels.add(without_fractions(one.text));
    kernels.add(fmt::format("{} {} {} {}", fmt::join(one.block, "x"), fmt::join(one.cluster, "x"), one.shared_bytes,
                            one.max_registers));
    ++number_of_kernels;
  }
  void add(const generator::GpuProgram& program) {
    for (const auto& kernel : program.kernels) add(kernel);
    for (const generator::Launch& one : program.launches) {
      const LaunchArgumentsOf arguments(one);
      launches.add(fmt::format("{} {} {} {} {:.4e} {} {} {}", one.kernel, fmt::join(one.grid, "x"), one.stage,
                               one.bytes, one.flops, one.load_step, one.store_step, fmt::join(arguments.words, " ")));
      ++number_of_launches;
    }
    launches.add(
        fmt::format("{} {} {}", fmt::join(program.workspace_bytes, " "), program.alignment[0], program.alignment[1]));
    for (const auto& table : program.constants) launches.add(std::to_string(table.size()));
  }
  void add(const test::Noted& noted) {
    for (const auto& load : noted.loads)
      for (const auto& kernel : load) add(kernel);
    for (const auto& one : noted.launches) {
      launches.add(fmt::format("{} {} {}", one.kernel, fmt::join(one.grid, "x"), fmt::join(one.words, " ")));
      ++number_of_launches;
    }
    launches.add(fmt::format("{} {}", fmt::join(noted.bytes, " "), fmt::join(noted.marks, " ")));
  }
  void add(const Executor& executor) {
    for (const LaunchTime& one : executor.launch_times())
      launches.add(fmt::format("{} {} {} {} {:.4e}", one.stage, one.entry, one.seconds, one.bytes, one.flops));
    for (const StageTime& one : executor.stage_times()) launches.add(fmt::format("{} {}", one.stage, one.seconds));
    const MemoryUse memory = executor.memory();
    launches.add(fmt::format("held {} needed {}", memory.held, memory.needed));
  }

 private:
  struct LaunchArgumentsOf {
    explicit LaunchArgumentsOf(const generator::Launch& launch) {
      const gpu::LaunchArguments bound(launch, [](const generator::BufferRef& ref) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that is only compared
        return reinterpret_cast<std::byte*>(
            (static_cast<std::uintptr_t>(ref.where) * 100 + static_cast<std::uintptr_t>(ref.index) + 1) << 40);
      });
      words.assign(bound.words().begin(), bound.words().end());
    }
    std::vector<std::uint64_t> words;
  };
};

// What the plans of a problem are bound with, by their number: each option is taken by one of them.
ExecutorOptions options_of(const Problem& problem, std::size_t number) {
  ExecutorOptions options;
  options.time_stages = number != 5;  // that one is rehearsed
  options.deterministic = number == 1;
  options.trust_points = number != 2;
  options.crowded = number == 2;
  if (number == 3 && problem.type < 3) options.mode_order = ModeOrder::fft;
  if (number == 4 && problem.type < 3) options.only = problem.type == 1 ? Only::spread : Only::interpolate;
  return options;
}

// Both directions, with few points and with many; type 3 with bounds, which stand for its points.
void add_nufft(Digests& digests, const Problem& problem, const generator::Plan& plan, const DeviceTraits& traits,
               std::size_t number) {
  test::Noted noted;
  const auto executor = gpu::make_gpu_nufft_executor(problem, plan, options_of(problem, number),
                                                     std::make_unique<test::NotingQueue>(traits, noted));
  alignas(256) static double array[32];
  PointSet points = test::points_of(problem, array);
  if (problem.type == 3) {
    Bounds bounds;
    for (std::size_t d = 0; d < 3; ++d)
      bounds.low[d] = -2, bounds.high[d] = 3, bounds.low[3 + d] = 10, bounds.high[3 + d] = 40;
    executor->set_bounds(bounds);
  }
  digests.add(*executor);
  for (const std::int64_t part : {3, 1}) {
    points.m = *problem.m / part, points.k = problem.k.value_or(0) / part;
    executor->set_points(points);
    executor->execute(array, array, false);
    executor->execute(array, array, true);
    digests.add(*executor);
  }
  digests.add(noted);
}

std::string programs_text(const std::string& header) {
  const auto space = header.find(' ');
  const DeviceTraits traits = *generator::known_device(header.substr(0, space));
  const Problem problem = parse_problem(header.substr(space + 1));
  const generator::Space all = generator::candidates(problem, traits);
  std::vector<generator::Plan> plans{generator::default_plan(problem, traits)};
  for (std::size_t i = 0; i < 6 && i < all.candidates.size(); ++i)
    plans.push_back(all.candidates[i * all.candidates.size() / 6].plan);
  Digests digests;
  int refused = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) try {
      if (problem.kind == Kind::nufft)
        add_nufft(digests, problem, plans[i], traits, i);
      else if (const auto program = generator::gpu_fft_program(problem, plans[i], traits))
        digests.add(*program);
    } catch (const Error& error) {
      digests.launches.add(error.what());
      ++refused;
    }
  return fmt::format("{}\n  {} kernels {}, {} launches {}, {} refused\n", header, digests.number_of_kernels,
                     digests.kernels.text(), digests.number_of_launches, digests.launches.text(), refused);
}

class GoldenPrograms : public ::testing::TestWithParam<int> {
 public:
  static constexpr int kParts = 4;
};

TEST_P(GoldenPrograms, AreAsRecorded) { test::GoldenFile("programs.txt", programs_text).compare(GetParam(), kParts); }

INSTANTIATE_TEST_SUITE_P(Parts, GoldenPrograms, ::testing::Range(0, GoldenPrograms::kParts));

}  // namespace
}  // namespace fourtune::runtime
