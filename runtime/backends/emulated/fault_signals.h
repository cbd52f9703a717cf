// Turns a memory fault or trap of a running fiber into a return to the scheduler. Internal to the engine.
#pragma once

#include <cstddef>

namespace fourtune::runtime::emulated {

// What a signal reported. A plain structure, because a signal handler fills it.
struct SignalFault {
  int signal = 0;
  const void* address = nullptr;  // the accessed address, for memory faults
  const void* where = nullptr;    // program counter
};

// During its lifetime, memory faults, traps and the launch's time limit on this thread go to `fiber_fault`, on a
// separate stack, if `ours` returns true; otherwise to the previous handler of the signal. The handlers are installed
// once per process.
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

inline constexpr int kTimeSignal = 23;  // SIGURG: ignored by default

}  // namespace fourtune::runtime::emulated
