// Two buffers that one lane fills and another one uses, in turns, so that both have something to do at once.
#pragma once

#include "runtime/backends/device_streams.h"

namespace fourtune::runtime {

//   const int slot = relay.begin();   `from` waits until the buffer's last content was used
//   ... what fills buffer `slot`, on lane `from`
//   relay.hand_over();                `to` waits for it
//   ... what uses it, on lane `to`
//   relay.done();
class Relay {
 public:
  using Lane = DeviceStreams::Lane;
  static constexpr int kMarks = 4;
  // marks: the first of kMarks numbers that are this relay's alone.
  Relay(DeviceStreams& streams, int marks, Lane from, Lane to)
      : streams_(streams), marks_(marks), from_(from), to_(to) {}
  int begin() {
    if (count_ >= 2) streams_.follow_mark(from_, marks_ + 2 + slot());
    return slot();
  }
  void hand_over() {
    streams_.mark(marks_ + slot(), from_);
    streams_.follow_mark(to_, marks_ + slot());
  }
  void done() {
    streams_.mark(marks_ + 2 + slot(), to_);
    ++count_;
  }

 private:
  int slot() const { return static_cast<int>(count_ % 2); }
  DeviceStreams& streams_;
  int marks_;
  Lane from_, to_;
  long long count_ = 0;
};

}  // namespace fourtune::runtime
