// `fourtune warm`: compiles ahead what transforms will need.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "fourtune/transform.h"
#include "tools/cli/commands.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_argument.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/problem_list.h"
#include "tools/common/progress.h"
#include "tools/common/stop_on_signal.h"
#include "tools/common/stopwatch.h"

namespace fourtune::tools {
namespace {

struct WarmArguments {
  std::vector<std::string> problems;
  std::string list, backend = "cuda", gpu;
  int threads = 0;
  bool quiet = false;
};

void warm(const WarmArguments& arguments) {
  std::vector<std::string> tokens;
  for (const std::string& token : arguments.problems) tokens.push_back(to_token(problem_from_argument(token)));
  if (!arguments.list.empty())
    for (const Problem& problem : problems_from_file(arguments.list)) tokens.push_back(to_token(problem));
  if (tokens.empty()) throw UsageError("no problem is given", "name problems, or a list with --problems FILE");
  if (names_absent_device(arguments.gpu))
    throw UsageError(fmt::format("--device {}: this prepares a device of this machine", text::shown(arguments.gpu)),
                     "name it by its number, from 0");
  Options options;
  options.backend = arguments.backend;
  options.device = gpu_number(arguments.gpu);
  options.threads = arguments.threads;
  checked_backend(options.backend, options.device);
  const StopOnSignal signal;
  const Stopwatch watch;
  ProgressLine line(stderr);
  prepare(tokens, options, [&](std::size_t done, std::size_t all, const std::string& problem) {
    const double seconds = watch.seconds();
    if (!arguments.quiet)
      line.show(seconds, seconds * static_cast<double>(all - done) / static_cast<double>(done),
                fmt::format("[{}/{}] {}", done, all, problem));
    return !signal.raised();
  });
  line.close();
  fmt::print("{} problem{} ready, after {:.1f} s\n", tokens.size(), tokens.size() == 1 ? " is" : "s are",
             watch.seconds());
}

}  // namespace

void add_warm(CLI::App& app) {
  auto arguments = std::make_shared<WarmArguments>();
  CLI::App* command = app.add_subcommand("warm", "Compile ahead what transforms need, so that first use does not wait");
  command->add_option("PROBLEM", arguments->problems, "Problem tokens")->type_name("TOKEN");
  command->add_option("--problems", arguments->list, "Problems from a file, one per line, or builtin:quick and others")
      ->type_name("FILE");
  add_backend_option(*command, arguments->backend, "cuda");
  add_gpu_option(*command, arguments->gpu, "Device of the backend (default: 0)");
  command->add_option("--threads", arguments->threads, "Problems at once (default: as many as are useful)")
      ->check(between(0, 4096))
      ->type_name("N");
  command->add_flag("--quiet", arguments->quiet, "No progress");
  command->footer(
      "Kernels are kept in the user's database; a problem that fails does not keep others from being prepared.\n\n"
      "Example:\n"
      "  fourtune warm --problems builtin:quick\n"
      "  fourtune warm fft:type=c2c,n=256x256x256,prec=f32 --backend cuda");
  command->callback([arguments] { warm(*arguments); });
}

}  // namespace fourtune::tools
