// Reads and writes lines over a pair of file descriptors, with deadlines.
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

  // Writes the whole text (a line ends with a newline). Returns false when the other side has hung up. Never raises
  // SIGPIPE if the descriptors are sockets.
  bool write(const std::string& line);

  enum class Read { line, timeout, closed };
  // Waits at most `seconds` (forever if negative) for a whole line, which is returned without its newline.
  Read read(std::string& line, double seconds);

 private:
  int read_fd_ = -1, write_fd_ = -1;
  std::string pending_;
};

}  // namespace fourtune::tuner
