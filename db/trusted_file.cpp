#include "db/trusted_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace fourtune::db {
namespace {

namespace fs = std::filesystem;

// An open file or folder, so that all checks apply to the same object.
class Opened {
 public:
  explicit Opened(const fs::path& path) : descriptor_(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::fstat(descriptor_, &status_) != 0) error_ = errno;
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int error() const { return error_; }
  const struct stat& status() const { return status_; }

 private:
  int descriptor_;
  int error_ = 0;
  struct stat status_ {};
};

enum class Kind { file, folder, folder_above };

// Empty when there is no fault, or when a file does not exist.
std::string fault_of(const fs::path& path, Kind kind) {
  const Opened opened(path);
  if (opened.error() == ENOENT && kind == Kind::file) return {};
  if (opened.error() != 0)
    return fmt::format("'{}' cannot be looked at: {}", path.string(), std::strerror(opened.error()));
  const struct stat& is = opened.status();
  if (kind == Kind::file ? !S_ISREG(is.st_mode) : !S_ISDIR(is.st_mode))
    return fmt::format("'{}' is not a {}", path.string(), kind == Kind::file ? "regular file" : "folder");
  if (is.st_uid != 0 && is.st_uid != ::geteuid())
    return fmt::format("'{}' belongs to user {}; it must belong to user {} or to root", path.string(), is.st_uid,
                       ::geteuid());
  const bool others_write = (is.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!others_write || (kind == Kind::folder_above && (is.st_mode & S_ISVTX) != 0)) return {};
  return fmt::format("'{}' can be written by others (mode {:o}); `chmod go-w` on it would do", path.string(),
                     is.st_mode & 07777u);
}

}  // namespace

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::absolute(path, error);
  if (!error) real = fs::weakly_canonical(real, error);
  return error || real.empty() ? path : real;
}

std::string why_untrusted(const fs::path& path) {
  const fs::path real = real_path(path);
  if (!real.is_absolute()) return fmt::format("'{}' is nowhere that can be found", path.string());
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    fs::path file = real;
    file += suffix;
    if (std::string fault = fault_of(file, Kind::file); !fault.empty()) return fault;
  }
  Kind kind = Kind::folder;
  for (fs::path folder = real.parent_path();; folder = folder.parent_path()) {
    std::error_code ignored;
    // A folder that does not exist yet would be created by us.
    if (fs::exists(folder, ignored) || !folder.has_relative_path())
      if (std::string fault = fault_of(folder, kind); !fault.empty()) return fault;
    kind = Kind::folder_above;
    if (!folder.has_relative_path()) return {};
  }
}

}  // namespace fourtune::db
