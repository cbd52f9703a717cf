/* The interface that lets `fourtune bench --peer` run a library: nine C functions in a shared library.
 *
 * They can wrap any FFT or NUFFT; docs/design/peer-vkfft.md has an example. Only the wrapper includes this file, and it
 * needs nothing else of Fourtune. All functions are called from one thread. Arrays are in GPU memory when `device` is
 * not negative, else in host memory. With a GPU, its primary context is current, and all work must be issued on the
 * given stream (a CUstream; NULL: the default stream), on which times are measured. */
#ifndef FOURTUNE_PEER_INTERFACE_H
#define FOURTUNE_PEER_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#define FOURTUNE_PEER_VERSION 1

/* Results of the functions that return int. A refusal is listed with its message, a failure as a failure. */
enum { FOURTUNE_PEER_DONE = 0, FOURTUNE_PEER_REFUSED = 1, FOURTUNE_PEER_FAILED = 2 };
enum { FOURTUNE_PEER_FFT = 1, FOURTUNE_PEER_NUFFT = 2 }; /* kinds; bits of fourtune_peer_kinds */
enum { FOURTUNE_PEER_C2C = 0, FOURTUNE_PEER_R2C = 1, FOURTUNE_PEER_C2R = 2 };

/* New fields are added only at the end; `size` tells which exist. Index 0 is x, the fastest dimension. */
typedef struct fourtune_peer_problem {
  uint64_t size;        /* bytes of this structure */
  const char* token;    /* the problem as Fourtune's token, "fft:type=c2c,n=256x256x256,prec=f32" */
  int32_t kind;         /* FOURTUNE_PEER_FFT or FOURTUNE_PEER_NUFFT */
  int32_t type;         /* fft: C2C, R2C, C2R; nufft: 1, 2, 3 */
  int32_t dim;          /* 1 to 3 */
  int32_t sign;         /* sign of the exponent, -1 or 1; nothing is scaled */
  int32_t precision;    /* bytes of a real number, 4 or 8 */
  int32_t in_place;     /* fft: execute gets the same pointer twice */
  int32_t device;       /* number of the GPU; -1: host arrays */
  int32_t threads;      /* on the host: the most threads to use */
  int64_t n[3];         /* fft: lengths (of the real array, for R2C and C2R); nufft 1, 2: modes, -n/2 first; else 1 */
  int64_t batch;        /* transforms of one execute */
  int64_t in_stride[3]; /* fft: elements (real or complex) between neighbours (stride) and transforms (distance) */
  int64_t in_distance;
  int64_t out_stride[3];
  int64_t out_distance;
  double tolerance; /* nufft: requested relative l2 error */
  int64_t m, k;     /* nufft: number of points, and of targets of type 3 */
} fourtune_peer_problem;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns FOURTUNE_PEER_VERSION, which defines the meaning of the other functions. */
int fourtune_peer_interface(void);
/* For tables and records: "vkfft", "VkFFT 1.3.4". Static strings. */
const char* fourtune_peer_name(void);
const char* fourtune_peer_describe(void);
/* Kinds: FOURTUNE_PEER_FFT, FOURTUNE_PEER_NUFFT or both. Memory: whether the library accepts host arrays (0), GPU
 * arrays (1) or both (2). */
int fourtune_peer_kinds(void);
int fourtune_peer_memory(void);

/* On success, stores the library's plan in *plan. Otherwise writes a message of at most `room` bytes, including its
 * terminating zero. */
int fourtune_peer_create(const fourtune_peer_problem* problem, void** plan, char* message, size_t room);
/* nufft: coordinates x, y, z in radians, [-pi, pi), and targets s, t, u; unused ones are NULL. They stay valid until
 * the next call or destroy. A library that supports ffts only may omit this function. */
int fourtune_peer_set_points(void* plan, int64_t m, const void* const coordinates[3], int64_t k,
                             const void* const targets[3], void* stream);
/* fft: transforms first into second. nufft: first has the values at the points, second those of the modes or targets;
 * types 1 and 3 transform first into second, type 2 transforms second into first. The function need not wait for the
 * end of the work. */
int fourtune_peer_execute(void* plan, void* first, void* second, void* stream);
void fourtune_peer_destroy(void* plan);

#ifdef __cplusplus
}
#endif
#endif
