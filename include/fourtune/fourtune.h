/* Fourtune's C interface: tuned fast Fourier transforms, uniform and nonuniform.
 *
 * Formulas (x . k over the problem's dimensions; sign is -1 by default for types 1, 3 and ffts, +1 for type 2)
 *   type 1  f_k = sum_j c_j exp(sign i k.x_j)          points -> modes
 *   type 2  c_j = sum_k f_k exp(sign i k.x_j)          modes  -> points
 *   type 3  f_l = sum_j c_j exp(sign i s_l.x_j)        points -> targets
 *   fft     unnormalised in both directions
 * Modes k run over -n/2 .. (n-1)/2 (integer division) per dimension, x fastest, ascending (FOURTUNE_MODES_CENTRED) or
 * in FFT order. Complex numbers are interleaved pairs (re, im) of the problem's precision. The transforms of a batch
 * follow each other without gaps (an fft's layout key says otherwise).
 *
 * **Every array's element type has to be that of the problem's prec key: float for prec=f32, double for prec=f64 (and
 * pairs of them for complex numbers).** Arrays are passed as void pointers, so neither a compiler nor Fourtune can
 * notice another type: results would be wrong, and half of the arrays would be read or written beyond their end.
 * Arrays start at a multiple of their real type's size (4 or 8 bytes); others are refused as invalid_argument.
 *
 * Ownership: arrays belong to the caller. Points may be freed when fourtune_set_points returns. Arrays are host memory
 * on the cpu backend, which runs where no other is named, and memory of the chosen device on cuda.
 *
 * Threads: a transform serves one thread at a time; different transforms may be used at the same time. On the cpu
 * backend they share one team, of no more threads than affinity, CPU quotas (cgroups), OMP_NUM_THREADS and
 * OMP_THREAD_LIMIT allow; where none can be made the caller works alone. A forked child may use its parent's cpu
 * transforms (not those that another thread was inside of) and create its own; on a GPU that the parent had begun to
 * use it gets FOURTUNE_BACKEND_UNAVAILABLE.
 *
 * Errors: every call returns a status and never prints, aborts or throws; fourtune_last_error() has the words.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fourtune/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers never change; new ones are appended. status.h lists the same. */
typedef enum fourtune_status {
  FOURTUNE_SUCCESS = 0,
  FOURTUNE_INVALID_PROBLEM = 1,
  FOURTUNE_INVALID_PLAN = 2,
  FOURTUNE_INVALID_OPTION = 3,
  FOURTUNE_INVALID_ARGUMENT = 4,
  FOURTUNE_INVALID_POINT = 5,
  FOURTUNE_CONTRADICTION = 6,
  FOURTUNE_TOLERANCE_UNREACHABLE = 7,
  FOURTUNE_SIZE_OVERFLOW = 8,
  FOURTUNE_OUT_OF_MEMORY = 9,
  FOURTUNE_POINTS_NOT_SET = 10,
  FOURTUNE_BACKEND_UNAVAILABLE = 11,
  FOURTUNE_UNSUPPORTED = 12,
  FOURTUNE_DATABASE = 13,
  FOURTUNE_IO = 14,
  FOURTUNE_INTERRUPTED = 15,
  FOURTUNE_INTERNAL = 16
} fourtune_status;

typedef struct fourtune_transform fourtune_transform;

enum { FOURTUNE_MODES_CENTRED = 0, FOURTUNE_MODES_FFT = 1 };
enum { FOURTUNE_WHOLE = 0, FOURTUNE_SPREAD_ONLY = 1, FOURTUNE_INTERPOLATE_ONLY = 2 };

/* Always start from fourtune_options_init. Strings are copied by fourtune_create.
 * `size` is what makes structures of other versions work: fields that do not end within the first `size` bytes keep
 * their defaults (a caller built before they existed), and bytes beyond this library's structure have to be zero (a
 * caller built after more were added may use none of them); else invalid_option. */
typedef struct fourtune_options {
  size_t size;                  /* sizeof(fourtune_options), set by fourtune_options_init */
  const char* const* databases; /* plan databases, later ones win; NULL: the user database alone if it exists */
  size_t database_count;        /* with databases NULL: 0; with databases not NULL, 0 means no database at all */
  const char* backend;          /* "cpu" or "cuda"; NULL: "cpu", on a machine with a GPU too */
  int device;                   /* number among the backend's devices, from 0; others are left alone */
  int threads;                  /* 0: all that are of use; more are as many */
  const char* plan;             /* force this plan text; NULL: resolve */
  int deterministic;            /* bit-identical results from run to run */
  void* stream;                 /* GPU backends: the stream to work on */
  int mode_order;               /* FOURTUNE_MODES_CENTRED or FOURTUNE_MODES_FFT */
  int clamp_tolerance;          /* a tolerance below what the precision gives is raised instead of refused */
  int trust_points;             /* skip the NaN / infinity check of set_points */
  int only;            /* FOURTUNE_WHOLE, or spread / interpolate alone: the mode array is then the fine grid */
  int distinct_points; /* each transform of a batch has points of its own, one transform's after the other's */
} fourtune_options;

FOURTUNE_API fourtune_status fourtune_options_init(fourtune_options* options);

/* Parses the problem token and finds its plan. options may be NULL. *transform is NULL on failure. */
FOURTUNE_API fourtune_status fourtune_create(const char* problem, const fourtune_options* options,
                                             fourtune_transform** transform);

/* m points x, y, z (y, z NULL beyond the problem's dimension), in radians, any finite real number; type 3: k targets
 * s, t, u. Types 1 and 2: pass k = 0 and NULL targets. Arrays have the problem's precision. With distinct_points every
 * array has batch times as many values. */
FOURTUNE_API fourtune_status fourtune_set_points(fourtune_transform* transform, int64_t m, const void* x, const void* y,
                                                 const void* z, int64_t k, const void* s, const void* t, const void* u);

/* Type 3: later points will lie between low and high of x, y, z, s, t, u (6 values each; what is beyond the dimension
 * is not looked at). Bounds are finite and in order, else invalid_argument. Points outside make set_points fail with
 * contradiction, unless they are trusted. GPUs make their grids for these bounds, and with trust_points set_points then
 * does not wait. */
FOURTUNE_API fourtune_status fourtune_set_bounds(fourtune_transform* transform, const double* low, const double* high);

/* Types 1 and 3 read point_values and write mode_values (type 3: at the targets); type 2 the reverse; an fft reads the
 * first and writes the second (equal pointers exactly when place=in). */
FOURTUNE_API fourtune_status fourtune_execute(fourtune_transform* transform, void* point_values, void* mode_values);
/* The conjugate transpose, in the other direction, same arguments. */
FOURTUNE_API fourtune_status fourtune_execute_adjoint(fourtune_transform* transform, void* point_values,
                                                      void* mode_values);
/* GPU backends: later work goes to this stream. The cpu backend accepts NULL only. */
FOURTUNE_API fourtune_status fourtune_set_stream(fourtune_transform* transform, void* stream);
/* Bytes held now, and bytes that will be held once points are set (an estimate before that). Either may be NULL. */
FOURTUNE_API fourtune_status fourtune_memory(const fourtune_transform* transform, int64_t* held, int64_t* needed);
FOURTUNE_API void fourtune_destroy(fourtune_transform* transform); /* NULL is fine */

/* Words of this thread's last failure; valid until its next call. Never NULL. */
FOURTUNE_API const char* fourtune_last_error(void);
/* Which plan runs and why. Valid until the transform's next call. Never NULL. */
FOURTUNE_API const char* fourtune_explain(const fourtune_transform* transform);
FOURTUNE_API const char* fourtune_status_name(fourtune_status status); /* "invalid_point" */
FOURTUNE_API const char* fourtune_status_text(fourtune_status status); /* one sentence */
FOURTUNE_API const char* fourtune_version(void);

#ifdef __cplusplus
}
#endif
