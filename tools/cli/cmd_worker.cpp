#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>

#include "runtime/backend_table.h"
#include "tools/cli/commands.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tuner/worker/compiler_process.h"
#include "tuner/worker/worker.h"

namespace fourtune::tools {

void add_worker(CLI::App& app) {
  auto backend = std::make_shared<std::string>("cpu");
  auto recorded = std::make_shared<std::string>();
  CLI::App* worker = app.add_subcommand("worker", "Measures plans for `fourtune tune`; not for people");
  worker->group("");
  auto device = std::make_shared<int>(0);
  add_backend_option(*worker, *backend);
  add_device_option(*worker, *device);
  worker->add_option("--recorded", *recorded, "Folder of recorded points")->type_name("DIR");
  auto compiles = std::make_shared<bool>(false);
  worker->add_flag("--compile", *compiles, "Compile kernels for a worker, and measure nothing");
  auto database = std::make_shared<std::string>();
  worker->add_option("--db", *database, "Database that keeps compiled kernels")->type_name("PATH");
  worker->footer("Example:\n  fourtune tune --problems builtin:quick     (starts it)");
  worker->callback([backend, device, recorded, compiles, database] {
    // Backends read it when they are made, and this process needs no other database.
    if (!database->empty()) ::setenv("FOURTUNE_DB", database->c_str(), 1);
    if (*compiles) {
      const runtime::Backend* const known = runtime::known_backend(*backend);  // it needs no device
      tuner::compiler_main(known ? *known : runtime::find_backend(*backend));
      return;
    }
    tuner::WorkerSetup setup;
    setup.recorded = *recorded;
    setup.device = *device;
    setup.compiler = {"/proc/self/exe", "worker", "--compile", "--backend", *backend};
    if (tuner::worker_main(checked_backend(*backend, *device), setup) != 0) throw Failure("the worker lost its parent");
  });
}

}  // namespace fourtune::tools
