#include "base/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "fourtune/status.h"

namespace fourtune {

std::optional<LockedFile> LockedFile::open(const std::string& path, int tries) {
  for (int attempt = 0; attempt < tries;) {
    // O_NONBLOCK: a named pipe must not make anybody wait.
    const int descriptor =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (descriptor < 0) throw Error(Status::io, path + " cannot be opened: " + std::strerror(errno));
    LockedFile file(path, descriptor);
    struct stat mine {
    }, named{};
    if (::fstat(descriptor, &mine) != 0 || !S_ISREG(mine.st_mode))
      throw Error(Status::io, path + " is not a regular file");
    // A file system that has no locks cannot say that somebody holds one.
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ++attempt;
      ::usleep(1000);
    } else if (::lstat(path.c_str(), &named) == 0 && named.st_ino == mine.st_ino && named.st_dev == mine.st_dev) {
      return file;
    }
  }
  return std::nullopt;
}

LockedFile::LockedFile(LockedFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
LockedFile::~LockedFile() {
  if (file_ >= 0) ::close(file_);
}

void LockedFile::remove() noexcept { ::unlink(path_.c_str()); }

}  // namespace fourtune
