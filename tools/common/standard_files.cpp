#include "tools/common/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

namespace fourtune::tools {

void occupy_standard_files() noexcept {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
    if (::fcntl(file, F_GETFD) < 0) {
      const int opened = ::open("/dev/null", O_RDONLY);  // the lowest free number, which is this one
      if (opened > file) ::close(opened);
    }
}

}  // namespace fourtune::tools
