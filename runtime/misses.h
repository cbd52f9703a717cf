// Remembers the problems that ran untuned, for `fourtune tune --misses`, where the user allows it.
//
// The file has a first line that names it, then lines "transforms executes backend token". Lines are only appended, in
// turns (base/locked_file.h), so that a killed process loses its own last line at most; one that makes no sense is
// passed over. What several lines say of one problem is added up. A file that has grown to kMostMissBytes is written
// again, whole, with one line per problem; where that is not enough, the problems used least go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fourtune::runtime {

inline constexpr std::size_t kMostMissBytes = std::size_t{1} << 18;

struct Miss {
  std::string backend;
  std::string problem;          // token
  std::int64_t transforms = 0;  // that ran it untuned
  std::int64_t executes = 0;    // by them
  friend bool operator==(const Miss&, const Miss&) = default;
};

// One entry per backend and problem, sorted by them. Throws Error{io} when there is no such file, or it is none of
// these.
std::vector<Miss> read_misses(const std::string& path);

// Adds to the file, and makes it with its folder if it is missing. Returns why it could not; empty: it could. Waits for
// other processes at most 0.2 s.
std::string add_miss(const std::string& path, const Miss& miss) noexcept;

// The misses of one transform. Not thread-safe.
class MissRecord {
 public:
  // An empty path means what the environment variable FOURTUNE_RECORD_MISSES says, and nothing is recorded where that
  // is empty too.
  explicit MissRecord(std::string path);
  MissRecord(const MissRecord&) = delete;
  MissRecord& operator=(const MissRecord&) = delete;
  ~MissRecord();  // writes the executes down

  bool records() const noexcept { return !path_.empty(); }
  // The transform runs this problem from now on, tuned or not. Returns a line for explain, empty: nothing to say. The
  // problem is written down at once, since a program may end without ending its transforms.
  std::string begin(std::string_view backend, const std::string& problem, bool untuned) noexcept;
  void used() noexcept { ++executes_; }

 private:
  void end() noexcept;
  std::string path_, backend_, problem_;  // problem_ is empty while a tuned one runs
  std::int64_t executes_ = 0;
};

}  // namespace fourtune::runtime
