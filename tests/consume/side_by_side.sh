#!/usr/bin/env bash
# side_by_side.sh WORK LIBRARIES: what docs/migrate.md shows side by side is what it says. Our column of every block
# compiles against our header. Both columns of FFTW's block run, and give the same numbers.
set -euo pipefail
work=$1 libraries=$2 root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$work"
mkdir -p "$work"
page=$root/docs/migrate.md

# column NAME left|right: of the block whose first line is "/* NAME */ ... /* Fourtune".
column() {
  awk -v name="$1" -v side="$2" '
    index($0, "/* " name " */") == 1 { at = index($0, "/* Fourtune"); found = 1; next }
    /^```/ { at = 0 }
    at { print side == "left" ? substr($0, 1, at - 1) : substr($0, at) }
    END { exit !found }' "$page"
}

for name in FINUFFT cuFINUFFT FFTW cuFFT; do
  column "$name" right > "$work/$name.inc"
  grep -q fourtune_create "$work/$name.inc"
  cat > "$work/$name.c" << 'END'
#include <fourtune/fourtune.h>
#include <stdint.h>
void run(int64_t m, double* x, double* y, void* c, void* f, void* in, void* out, void* stream);
void run(int64_t m, double* x, double* y, void* c, void* f, void* in, void* out, void* stream) {
  fourtune_transform* t;
  fourtune_options options;
  fourtune_options_init(&options);
  (void)m, (void)x, (void)y, (void)c, (void)f, (void)in, (void)out, (void)stream;
#include BLOCK
}
END
  cc -Wall -Wextra -Werror -I"$root/include" "-DBLOCK=\"$work/$name.inc\"" -fsyntax-only "$work/$name.c"
  echo "$name: our column compiles"
done

if ! pkg-config --exists fftw3; then echo "NOT RUN: FFTW's block, as FFTW is missing" && exit 0; fi
column FFTW left > "$work/left.inc"
cat > "$work/both.c" << 'END'
#include <fftw3.h>
#include <fourtune/fourtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  enum { nx = 256, ny = 128, nz = 64, n = nx * ny * nz };
  fftw_complex *in = fftw_malloc(n * sizeof *in), *out = fftw_malloc(n * sizeof *out), *theirs = fftw_malloc(n * sizeof *in);
  fftw_plan p = fftw_plan_dft_3d(nz, ny, nx, in, out, FFTW_FORWARD, FFTW_MEASURE); /* measured: now it leaves arrays alone */
  fftw_destroy_plan(p);
  for (int i = 0; i < n; ++i) in[i][0] = rand() / (double)RAND_MAX - 0.5, in[i][1] = rand() / (double)RAND_MAX - 0.5;
  {
#include "left.inc"
  }
  for (int i = 0; i < n; ++i) theirs[i][0] = out[i][0], theirs[i][1] = out[i][1], out[i][0] = out[i][1] = 0;
  {
    fourtune_transform* t;
#include "FFTW.inc"
  }
  double off = 0, norm = 0;
  for (int i = 0; i < n; ++i) {
    off += pow(out[i][0] - theirs[i][0], 2) + pow(out[i][1] - theirs[i][1], 2);
    norm += pow(theirs[i][0], 2) + pow(theirs[i][1], 2);
  }
  printf("FFTW and Fourtune differ by %.1e\n", sqrt(off / norm));
  return off <= 1e-28 * norm ? 0 : 1;
}
END
cc -O1 -I"$work" -I"$root/include" "$work/both.c" -o "$work/both" -L"$libraries" -lfourtune -Wl,-rpath,"$libraries" -lfftw3 -lm
FOURTUNE_DB="$work/none.db" "$work/both"
