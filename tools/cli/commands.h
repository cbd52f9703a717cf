// The subcommands of `fourtune`. Each add_* function declares the arguments, help and example; the subcommand's
// callback does the work. Failures are thrown (errors.h, fourtune/status.h).
// Each is in its cmd_*.cpp; command_line.cpp puts them together, main.cpp runs that.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fourtune::tools {

int run_command_line(int argc, char** argv);  // the exit code

void add_tune(CLI::App& app, const std::string& command_line);  // command_line is stored in the database
void add_merge(CLI::App& app);
void add_report(CLI::App& app);
void add_exchange(CLI::App& app);  // export and import
void add_show(CLI::App& app);
void add_explain(CLI::App& app);
void add_plan(CLI::App& app);
void add_emit(CLI::App& app);
void add_run(CLI::App& app);
void add_warm(CLI::App& app);
void add_calibrate(CLI::App& app);
void add_soak(CLI::App& app);
void add_doctor(CLI::App& app);
void add_worker(CLI::App& app);  // hidden: the child process in which `tune` measures
void add_pack(CLI::App& app);
void add_version(CLI::App& app);
void add_completion(CLI::App& app);  // call it after all others, because it lists them

}  // namespace fourtune::tools
