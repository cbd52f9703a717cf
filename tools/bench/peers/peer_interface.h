/* What a library has to offer so that `fourtune bench --peer` can run it: nine C functions in a shared library.
 *
 * Wrap any FFT or NUFFT in them; docs/peers.md has an example. Only the wrapper includes this file, and it needs
 * nothing else of Fourtune. All functions are called from one thread. Arrays are in GPU memory when `device` is not
 * negative, else in host memory; with a GPU, its primary context is current and all work belongs on the given stream
 * (a CUstream; NULL: the default stream), on which times are taken. */
#ifndef FOURTUNE_PEER_INTERFACE_H
#define FOURTUNE_PEER_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#define FOURTUNE_PEER_VERSION 1

/* Results of the functions that return int. A refusal is listed with the message, a failure as a failure. */
enum { FOURTUNE_PEER_DONE = 0, FOURTUNE_PEER_REFUSED = 1, FOURTUNE_PEER_FAILED = 2 };
enum { FOURTUNE_PEER_FFT = 1, FOURTUNE_PEER_NUFFT = 2 }; /* kinds; bits of fourtune_peer_kinds */
enum { FOURTUNE_PEER_C2C = 0, FOURTUNE_PEER_R2C = 1, FOURTUNE_PEER_C2R = 2 };

/* Fields are only ever added at the end; `size` tells which are there. Index 0 is x, the fastest. */
typedef struct fourtune_peer_problem {
  uint64_t size;        /* bytes of this structure */
  const char* token;    /* the problem in Fourtune's words, "fft:type=c2c,n=256x256x256,prec=f32" */
  int32_t kind;         /* FOURTUNE_PEER_FFT or FOURTUNE_PEER_NUFFT */
  int32_t type;         /* fft: C2C, R2C, C2R; nufft: 1, 2, 3 */
  int32_t dim;          /* 1 to 3 */
  int32_t sign;         /* of the exponent, -1 or 1; nothing is scaled */
  int32_t precision;    /* bytes of a real number, 4 or 8 */
  int32_t in_place;     /* fft: execute gets the same pointer twice */
  int32_t device;       /* number of the GPU; -1: host arrays */
  int32_t threads;      /* on the host: to use at most */
  int64_t n[3];         /* fft: lengths (of the real array, for R2C and C2R); nufft 1, 2: modes, -n/2 first; else 1 */
  int64_t batch;        /* transforms of one execute */
  int64_t in_stride[3]; /* fft: elements (real or complex) between neighbours, and between transforms */
  int64_t in_distance;
  int64_t out_stride[3];
  int64_t out_distance;
  double tolerance; /* nufft: relative l2 error asked for */
  int64_t m, k;     /* nufft: points, and targets of type 3 */
} fourtune_peer_problem;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns FOURTUNE_PEER_VERSION, which says how the other functions are meant. */
int fourtune_peer_interface(void);
/* For tables and records: "vkfft", "VkFFT 1.3.4". Static strings. */
const char* fourtune_peer_name(void);
const char* fourtune_peer_describe(void);
/* FOURTUNE_PEER_FFT, FOURTUNE_PEER_NUFFT or both, and whether it takes GPU arrays (1), host arrays (0) or both (2). */
int fourtune_peer_kinds(void);
int fourtune_peer_memory(void);

/* Plans. On success *plan is the library's own. Otherwise a message of at most `room` bytes, its end included. */
int fourtune_peer_create(const fourtune_peer_problem* problem, void** plan, char* message, size_t room);
/* nufft: coordinates x, y, z in radians, [-pi, pi), and targets s, t, u; unused ones are NULL. They stay valid until
 * the next call or destroy. May be left out of a library that does ffts only. */
int fourtune_peer_set_points(void* plan, int64_t m, const void* const coordinates[3], int64_t k,
                             const void* const targets[3], void* stream);
/* fft: first -> second. nufft: first are the values at the points, second those of the modes or targets; types 1 and 3
 * first -> second, type 2 second -> first. Need not wait. */
int fourtune_peer_execute(void* plan, void* first, void* second, void* stream);
void fourtune_peer_destroy(void* plan);

#ifdef __cplusplus
}
#endif
#endif
