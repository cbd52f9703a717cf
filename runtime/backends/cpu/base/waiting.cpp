#include "runtime/backends/cpu/base/waiting.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace fourtune::runtime::cpu {
namespace {

// Preserves errno, which belongs to the application.
void futex(const WaitWord& word, int operation, std::int32_t value) {
  static_assert(sizeof(WaitWord) == 4 && WaitWord::is_always_lock_free);
  const int before = errno;
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  errno = before;
}

}  // namespace

void sleep_while(const WaitWord& word, std::int32_t value) { futex(word, FUTEX_WAIT, value); }
void wake_one(const WaitWord& word) { futex(word, FUTEX_WAKE, 1); }
void wake_all(const WaitWord& word) { futex(word, FUTEX_WAKE, INT_MAX); }

}  // namespace fourtune::runtime::cpu
