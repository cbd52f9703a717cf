// `fourtune emit`: prints the CUDA text of a GPU FFT plan or of a problem, and every step on the way to it. No GPU is
// needed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "generator/codegen/fft/codelet/codelet.h"
#include "generator/codegen/fft/emit/emit.h"
#include "generator/plan/fft/geometry.h"
#include "generator/plan/plan.h"
#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/gpu_fft/program.h"
#include "tools/cli/commands.h"
#include "tools/cli/emit_nufft.h"
#include "tools/cli/fft_plan_argument.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_argument.h"
#include "tools/common/numbers.h"
#include "tuner/report/table.h"

namespace fourtune::tools {
namespace {

namespace fft = generator::fft;

struct EmitArguments {
  std::string plan;          // or the token of a problem
  std::string problem_plan;  // the plan of that problem
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
                        spec.cluster > 1 ? fmt::format(", {} blocks per tile", spec.cluster) : "");
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
      for (const fft::Dft& transform : round.transforms)
        text += fmt::format("; dft{}{}", names(transform.digits), transform.period > 1 ? " tw" : "");
      text += "\n";
    }
  }
  return text;
}

using Rows = std::vector<std::vector<std::string>>;

void add_launches(Rows& rows, const generator::GpuProgram& program) {
  for (const generator::Launch& launch : program.launches) {
    const generator::KernelSource& kernel = program.kernels[static_cast<std::size_t>(launch.kernel)];
    const bool flat = launch.grid[1] * launch.grid[2] == 1;
    rows.push_back(
        {kernel.entry, flat ? fmt::format("{}", launch.grid[0]) : fmt::format("{}", fmt::join(launch.grid, "x")),
         fmt::format("{}", kernel.block[0]), fmt::format("{}", kernel.cluster[0]),
         fmt::format("{}", kernel.shared_bytes), fmt::format("{}", launch.bytes), fmt::format("{:.0f}", launch.flops)});
  }
}

Rows launch_head() { return {{"kernel", "grid", "block", "cluster", "shared", "bytes", "flops"}}; }

std::string launches_text(const generator::GpuProgram& program) {
  Rows rows = launch_head();
  add_launches(rows, program);
  std::string text = tuner::table_text(rows, {{1, 2, 3, 4, 5, 6}}, tuner::screen_of(stdout));
  for (std::size_t i = 0; i < program.workspace_bytes.size(); ++i)
    text += fmt::format("workspace {}: {} bytes\n", i, program.workspace_bytes[i]);
  return text;
}

std::string kernels_text(const generator::GpuProgram& program) {
  std::string text;
  for (const generator::KernelSource& kernel : program.kernels) text += kernel.text + "\n";
  return text;
}

// The same of a nonuniform transform: all launches of set_points, then those of a chunk of execute.
std::string nufft_launches_text(const generator::nufft::Standalone& transform) {
  Rows rows = launch_head();
  for (const auto* parts : {&transform.extents, &transform.set_points, &transform.execute[0]})
    for (const auto& part : *parts) add_launches(rows, part.program);
  std::string text = tuner::table_text(rows, {{1, 2, 3, 4, 5, 6}}, tuner::screen_of(stdout));
  for (const auto& slot : transform.slots)
    if (slot.bytes > 0) text += fmt::format("{}: {} bytes\n", slot.name, slot.bytes);
  return text;
}

std::string nufft_kernels_text(const generator::nufft::Standalone& transform) {
  std::vector<generator::KernelSource> kernels;
  for (const auto* parts : {&transform.extents, &transform.set_points, &transform.execute[0], &transform.execute[1]})
    for (const auto& part : *parts)
      for (const generator::KernelSource& kernel : part.program.kernels)
        if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) kernels.push_back(kernel);
  std::string text;
  for (const generator::KernelSource& kernel : kernels) text += kernel.text + "\n";
  return text;
}

bool is_token(const std::string& text) { return text.rfind("fft:", 0) == 0 || text.rfind("nufft:", 0) == 0; }

// What is emitted: a plan in the notation, or the program of a problem, which may have no such plan.
struct Emitted {
  DeviceTraits device;
  fft::EmitOptions options;
  std::optional<fft::FftPlan> notation;
  std::optional<Problem> problem;
  generator::Plan plan;  // plan of the problem
};

Emitted subject_of_plan(const EmitArguments& arguments, const DeviceTraits& device) {
  Emitted out{device, {}, fft::bind(fft_plan_argument(arguments.plan), device, arguments.batch), {}, {}};
  fft::EmitOptions& options = out.options;
  options.n = fft::lengths(*out.notation);
  options.precision = out.notation->precision;
  options.in_place = out.notation->place == Place::in;
  options.sign = arguments.sign;
  options.batch = arguments.batch;
  options.device = device;
  return out;
}

generator::Plan plan_of_problem(const EmitArguments& arguments, const Problem& problem, const DeviceTraits& device) {
  if (arguments.sign != -1 || arguments.batch != 1)
    throw UsageError("--sign and --batch are for plans", "a problem says them itself, as batch=8,sign=1");
  if (arguments.problem_plan.empty() && problem.kind == Kind::nufft) return untuned_nufft_plan(problem, device);
  // The untuned plan may call the library, but emit needs kernels.
  const std::string text = arguments.problem_plan.empty() ? "cuda;fft=plain" : arguments.problem_plan;
  generator::Plan plan = generator::parse_plan(text, problem);
  if (!generator::is_gpu(plan.backend))
    throw UsageError(text + ": this plan has no kernels of GPUs", "a plan of the cuda backend, as cuda;fft=plain");
  return plan;
}

Emitted subject_of_problem(const EmitArguments& arguments, const DeviceTraits& device) {
  Emitted out{device, {}, {}, parse_typed_problem(arguments.plan), {}};
  const Problem& problem = *out.problem;
  out.plan = plan_of_problem(arguments, problem, device);
  if (problem.kind == Kind::nufft) return out;
  const generator::GpuFftChoice& choice = out.plan.gpu().fft;
  if (choice.family == generator::GpuFftFamily::interleaved) {
    out.notation = choice.plan;
    out.options = generator::notation_options(problem);
  } else {
    out.options = generator::emit_options(problem);
  }
  out.options.device = device;
  return out;
}

bool dense_complex(const Problem& problem) {
  return problem.fft_type == FftType::c2c && !problem.input_layout && !problem.output_layout &&
         problem.order != SpectrumOrder::unreversed;
}

generator::GpuProgram program_of(const Emitted& subject) {
  if (!subject.problem) return fft::emit_program(*subject.notation, subject.options);
  auto program = generator::gpu_fft_program(*subject.problem, subject.plan, subject.device);
  if (!program) throw UsageError("fft=cufft is the library: there is nothing to emit", "--plan 'cuda;fft=plain'");
  return *program;
}

// Shared memory and capabilities are exact; the number of registers is an estimate, because the compiler decides it.
void expect_fit(const fft::FftPlan& plan, const DeviceTraits& device) {
  for (const fft::Violation& broken : fft::check_device(plan, device))
    if (broken.rule == fft::Rule::shared_memory || broken.rule == fft::Rule::capability)
      throw UsageError(fmt::format("{} ({})", broken.message, device.name), "--device names the GPU that it is for");
}

std::string text_of(const EmitArguments& arguments) {
  if (arguments.codelet > 0) {
    const fft::Codelet codelet = fft::make_codelet(arguments.codelet);
    if (arguments.stage == "dag") return fft::dag_text(codelet);
    return fmt::format("// {}\n{}", codelet.algorithm, fft::codelet_text(codelet));
  }
  const DeviceTraits device = gpu_traits(arguments.device);
  const Emitted subject =
      is_token(arguments.plan) ? subject_of_problem(arguments, device) : subject_of_plan(arguments, device);
  const std::string title =
      subject.problem ? generator::to_text(subject.plan, *subject.problem) : fft::to_text(*subject.notation);
  if (arguments.stage == "plan") return title + "\n";
  if (arguments.stage == "dag")
    throw UsageError("--stage dag is of a codelet", "`fourtune emit --codelet 16 --stage dag`");
  if (subject.notation) expect_fit(*subject.notation, device);
  if (arguments.stage == "passes") {
    if (!subject.notation)
      throw UsageError(title + " has no passes in the notation", "--stage launches, or --plan with a notation");
    return passes_text(fft::plan_passes(*subject.notation, subject.options));
  }
  if (subject.problem && subject.problem->kind == Kind::nufft) {
    const generator::nufft::Standalone transform = standalone_nufft(*subject.problem, subject.plan, device);
    if (arguments.stage == "launches") return nufft_launches_text(transform);
    return arguments.stage == "kernels" ? nufft_kernels_text(transform) : emit_standalone(transform);
  }
  if (arguments.stage == "standalone" && subject.problem && !dense_complex(*subject.problem))
    throw UsageError(
        "a program that checks itself is written of complex transforms without strides and with a natural input",
        "--stage kernels has the text");
  const generator::GpuProgram program = program_of(subject);
  if (arguments.stage == "launches") return launches_text(program);
  if (arguments.stage == "kernels") return kernels_text(program);
  if (!subject.problem) return fft::emit_standalone(program, *subject.notation, subject.options);
  return fft::emit_standalone(program, fmt::format("{} {}", to_token(*subject.problem), title), subject.options);
}

void emit_command(const EmitArguments& arguments) {
  if (arguments.plan.empty() == (arguments.codelet == 0))
    throw UsageError("either a plan or --codelet", "`fourtune emit --help` has an example");
  if (!arguments.problem_plan.empty() && !is_token(arguments.plan))
    throw UsageError("--plan is the plan of a problem", "`fourtune emit fft:type=c2c,n=64,prec=f32 --plan ...`");
  const std::string text = text_of(arguments);
  if (arguments.output.empty()) {
    fmt::print("{}", text);
    return;
  }
  std::ofstream file(arguments.output, std::ios::binary);
  file << text;
  if (!file.flush()) throw cannot_write(arguments.output);
}

}  // namespace

void add_emit(CLI::App& app) {
  auto arguments = std::make_shared<EmitArguments>();
  CLI::App* command =
      app.add_subcommand("emit", "Write the CUDA source of a GPU transform as one file that checks itself");
  command->add_option("PLAN", arguments->plan, "An FFT plan in the X/Y/Z/W notation, or the token of a problem")
      ->type_name("TEXT");
  command
      ->add_option("--plan", arguments->problem_plan,
                   "The problem's plan (default: the untuned one with our FFT kernels; of an FFT cuda;fft=plain)")
      ->type_name("TEXT");
  command->add_option("-o,--output", arguments->output, "Write there instead of to standard output")->type_name("FILE");
  command
      ->add_option("--stage", arguments->stage,
                   "What to write: the plan with all parameters, the kernels' passes, the launches, the kernels' text, "
                   "the whole program, or a codelet's operations before they are scheduled")
      ->check(CLI::IsMember({"plan", "passes", "launches", "kernels", "standalone", "dag"}))
      ->capture_default_str();
  command->add_option("--codelet", arguments->codelet, "Write only the straight-line DFT of this size")
      ->check(between(1, 64))
      ->type_name("N");
  add_gpu_option(*command, arguments->device, "GPU for which to choose grids and what the plan leaves open")
      ->capture_default_str();
  command->add_option("--sign", arguments->sign, "Sign of the exponent")
      ->check(CLI::IsMember({-1, 1}))
      ->capture_default_str();
  command->add_option("--batch", arguments->batch, "Number of transforms in a batch")
      ->check(between(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str()
      ->type_name("N");
  command->footer(
      "Example:\n"
      "  fourtune emit '{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}:order=natural' -o fft256.cu\n"
      "  nvcc -O3 -arch=sm_90 fft256.cu -o fft256 && ./fft256\n"
      "  fourtune emit fft:type=r2c,n=134x12,prec=f64 --stage kernels\n"
      "  fourtune emit nufft:type=1,n=128x128,m=100000,prec=f32,tol=1e-5 -o nufft.cu\n"
      "  nvcc -O3 -std=c++17 -arch=sm_90 nufft.cu -o nufft && ./nufft cluster launches");
  command->callback([arguments] { emit_command(*arguments); });
}

}  // namespace fourtune::tools
