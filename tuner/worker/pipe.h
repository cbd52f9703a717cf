// Lines over a pair of file descriptors, with deadlines.
#pragma once

#include <string>

namespace fourtune::tuner {

// Owns two descriptors. Not thread-safe.
class LinePipe {
 public:
  LinePipe() = default;
  LinePipe(int read_fd, int write_fd) : read_fd_(read_fd), write_fd_(write_fd) {}
  LinePipe(LinePipe&& other) noexcept;
  LinePipe& operator=(LinePipe&& other) noexcept;
  ~LinePipe();

  // Writes all of it (a line ends with a newline). False when the other side has hung up. Never raises SIGPIPE when the
  // descriptors are sockets.
  bool write(const std::string& line);

  enum class Read { line, timeout, closed };
  // Waits at most `seconds` (negative: for ever) for a whole line, without its newline.
  Read read(std::string& line, double seconds);

 private:
  int read_fd_ = -1, write_fd_ = -1;
  std::string pending_;
};

}  // namespace fourtune::tuner
