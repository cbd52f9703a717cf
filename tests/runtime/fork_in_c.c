/* A C program as a user of the library: use, fork, use in the child, exit. Exit code 0: all was right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fourtune/fourtune.h"

enum { kPoints = 40000, kModes = 64 * 64 };
static float x[kPoints], y[kPoints], values[2 * kPoints], modes[2 * kModes], again[2 * kModes];

static int failed(fourtune_status status) {
  if (status != FOURTUNE_SUCCESS) fprintf(stderr, "%s: %s\n", fourtune_status_name(status), fourtune_last_error());
  return status != FOURTUNE_SUCCESS;
}

static int use(fourtune_transform* transform, float* result) {
  return failed(fourtune_execute(transform, values, result));
}

static int create(fourtune_transform** transform) {
  fourtune_options options;
  const char* none[1] = {NULL};
  fourtune_options_init(&options);
  options.databases = none; /* no database at all */
  options.backend = "cpu";
  options.deterministic = 1;
  return failed(fourtune_create("nufft:type=1,n=64x64,prec=f32,tol=1e-4", &options, transform)) ||
         failed(fourtune_set_points(*transform, kPoints, x, y, NULL, 0, NULL, NULL, NULL));
}

/* In a child, exit() runs what an ordinary end runs. */
static int child(fourtune_transform* parents) {
  fourtune_transform* own = NULL;
  alarm(100);
  if (use(parents, again) || memcmp(modes, again, sizeof modes) != 0) return 1;
  if (create(&own) || use(own, again) || memcmp(modes, again, sizeof modes) != 0) return 2;
  fourtune_destroy(own);
  fourtune_destroy(parents);
  return 0;
}

int main(void) {
  fourtune_transform* transform = NULL;
  int i, status;
  for (i = 0; i < kPoints; ++i) {
    x[i] = (float)(i % 977) / 977.0f * 6 - 3;
    y[i] = (float)(i % 883) / 883.0f * 6 - 3;
    values[2 * i] = (float)(i % 7) - 3;
    values[2 * i + 1] = (float)(i % 5) - 2;
  }
  if (create(&transform) || use(transform, modes)) return 1;
  for (i = 0; i < 3; ++i) {
    const pid_t pid = fork();
    if (pid == 0) exit(child(transform));
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      fprintf(stderr, "the child ended with status %d\n", status);
      return 2;
    }
    if (use(transform, again) || memcmp(modes, again, sizeof modes) != 0) return 3;
  }
  fourtune_destroy(transform);
  return 0;
}
