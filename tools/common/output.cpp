#include "tools/common/output.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace fourtune::tools {

void add_output_options(CLI::App& command, Output& output, const std::vector<std::string>& formats) {
  CLI::Option* const format = command.add_option("--format", output.format, "How to print")
                                  ->check(CLI::IsMember(formats))
                                  ->capture_default_str();
  if (std::find(formats.begin(), formats.end(), "json") != formats.end())
    command
        .add_flag_callback(
            "--json", [&output] { output.format = "json"; }, "Short for --format json")
        ->excludes(format);
  add_wide_option(command, output.wide);
}

void add_wide_option(CLI::App& command, bool& wide) {
  command.add_flag("--wide", wide, "Print one line per row and cut nothing, however wide the terminal is");
}

}  // namespace fourtune::tools
