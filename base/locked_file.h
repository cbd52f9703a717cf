// A small file that processes change in turns, or whose lock says that one of them is at work.
#pragma once

#include <optional>
#include <string>

namespace fourtune {

// Holds the lock of the file that has this name at present: whoever held it before may have replaced or removed it.
// Move-only. The file is open for reading and appending.
class LockedFile {
 public:
  // Makes a missing file, which only the user can read. Tries so many times, a millisecond apart; returns nothing when
  // another process holds the lock all the while. Throws Error{io} when the file cannot be made or opened, or is not a
  // regular file; a symbolic link is not followed.
  static std::optional<LockedFile> open(const std::string& path, int tries);
  LockedFile(LockedFile&& other) noexcept;
  LockedFile& operator=(LockedFile&&) = delete;
  ~LockedFile();  // gives the lock back

  int descriptor() const noexcept { return file_; }
  // Removes the name; who opens it next makes another file.
  void remove() noexcept;

 private:
  LockedFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  int file_;
};

}  // namespace fourtune
