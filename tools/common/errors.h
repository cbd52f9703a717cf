// Errors of the command line: exceptions that main() turns into one line on stderr and an exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace fourtune::tools {

inline constexpr int kExitFailure = 1;        // the work could not be done
inline constexpr int kExitUsage = 2;          // invalid arguments or input
inline constexpr int kExitTooBusy = 75;       // other work disturbed it; the same command goes on (EX_TEMPFAIL)
inline constexpr int kExitInterrupted = 130;  // Ctrl-C: 128 + SIGINT, as shells do

// Invalid arguments or input. `hint` says what to do instead; it is empty if the message is enough.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message, std::string hint = {})
      : std::runtime_error(message), hint_(std::move(hint)) {}
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string hint_;
};

// The arguments were valid but the work failed; the program ends with `code`.
class Failure : public UsageError {
 public:
  explicit Failure(const std::string& message, std::string hint = {}, int code = kExitFailure)
      : UsageError(message, std::move(hint)), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

// Files and folders that the system refuses; `why` is its word on that, if there is one.
inline Failure cannot_write(const std::string& path, const std::string& why = {}) {
  return Failure(path + ": cannot be written" + (why.empty() ? "" : ": " + why),
                 "a file is needed that you may write, in a folder that exists");
}
inline Failure cannot_make(const std::string& folder, const std::string& why) {
  return Failure(folder + ": cannot be made: " + why, "a folder is needed in which you may make files");
}
inline Failure cannot_read(const std::string& path) {
  return Failure(path + ": cannot be read", "a file is needed that exists and that you may read");
}

}  // namespace fourtune::tools
