// The subcommands of `fourtune`. Each add_* declares its arguments, help and example, and does its work in the
// subcommand's callback; failures are thrown (errors.h, fourtune/status.h).
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fourtune::tools {

void add_tune(CLI::App& app, const std::string& command_line);  // the line goes into the database
void add_show(CLI::App& app);
void add_explain(CLI::App& app);
void add_plan(CLI::App& app);
void add_emit(CLI::App& app);
void add_run(CLI::App& app);
void add_soak(CLI::App& app);
void add_doctor(CLI::App& app);
void add_worker(CLI::App& app);  // hidden: the child process in which `tune` measures
void add_version(CLI::App& app);
void add_completion(CLI::App& app);  // after all others: it lists them

}  // namespace fourtune::tools
