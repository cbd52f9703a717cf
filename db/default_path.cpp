// The location of the user database: the XDG base directory specification, preceded by our environment variable.
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "db/tuning_store.h"

namespace fourtune::db {
namespace {

std::filesystem::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::filesystem::path home() {
  if (auto path = variable("HOME"); !path.empty()) return path;
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) return {};
  return found->pw_dir;
}

}  // namespace

std::filesystem::path default_database_path() {
  if (auto path = variable("FOURTUNE_DB"); !path.empty()) return path;
  if (const auto data = variable("XDG_DATA_HOME"); data.is_absolute()) return data / "fourtune" / "tuning.db";
  const auto user = home();
  return user.empty() ? user : user / ".local" / "share" / "fourtune" / "tuning.db";
}

}  // namespace fourtune::db
