// Part of every program of a build that counts what runs. Workers are ended by SIGKILL, which would lose their counts:
// here the sender asks for them first.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern void __gcov_dump(void);

static void write_counts(int number) {
  (void)number;
  __gcov_dump();
  syscall(SYS_kill, getpid(), SIGKILL);
}

__attribute__((constructor)) static void listen_for_requests(void) { signal(SIGRTMAX, write_counts); }

// Instead of the C library's.
int kill(pid_t process, int number) {
  if (number == SIGKILL && process > 0 && syscall(SYS_kill, process, SIGRTMAX) == 0)
    for (int i = 0; i < 200; ++i) {  // a second: one that hangs may not answer
      siginfo_t info = {0};
      if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0) break;
      usleep(5000);
    }
  return (int)syscall(SYS_kill, process, number);
}
