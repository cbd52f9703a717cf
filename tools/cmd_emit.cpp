// `fourtune emit`: the CUDA text of a GPU FFT plan, and every step on the way to it. No GPU is needed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <string>

#include "generator/fft/codelet.h"
#include "generator/fft/emit.h"
#include "generator/fft/enumerate.h"
#include "generator/fft/geometry.h"
#include "generator/known_devices.h"
#include "tools/commands.h"
#include "tools/errors.h"
#include "tools/fft_plan_argument.h"
#include "tools/text.h"

namespace fourtune::tools {
namespace {

namespace fft = generator::fft;

struct Arguments {
  std::string plan;
  std::string device = "h200";
  std::string stage = "standalone";
  std::string output;
  int sign = -1;
  std::int64_t batch = 1;
  int codelet = 0;
};

// What every kernel does to its tile, round by round.
std::string passes_text(const fft::PlannedProgram& planned) {
  std::string text;
  for (const fft::PlannedPass& pass : planned.passes) {
    const fft::PassSpec& spec = pass.spec;
    text += fmt::format("{}: {}\n  {} tiles of {} values, {} threads{}\n", spec.name, spec.title, fft::tile_count(spec),
                        fft::tile_values(spec), spec.threads,
                        spec.cluster > 1 ? fmt::format(", {} blocks a tile", spec.cluster) : "");
    for (const fft::Round& round : spec.rounds) {
      const auto names = [&](const std::vector<int>& atoms) {
        std::string list;
        for (const int atom : atoms) {
          const fft::Atom& one = spec.atoms[static_cast<std::size_t>(atom)];
          list += fmt::format(" {}({})", one.name, one.size);
        }
        return list.empty() ? std::string(" -") : list;
      };
      text += fmt::format("  round: registers{}; threads{}", names(round.registers), names(round.threads));
      for (const fft::Transform& transform : round.transforms)
        text += fmt::format("; dft{}{}", names(transform.digits), transform.period > 1 ? " tw" : "");
      text += "\n";
    }
  }
  return text;
}

std::string launches_text(const generator::GpuProgram& program) {
  std::vector<std::vector<std::string>> rows{{"kernel", "grid", "block", "cluster", "shared", "bytes", "flops"}};
  for (const generator::Launch& launch : program.launches) {
    const generator::KernelSource& kernel = program.kernels[static_cast<std::size_t>(launch.kernel)];
    rows.push_back({kernel.entry, fmt::format("{}", launch.grid[0]), fmt::format("{}", kernel.block[0]),
                    fmt::format("{}", kernel.cluster[0]), fmt::format("{}", kernel.shared_bytes),
                    fmt::format("{}", launch.bytes), fmt::format("{:.0f}", launch.flops)});
  }
  std::string text = table_text(rows, {1, 2, 3, 4, 5, 6});
  for (std::size_t i = 0; i < program.workspace_bytes.size(); ++i)
    text += fmt::format("workspace {}: {} bytes\n", i, program.workspace_bytes[i]);
  return text;
}

std::string kernels_text(const generator::GpuProgram& program) {
  std::string text;
  for (const generator::KernelSource& kernel : program.kernels) text += kernel.text + "\n";
  return text;
}

std::string text_of(const Arguments& arguments) {
  if (arguments.codelet > 0) {
    const fft::Codelet codelet = fft::make_codelet(arguments.codelet);
    return fmt::format("// {}\n{}", codelet.algorithm, fft::codelet_text(codelet));
  }
  const DeviceTraits device = *generator::known_device(arguments.device);
  const fft::FftPlan plan = fft::bind(fft_plan_argument(arguments.plan), device, arguments.batch);
  if (arguments.stage == "plan") return fft::to_text(plan) + "\n";
  fft::EmitOptions options;
  options.n = fft::lengths(plan);
  options.precision = plan.precision;
  options.in_place = plan.place == Place::in;
  options.sign = arguments.sign;
  options.batch = arguments.batch;
  options.device = device;
  if (arguments.stage == "passes") return passes_text(fft::plan_passes(plan, options));
  const generator::GpuProgram program = fft::emit_program(plan, options);
  if (arguments.stage == "launches") return launches_text(program);
  if (arguments.stage == "kernels") return kernels_text(program);
  return fft::emit_standalone(program, plan, options);
}

void emit_command(const Arguments& arguments) {
  if (arguments.plan.empty() == (arguments.codelet == 0))
    throw UsageError("either a plan or --codelet", "`fourtune emit --help` has an example");
  const std::string text = text_of(arguments);
  if (arguments.output.empty()) {
    fmt::print("{}", text);
    return;
  }
  std::ofstream file(arguments.output, std::ios::binary);
  file << text;
  if (!file.flush()) throw Failure(fmt::format("{} could not be written", arguments.output));
}

}  // namespace

void add_emit(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("emit", "Write the CUDA source of a GPU FFT plan as one file that checks itself");
  command->add_option("PLAN", arguments->plan, "A plan in the X/Y/Z notation")->type_name("TEXT");
  command->add_option("-o,--output", arguments->output, "Write there instead of to standard output")->type_name("FILE");
  command
      ->add_option(
          "--stage", arguments->stage,
          "What to write: the plan with all parameters, the kernels' passes, the launches, the kernels' text, or "
          "the whole program")
      ->check(CLI::IsMember({"plan", "passes", "launches", "kernels", "standalone"}))
      ->capture_default_str();
  command->add_option("--codelet", arguments->codelet, "The straight-line DFT of this size alone")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  command
      ->add_option("--device", arguments->device,
                   "Parameters that the plan leaves open, and grids, are chosen for this device")
      ->check(CLI::IsMember(generator::known_device_names()))
      ->capture_default_str();
  command->add_option("--sign", arguments->sign, "Of the exponent")
      ->check(CLI::IsMember({-1, 1}))
      ->capture_default_str();
  command->add_option("--batch", arguments->batch, "Transforms at once")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N");
  command->footer(
      "Example:\n"
      "  fourtune emit '{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}:order=natural' -o fft256.cu\n"
      "  nvcc -O3 -arch=sm_90 fft256.cu -o fft256 && ./fft256");
  command->callback([arguments] { emit_command(*arguments); });
}

}  // namespace fourtune::tools
