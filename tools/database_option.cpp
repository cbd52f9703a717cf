#include "tools/database_option.h"

#include <CLI/CLI.hpp>

#include "db/tuning_store.h"

namespace fourtune::tools {

std::shared_ptr<std::string> add_database_option(CLI::App& command) {
  auto path = std::make_shared<std::string>();
  command.add_option("--db", *path, "Tuning database (default: $FOURTUNE_DB, else ~/.local/share/fourtune/tuning.db)")
      ->type_name("PATH");
  return path;
}

std::filesystem::path database_path(const std::string& option) {
  return option.empty() ? db::default_database_path() : std::filesystem::path(option);
}

}  // namespace fourtune::tools
