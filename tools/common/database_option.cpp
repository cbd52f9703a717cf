#include "tools/common/database_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <system_error>

#include "db/pack.h"
#include "db/tuning_store.h"
#include "tools/common/errors.h"

namespace fourtune::tools {

std::shared_ptr<std::string> add_database_option(CLI::App& command) {
  auto path = std::make_shared<std::string>();
  command.add_option("--db", *path, "Tuning database (default: $FOURTUNE_DB, else ~/.local/share/fourtune/tuning.db)")
      ->type_name("PATH");
  return path;
}

void require_database(const std::string& option) {
  if (option.empty()) return;
  std::error_code error;
  if (!std::filesystem::exists(option, error))
    throw UsageError(fmt::format("{}: no such database", option), "`fourtune tune PROBLEM --db PATH` makes one");
  if (db::is_pack(option))
    db::Pack::open(option);
  else
    db::TuningStore::open_for_reading(option);
}

std::filesystem::path database_path(const std::string& option) {
  return option.empty() ? db::default_database_path() : std::filesystem::path(option);
}

}  // namespace fourtune::tools
