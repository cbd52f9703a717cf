// The text of --help: as CLI11 makes it, but broken at the width of the screen.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace fourtune::tools {

class HelpFormatter : public CLI::Formatter {
 public:
  // For this screen; at most 100 columns, which is as wide as sentences read well.
  HelpFormatter();
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* command) const override;
  std::string make_footer(const CLI::App* command) const override;

 private:
  std::string entry(const std::string& name, const std::string& description) const;
  // Paragraphs are filled; lines that begin with a blank (examples) stay as they are.
  std::string filled(const std::string& text) const;
  std::size_t width_;
};

}  // namespace fourtune::tools
