#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>

#include "runtime/backend.h"
#include "tools/commands.h"
#include "tools/errors.h"
#include "tuner/worker.h"

namespace fourtune::tools {

void add_worker(CLI::App& app) {
  auto backend = std::make_shared<std::string>("cpu");
  auto recorded = std::make_shared<std::string>();
  CLI::App* worker = app.add_subcommand("worker", "Measures plans for `fourtune tune`; not for people");
  worker->group("");
  worker->add_option("--backend", *backend, "Backend to measure on")->type_name("NAME");
  worker->add_option("--recorded", *recorded, "Folder of recorded points")->type_name("DIR");
  auto database = std::make_shared<std::string>();
  worker->add_option("--db", *database, "Database that keeps compiled kernels")->type_name("PATH");
  worker->footer("Example:\n  fourtune tune --problems builtin:quick     (starts it)");
  worker->callback([backend, recorded, database] {
    // Backends ask for it when they are made, and this process has no other use for one.
    if (!database->empty()) ::setenv("FOURTUNE_DB", database->c_str(), 1);
    if (tuner::worker_main(runtime::find_backend(*backend), *recorded) != 0)
      throw Failure("the worker lost its parent");
  });
}

}  // namespace fourtune::tools
