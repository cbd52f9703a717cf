#include "tools/bench.h"

#include <CLI/CLI.hpp>

#include "tools/errors.h"

// Weak, so that the real one may live in any file of this folder.
__attribute__((weak)) void add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Run the papers' experiments and compare with other libraries");
  bench->footer("Example:\n  fourtune bench");
  bench->callback([] { throw fourtune::tools::Failure("this build has no benchmark suites"); });
}
