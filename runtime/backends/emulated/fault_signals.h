// Turns a memory fault or trap of a running fiber into a return to the scheduler. Internal to the engine.
#pragma once

#include <cstddef>

namespace fourtune::runtime::emulated {

// What a signal told. Plain: filled inside a signal handler.
struct SignalFault {
  int signal = 0;
  const void* address = nullptr;  // touched, for memory faults
  const void* where = nullptr;    // program counter
};

// While it lives, memory faults, traps and the launch's time limit on this thread go to `fiber_fault`, on a stack of
// its own, if `ours` says so; else to whoever had the signal before. The handlers are put in place for the process
// once.
class FaultSignals {
 public:
  using Ours = bool (*)(const SignalFault&);
  using Handler = void (*)(const SignalFault&);  // never returns
  FaultSignals(Ours ours, Handler fiber_fault, double seconds);
  FaultSignals(const FaultSignals&) = delete;
  FaultSignals& operator=(const FaultSignals&) = delete;
  ~FaultSignals();

 private:
  void* timer_ = nullptr;
  bool timing_ = false;
};

inline constexpr int kTimeSignal = 23;  // SIGURG: ignored unless somebody asks for it

}  // namespace fourtune::runtime::emulated
