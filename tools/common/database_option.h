// The option --db: the tuning database that a subcommand works on.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace fourtune::tools {

// Declares --db PATH. The returned path is that of the user's database unless the option is given.
std::shared_ptr<std::string> add_database_option(CLI::App& command);

// A database that the user named must exist and be valid; otherwise throws UsageError or db::StoreError. Does nothing
// when the option was not given: the library works without a user database.
void require_database(const std::string& option);

// The path that the library uses when no option is given.
std::filesystem::path database_path(const std::string& option);

}  // namespace fourtune::tools
