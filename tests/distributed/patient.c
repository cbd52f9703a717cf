// Loaded into every rank before MPI. A rank that waits calls sched_yield over and over, and gets a fair share of a
// processor for it: the more ranks wait, the slower are those that compute. Here it sleeps a moment in place.
#include <time.h>

int sched_yield(void);

int sched_yield(void) {
  const struct timespec moment = {0, 50000};
  nanosleep(&moment, 0);
  return 0;
}
