/* The smallest useful program in C: a two-dimensional type-1 transform, checked against the sum it stands for. */
#include <complex.h>
#include <fourtune/fourtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 64, NY = 48, M = 10000 };
static double x[M], y[M];
static double complex c[M], f[NX * NY];

static void require(fourtune_status status) {
  if (status == FOURTUNE_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", fourtune_status_name(status), fourtune_last_error());
  exit(1);
}

static double uniform(void) { return 2.0 * rand() / RAND_MAX - 1; }

int main(void) {
  for (int j = 0; j < M; ++j) {
    x[j] = 3.14159265358979 * uniform();
    y[j] = 3.14159265358979 * uniform();
    c[j] = uniform() + I * uniform();
  }

  fourtune_transform* transform;
  require(fourtune_create("nufft:type=1,n=64x48,prec=f64,tol=1e-9", NULL, &transform));
  require(fourtune_set_points(transform, M, x, y, NULL, 0, NULL, NULL, NULL));
  require(fourtune_execute(transform, c, f));
  fourtune_destroy(transform);

  /* f[i + NX*l] belongs to the mode (i - NX/2, l - NY/2): check every 50th. */
  double error = 0, norm = 0;
  for (int at = 0; at < NX * NY; at += 50) {
    const int kx = at % NX - NX / 2, ky = at / NX - NY / 2;
    double complex sum = 0;
    for (int j = 0; j < M; ++j) sum += c[j] * cexp(-I * (kx * x[j] + ky * y[j]));
    error += pow(cabs(f[at] - sum), 2);
    norm += pow(cabs(sum), 2);
  }
  printf("relative error %.1e\n", sqrt(error / norm));
  return error <= 1e-16 * norm ? 0 : 1;
}
