/* An application with its tuned plans inside: made on the maker's machine, it needs no database, no compiler and no
   home on the user's. docs/ship.md has the commands; my_plans.o is written by `fourtune pack embed`. */
#include <fourtune/fourtune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const unsigned char my_plans[];
extern const size_t my_plans_size;

enum { N = 96, M = 20000 };
static float x[M], y[M], c[2 * M], f[2 * N * N];

static void require(fourtune_status status) {
  if (status == FOURTUNE_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", fourtune_status_name(status), fourtune_last_error());
  exit(1);
}

static double milliseconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

int main(void) {
  for (int j = 0; j < M; ++j) {
    x[j] = (float)(6.28 * rand() / RAND_MAX - 3.14);
    y[j] = (float)(6.28 * rand() / RAND_MAX - 3.14);
    c[2 * j] = 1;
  }
  const fourtune_pack pack = {my_plans, my_plans_size, "my_plans"};
  fourtune_options options;
  fourtune_options_init(&options);
  options.packs = &pack;
  options.pack_count = 1;

  const double start = milliseconds();
  fourtune_transform* transform;
  require(fourtune_create("nufft:type=1,n=96x96,m=20000,prec=f32,tol=1e-4", &options, &transform));
  require(fourtune_set_points(transform, M, x, y, NULL, 0, NULL, NULL, NULL));
  require(fourtune_execute(transform, c, f));
  printf("%.2f ms from create to the first result\n%s%s", milliseconds() - start, fourtune_explain(transform),
         fourtune_warnings(transform));

  /* The mode in the middle is the sum of all values. The plan has to be the pack's. */
  const int middle = N / 2 + N * (N / 2);
  const double error = (f[2 * middle] - M) / (double)M;
  const int ours = strstr(fourtune_explain(transform), "from the pack my-plans 1.0") != NULL;
  printf("relative error of the sum %.1e\n", error);
  fourtune_destroy(transform);
  return error < 1e-4 && error > -1e-4 && ours ? 0 : 1;
}
