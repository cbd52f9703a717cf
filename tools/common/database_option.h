// --db: which tuning database a subcommand works on.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace fourtune::tools {

// Declares --db PATH; the path behind the pointer is the user's own database unless the option is given.
std::shared_ptr<std::string> add_database_option(CLI::App& command);

// A database that the user named must be there and be one: throws UsageError or db::StoreError. Nothing happens when
// the option was not given: the library goes on without its own database.
void require_database(const std::string& option);

// Where the library looks when nothing is said.
std::filesystem::path database_path(const std::string& option);

}  // namespace fourtune::tools
