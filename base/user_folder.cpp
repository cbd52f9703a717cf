#include "base/user_folder.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace fourtune {
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

std::filesystem::path user_data_folder() {
  if (const auto data = variable("XDG_DATA_HOME"); data.is_absolute()) return data / "fourtune";
  const auto user = home();
  return user.empty() ? user : user / ".local" / "share" / "fourtune";
}

}  // namespace fourtune
