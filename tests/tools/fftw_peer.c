/* FFTW 3 itself as a peer of `fourtune bench` (tools/bench/peers/peer_interface.h), called as its users call it, with
 * FFTW_MEASURE. docs/design/dropin.md has what it showed. */
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/peers/peer_interface.h"

#define EXPORTED __attribute__((visibility("default")))

typedef struct {
  fourtune_peer_problem problem;
  int alignment; /* of the arrays that it was planned for */
  fftw_plan twice;
  fftwf_plan single;
} plan_t;

EXPORTED int fourtune_peer_interface(void) { return FOURTUNE_PEER_VERSION; }
EXPORTED const char* fourtune_peer_name(void) { return "fftw"; }
EXPORTED const char* fourtune_peer_describe(void) { return fftw_version; }
EXPORTED int fourtune_peer_kinds(void) { return FOURTUNE_PEER_FFT; }
EXPORTED int fourtune_peer_memory(void) { return 0; }

/* Elements from the first to the last one, and one. */
static int64_t span(const int64_t* n, const int64_t* stride, int64_t batch, int64_t distance) {
  int64_t last = (batch - 1) * distance;
  for (int d = 0; d < 3; ++d) last += (n[d] - 1) * stride[d];
  return last + 1;
}

static int refuse(const char* why, char* message, size_t room) {
  snprintf(message, room, "%s", why);
  return FOURTUNE_PEER_REFUSED;
}

/* Plans in one precision. P: fftw or fftwf. */
#define PLAN(P, REAL)                                                                            \
  static P##_plan plan_##P(const fourtune_peer_problem* p, void* in, void* out) {                \
    P##_iodim64 dims[3], many = {p->batch, p->in_distance, p->out_distance};                     \
    for (int d = 0; d < p->dim; ++d) {                                                           \
      const int from = p->dim - 1 - d; /* the slowest one first */                               \
      dims[d].n = p->n[from], dims[d].is = p->in_stride[from], dims[d].os = p->out_stride[from]; \
    }                                                                                            \
    P##_plan_with_nthreads(p->threads > 0 ? p->threads : 1);                                     \
    if (p->type == FOURTUNE_PEER_C2C)                                                            \
      return P##_plan_guru64_dft(p->dim, dims, 1, &many, in, out, p->sign, FFTW_MEASURE);        \
    if (p->type == FOURTUNE_PEER_R2C)                                                            \
      return P##_plan_guru64_dft_r2c(p->dim, dims, 1, &many, (REAL*)in, out, FFTW_MEASURE);      \
    return P##_plan_guru64_dft_c2r(p->dim, dims, 1, &many, in, (REAL*)out,                       \
                                   FFTW_MEASURE | (p->in_place ? 0U : FFTW_PRESERVE_INPUT));     \
  }
PLAN(fftw, double)
PLAN(fftwf, float)

EXPORTED int fourtune_peer_create(const fourtune_peer_problem* p, void** out, char* message, size_t room) {
  static int threads_ready = 0;
  if (!threads_ready) threads_ready = fftw_init_threads() && fftwf_init_threads();
  if (p->type == FOURTUNE_PEER_R2C && p->sign != -1) return refuse("FFTW's r2c has sign -1", message, room);
  if (p->type == FOURTUNE_PEER_C2R && p->sign != 1) return refuse("FFTW's c2r has sign 1", message, room);
  if (p->type == FOURTUNE_PEER_C2R && p->dim > 1 && !p->in_place)
    return refuse("FFTW's c2r of several dimensions destroys its input", message, room);
  int64_t reads[3], writes[3];
  memcpy(reads, p->n, sizeof reads), memcpy(writes, p->n, sizeof writes);
  if (p->type == FOURTUNE_PEER_R2C) writes[0] = p->n[0] / 2 + 1;
  if (p->type == FOURTUNE_PEER_C2R) reads[0] = p->n[0] / 2 + 1;
  const size_t element = 2 * (size_t)p->precision; /* at most */
  const size_t in_bytes = (size_t)span(reads, p->in_stride, p->batch, p->in_distance) * element;
  const size_t out_bytes = (size_t)span(writes, p->out_stride, p->batch, p->out_distance) * element;
  /* Measuring overwrites the arrays, so these are others than those of the calls. */
  void* first = fftw_malloc(in_bytes > out_bytes ? in_bytes : out_bytes);
  void* second = p->in_place ? first : fftw_malloc(out_bytes);
  plan_t* plan = calloc(1, sizeof *plan);
  if (!first || !second || !plan) return FOURTUNE_PEER_FAILED;
  memset(first, 0, in_bytes);
  plan->problem = *p;
  plan->alignment = fftw_alignment_of(first);
  if (p->precision == 8)
    plan->twice = plan_fftw(p, first, second);
  else
    plan->single = plan_fftwf(p, first, second);
  fftw_free(first);
  if (!p->in_place) fftw_free(second);
  *out = plan;
  return plan->twice || plan->single ? FOURTUNE_PEER_DONE : refuse("FFTW has no plan for it", message, room);
}

EXPORTED int fourtune_peer_execute(void* handle, void* first, void* second, void* stream) {
  const plan_t* plan = handle;
  (void)stream;
  if (fftw_alignment_of(first) != plan->alignment || fftw_alignment_of(second) != plan->alignment)
    return FOURTUNE_PEER_FAILED;
  const int type = plan->problem.type;
  if (plan->twice) {
    if (type == FOURTUNE_PEER_C2C) fftw_execute_dft(plan->twice, first, second);
    if (type == FOURTUNE_PEER_R2C) fftw_execute_dft_r2c(plan->twice, first, second);
    if (type == FOURTUNE_PEER_C2R) fftw_execute_dft_c2r(plan->twice, first, second);
  } else {
    if (type == FOURTUNE_PEER_C2C) fftwf_execute_dft(plan->single, first, second);
    if (type == FOURTUNE_PEER_R2C) fftwf_execute_dft_r2c(plan->single, first, second);
    if (type == FOURTUNE_PEER_C2R) fftwf_execute_dft_c2r(plan->single, first, second);
  }
  return FOURTUNE_PEER_DONE;
}

EXPORTED void fourtune_peer_destroy(void* handle) {
  plan_t* plan = handle;
  if (plan->twice) fftw_destroy_plan(plan->twice);
  if (plan->single) fftwf_destroy_plan(plan->single);
  free(plan);
}
