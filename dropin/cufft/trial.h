// Whether our kernels or the real library's execute a plan faster, found by the program's own executes: some by each in
// turns, timed on its stream. So a size at which a plan of ours is slower than expected costs a few executes, not all.
//
// Nothing waits. Where the device has not finished a timed execute yet, the next one is not timed. One thread at a
// time.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace fourtune::dropin {

enum class Side { ours, theirs };

// Measures what is put on a stream between start and stop. After a stop, `seconds` is nullopt until that has been
// executed. Throws Error where the driver does.
class StreamStopwatch {
 public:
  StreamStopwatch() = default;
  StreamStopwatch(const StreamStopwatch&) = delete;
  StreamStopwatch& operator=(const StreamStopwatch&) = delete;
  virtual ~StreamStopwatch() = default;
  virtual void start(void* stream) = 0;
  virtual void stop(void* stream) = 0;
  virtual std::optional<double> seconds() = 0;
};

class Trial {
 public:
  // Timed executes of each side, of which the least time counts; more than once, since a host or a device has other
  // work.
  static constexpr int kTimes = 10;
  // Whose turn the timed executes are: o ours, t theirs. A program that waits after every second or fourth execute has
  // every other timed one on an idle stream, where launching counts too. So in each residue class of periods up to 6
  // both sides have turns; strictly in turns, one side would have all the idle ones.
  static constexpr std::string_view kTurns = "ototoototototottotot";
  // Of our time. Ours stay where both are alike within what such times differ by.
  static constexpr double kClearly = 0.98;

  explicit Trial(std::unique_ptr<StreamStopwatch> watch) : watch_(std::move(watch)) {}

  // Who executes next. end() comes after that execute.
  Side begin(void* stream) noexcept;
  void end(void* stream) noexcept;
  std::optional<Side> winner() const noexcept { return winner_; }

 private:
  struct Times {
    double least = std::numeric_limits<double>::infinity();
    int count = 0;
  };
  void read();
  Times& of(Side side) { return side == Side::ours ? ours_ : theirs_; }

  std::unique_ptr<StreamStopwatch> watch_;
  Times ours_, theirs_;
  std::optional<Side> timed_;  // whose execute the watch has
  bool runs_ = false;          // between its begin and end
  std::optional<Side> winner_;
};

}  // namespace fourtune::dropin
