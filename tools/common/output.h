// How a subcommand prints its results: --format NAME, --json, --wide. The same words mean the same everywhere.
#pragma once

#include <string>
#include <vector>

#include "tuner/report/json_text.h"
#include "tuner/report/screen.h"

namespace CLI {
class App;
}

namespace fourtune::tools {

struct Output {
  std::string format = "table";
  bool wide = false;
  bool json() const { return format == "json"; }
  tuner::Screen screen() const { return tuner::screen_of(stdout, wide); }
};

// Declares --format with these names, the first being the default; --json where "json" is one of them; and --wide. The
// command's arguments must outlive the parse.
void add_output_options(CLI::App& command, Output& output, const std::vector<std::string>& formats = {"table", "json"});
// --wide alone.
void add_wide_option(CLI::App& command, bool& wide);

using tuner::json_text;

}  // namespace fourtune::tools
