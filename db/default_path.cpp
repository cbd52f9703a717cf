// The location of the user database: in the user's folder, unless our environment variable names another one.
#include <cstdlib>

#include "base/user_folder.h"
#include "db/tuning_store.h"

namespace fourtune::db {

std::filesystem::path default_database_path() {
  if (const char* const named = std::getenv("FOURTUNE_DB"); named && *named) return named;
  const auto folder = user_data_folder();
  return folder.empty() ? folder : folder / "tuning.db";
}

}  // namespace fourtune::db
