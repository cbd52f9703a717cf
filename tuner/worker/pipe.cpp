#include "tuner/worker/pipe.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace fourtune::tuner {

LinePipe::LinePipe(LinePipe&& other) noexcept
    : read_fd_(std::exchange(other.read_fd_, -1)),
      write_fd_(std::exchange(other.write_fd_, -1)),
      pending_(std::move(other.pending_)) {}

LinePipe& LinePipe::operator=(LinePipe&& other) noexcept {
  std::swap(read_fd_, other.read_fd_);
  std::swap(write_fd_, other.write_fd_);
  std::swap(pending_, other.pending_);
  return *this;
}

LinePipe::~LinePipe() {
  if (read_fd_ >= 0) ::close(read_fd_);
  if (write_fd_ >= 0 && write_fd_ != read_fd_) ::close(write_fd_);
}

bool LinePipe::write(const std::string& line) {
  std::size_t done = 0;
  while (done < line.size()) {
    // send() on a socket can be told not to raise SIGPIPE; a plain pipe only supports write().
    ssize_t count = ::send(write_fd_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == ENOTSOCK) count = ::write(write_fd_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

LinePipe::Read LinePipe::read(std::string& line, double seconds) {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = pending_.find('\n', searched);
    if (end != std::string::npos) {
      line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return Read::line;
    }
    searched = pending_.size();
    int wait_ms = -1;
    if (seconds >= 0) {
      const double left = seconds - std::chrono::duration<double>(steady_clock::now() - start).count();
      wait_ms = static_cast<int>(std::clamp(left * 1000 + 0.999, 0.0, 1e6));
    }
    pollfd poll_fd{read_fd_, POLLIN, 0};
    const int ready = ::poll(&poll_fd, 1, wait_ms);
    if (ready == 0) return Read::timeout;
    if (ready < 0 && errno == EINTR) continue;
    char buffer[65536];
    const ssize_t count = ::read(read_fd_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Read::closed;
    pending_.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace fourtune::tuner
