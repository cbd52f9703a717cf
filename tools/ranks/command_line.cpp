// Declares the subcommands of `fourtune-ranks`, runs the requested one, turns failures into exit codes.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "fourtune/fourtune.h"
#include "fourtune/status.h"
#include "tools/common/errors.h"
#include "tools/common/say.h"
#include "tools/ranks/commands.h"

namespace fourtune::tools {

int run_ranks_command_line(int argc, char** argv, bool speaks) {
  const auto complain = [speaks](const std::string& message, const std::string& hint, int code) {
    if (!speaks) return code;
    say("fourtune-ranks: error: {}\n", message);
    if (!hint.empty()) say("hint: {}\n", hint);
    return code;
  };
  CLI::App app("Runs transforms on the ranks of an mpirun.");
  app.name("fourtune-ranks");
  app.set_version_flag("--version", std::string("fourtune-ranks ") + fourtune_version());
  app.require_subcommand(1);
  add_ranks_run(app);
  add_ranks_soak(app);
  add_ranks_bench(app);
  std::string command_line;
  for (int i = 0; i < argc; ++i) command_line += (i == 0 ? "" : " ") + std::string(argv[i]);
  add_ranks_tune(app, command_line);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return speaks ? app.exit(error) : 0;
    return complain(error.what(), "`fourtune-ranks --help` lists the commands", kExitUsage);
  } catch (const Failure& error) {
    return complain(error.what(), error.hint(), error.code());
  } catch (const UsageError& error) {
    return complain(error.what(), error.hint(), kExitUsage);
  } catch (const Error& error) {
    const bool usage = error.status() < Status::out_of_memory;
    const bool plan = error.status() == Status::invalid_plan;
    return complain(error.what(), plan ? "--plan ranks=slabs alone leaves the plan of each rank to the library" : "",
                    usage ? kExitUsage : kExitFailure);
  } catch (const std::exception& error) {
    // Ranks fail together where the library, or the command line, finds something wrong. This rank alone may have
    // failed here, and the others would wait for it.
    const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    say("fourtune-ranks: error: rank {}: {}\n", rank, memory ? "not enough memory" : error.what());
    return MPI_Abort(MPI_COMM_WORLD, kExitFailure);
  }
}

}  // namespace fourtune::tools
