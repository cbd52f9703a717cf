#include "runtime/backends/emulated/fault_signals.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <new>
#include <system_error>

namespace fourtune::runtime::emulated {
namespace {

static_assert(kTimeSignal == SIGURG);
constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, kTimeSignal};
constexpr std::size_t kStack = 256 * 1024;

std::array<struct sigaction, 64> old_actions;
thread_local FaultSignals::Ours current_ours = nullptr;
thread_local FaultSignals::Handler current_handler = nullptr;
thread_local SignalFault current_fault;

// The signal handler's stack, and the stack on which a fault is processed once the handler has returned.
struct Stacks {
  std::byte* memory;
  stack_t before{};
  Stacks() {
    void* at = ::mmap(nullptr, 2 * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    memory = static_cast<std::byte*>(at);
    stack_t mine{};
    mine.ss_sp = memory;
    mine.ss_size = kStack;
    ::sigaltstack(&mine, &before);
  }
  ~Stacks() {
    ::sigaltstack(&before, nullptr);
    ::munmap(memory, 2 * kStack);
  }
};
Stacks& stacks() {
  thread_local Stacks mine;
  return mine;
}
thread_local std::byte* landing_top = nullptr;

void land() { current_handler(current_fault); }

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& old = old_actions[static_cast<std::size_t>(signal)];
  if (old.sa_flags & SA_SIGINFO) {
    old.sa_sigaction(signal, info, context);
  } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
    old.sa_handler(signal);
  } else if (signal != kTimeSignal) {
    // The faulting instruction runs again, now with the system's default action.
    ::sigaction(signal, &old, nullptr);
  }
}

void handle(int signal, siginfo_t* info, void* context) {
  auto* machine = static_cast<ucontext_t*>(context);
  SignalFault fault{signal, info->si_addr, nullptr};
  // NOLINTBEGIN(performance-no-int-to-ptr): registers are integers
#if defined(__x86_64__)
  fault.where = reinterpret_cast<const void*>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  fault.where = reinterpret_cast<const void*>(machine->uc_mcontext.pc);
#endif
  // NOLINTEND(performance-no-int-to-ptr)
  if (!current_ours || !current_ours(fault)) return pass_on(signal, info, context);
  current_fault = fault;
  // Continue in land(), on a stack that is intact whatever the fiber did to its stack.
#if defined(__x86_64__)
  machine->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&land);
  machine->uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(landing_top - 8);
#elif defined(__aarch64__)
  machine->uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(&land);
  machine->uc_mcontext.sp = reinterpret_cast<std::uintptr_t>(landing_top);
#endif
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const int signal : kSignals) {
      struct sigaction action {};
      action.sa_sigaction = handle;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      ::sigemptyset(&action.sa_mask);
      ::sigaction(signal, &action, &old_actions[static_cast<std::size_t>(signal)]);
    }
  });
}

}  // namespace

FaultSignals::FaultSignals(Ours ours, Handler fiber_fault, double seconds) {
  install();
  landing_top = stacks().memory + 2 * kStack;
  current_ours = ours;
  current_handler = fiber_fault;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kTimeSignal;
  event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  timer_t timer;
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return;  // then there is no time limit
  timer_ = timer;
  timing_ = true;
  itimerspec limit{};
  limit.it_value.tv_sec = static_cast<time_t>(seconds);
  limit.it_value.tv_nsec = static_cast<long>((seconds - static_cast<double>(limit.it_value.tv_sec)) * 1e9) + 1;
  limit.it_interval.tv_nsec = 1000000;  // fires again while the program counter is not in a kernel
  ::timer_settime(timer, 0, &limit, nullptr);
}

FaultSignals::~FaultSignals() {
  if (timing_) ::timer_delete(static_cast<timer_t>(timer_));
  current_ours = nullptr;
  current_handler = nullptr;
}

}  // namespace fourtune::runtime::emulated
