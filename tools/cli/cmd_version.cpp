#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "fourtune/fourtune.h"
#include "tools/cli/commands.h"

namespace fourtune::tools {

void add_version(CLI::App& app) {
  CLI::App* version = app.add_subcommand("version", "Print the version");
  version->footer("Example:\n  fourtune version");
  version->callback([] { fmt::print("fourtune {}\n", fourtune_version()); });
}

}  // namespace fourtune::tools
