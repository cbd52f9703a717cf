/* Fourtune's C interface: tuned fast Fourier transforms, uniform and nonuniform.
 *
 * Formulas (x . k over the problem's dimensions; sign is -1 by default for types 1, 3 and ffts, +1 for type 2)
 *   type 1  f_k = sum_j c_j exp(sign i k.x_j)          points -> modes
 *   type 2  c_j = sum_k f_k exp(sign i k.x_j)          modes  -> points
 *   type 3  f_l = sum_j c_j exp(sign i s_l.x_j)        points -> targets
 *   fft     unnormalised in both directions; the token's order key says where the frequencies lie
 * In each dimension the modes k run over -n/2 .. (n-1)/2 (integer division), ascending (FOURTUNE_MODES_CENTRED) or in
 * FFT order; x is the fastest dimension. Complex numbers are interleaved pairs (re, im) of the problem's precision. The
 * transforms of a batch follow each other without gaps, unless an fft's layout key says otherwise.
 *
 * **The element type of every array must match the problem's prec key: float for prec=f32, double for prec=f64 (and
 * pairs of them for complex numbers).** Arrays are passed as void pointers, so neither the compiler nor Fourtune can
 * detect a wrong type: results would be wrong, and half of the arrays would be read or written beyond their end.
 * Arrays must be aligned to the size of their real type (4 or 8 bytes); others are refused with invalid_argument.
 *
 * Ownership: arrays belong to the caller. Points may be freed when fourtune_set_points returns. Arrays are in host
 * memory on the cpu backend (the default), and in the memory of the chosen device on the cuda backend; with `devices` in
 * either.
 *
 * Threads: only one thread at a time may use a transform; different threads may use different transforms at the same
 * time. All transforms on the cpu backend share one thread team, which has no more threads than affinity, CPU quotas
 * (cgroups), OMP_NUM_THREADS and OMP_THREAD_LIMIT allow; where no team can be created, the calling thread works alone.
 * A forked child may use its parent's cpu transforms (except those that another thread was using during the fork) and
 * create new ones; on a GPU that the parent had already begun to use, the child gets FOURTUNE_BACKEND_UNAVAILABLE.
 *
 * Errors: every call returns a status and never prints, aborts or throws; fourtune_last_error() returns the message.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fourtune/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers never change; new codes are appended. status.h lists the same codes and describes each. */
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
  FOURTUNE_INTERNAL = 16,
  FOURTUNE_COMMUNICATION = 17
} fourtune_status;

typedef struct fourtune_transform fourtune_transform;

enum { FOURTUNE_MODES_CENTRED = 0, FOURTUNE_MODES_FFT = 1 };
enum {
  FOURTUNE_WHOLE = 0,
  FOURTUNE_SPREAD_ONLY = 1,
  FOURTUNE_INTERPOLATE_ONLY = 2,
  FOURTUNE_SPREAD_ONLY_CENTRED = 3,
  FOURTUNE_INTERPOLATE_ONLY_CENTRED = 4
};

/* A pack in memory, as `fourtune pack embed` writes it. The bytes must not change while a transform made with them
 * exists. */
typedef struct fourtune_pack {
  const void* data;
  size_t size;
  const char* name; /* its name in messages; NULL: "memory" */
} fourtune_pack;

/* Always start from fourtune_options_init. fourtune_create copies the strings.
 * `size` makes structures of other library versions work. Fields that do not end within the first `size` bytes keep
 * their defaults: the caller was built before those fields existed. Bytes beyond this library's structure must be zero,
 * else the call fails with invalid_option: a caller built against a newer version must not use the newer fields. */
typedef struct fourtune_options {
  size_t size;                  /* sizeof(fourtune_options), set by fourtune_options_init */
  const char* const* databases; /* packs and databases by path, later ones win; NULL: the user's database, if it exists,
                                   and the packs of this machine (docs/ship.md) */
  size_t database_count;        /* 0 if databases is NULL; 0 with a non-NULL databases means no database at all */
  const char* backend;          /* "cpu" or "cuda"; NULL: "cpu", even on a machine with a GPU */
  int device;                   /* index among the backend's devices, from 0; no other device is used */
  int threads;                  /* 0: as many as are useful; a larger number is reduced to that */
  const char* plan;             /* text of the plan to use; NULL: Fourtune chooses a plan */
  int deterministic;            /* bit-identical results from run to run */
  void* stream;                 /* GPU backends: the stream to work on */
  int mode_order;               /* FOURTUNE_MODES_CENTRED or FOURTUNE_MODES_FFT */
  int clamp_tolerance;          /* raise a tolerance that the precision cannot reach, instead of refusing it */
  int trust_points;             /* skip the NaN / infinity check of set_points */
  int only;                     /* FOURTUNE_WHOLE, or only spread / interpolate: the mode array is then the fine grid,
                                   which begins at 0, or (..._CENTRED) at -pi */
  int distinct_points;        /* each transform of a batch has separate points, stored one transform after the other */
  const fourtune_pack* packs; /* packs in memory, later ones win, all of them over `databases` */
  size_t pack_count;
  const char* const* trusted_keys; /* public keys; compiled kernels of packs that they signed may run */
  size_t trusted_key_count;
  int default_databases; /* with `databases`: use the user's database and the packs of this machine as well */
  const char* misses;    /* file in which problems that run untuned are remembered, for `fourtune tune --misses`: token,
                            number of transforms and of executes, no data; written when a plan is chosen and when the
                            transform ends, never by execute. NULL: as the environment variable
                            FOURTUNE_RECORD_MISSES says, or none */
  const char* devices;   /* GPUs that share a batch: "all", or numbers such as "0,1". Each has a part of the transforms,
                            larger where the device is faster, a separate plan and all points. Arrays may be in host
                            memory or in that of any of the devices, and are copied where necessary. execute waits for
                            `stream` (NULL: for the default streams of the devices) and returns when its work is done.
                            `device` has to be 0, and `only` FOURTUNE_WHOLE. "0:20e9" limits what may be allocated there
                            (docs/several-gpus.md). NULL: `device` alone */
  int exact_points;      /* points keep all digits of their precision, not only those that the tolerance needs, so that
                            differences of results over small steps of a point are right; set_points takes longer */
} fourtune_options;

FOURTUNE_API fourtune_status fourtune_options_init(fourtune_options* options);

/* Parses the problem token (problem.h) and chooses its plan. options may be NULL. *transform is NULL on failure. */
FOURTUNE_API fourtune_status fourtune_create(const char* problem, const fourtune_options* options,
                                             fourtune_transform** transform);

/* Called after each problem, by one thread at a time; a value other than 0 ends the work. */
typedef int (*fourtune_prepare_progress)(size_t done, size_t all, const char* problem, void* user);

/* Compiles what transforms of these problems will need on a GPU, and keeps it in the user's database, so that their first
 * use does not wait for a compiler; for a type 3, if its points fill the token's extent, at least to 0.8 (transform.h).
 * Adjoints are not prepared. Works on options->threads threads (0: as many as are useful). A problem that fails does
 * not stop the others; the first failure is returned. `progress` may be NULL; when it ends the work the status is
 * interrupted. */
FOURTUNE_API fourtune_status fourtune_prepare(const char* const* problems, size_t count,
                                              const fourtune_options* options, fourtune_prepare_progress progress,
                                              void* user);

/* Sets m points with coordinates x, y, z in radians; any finite real number is allowed. Arrays beyond the problem's
 * dimension must be NULL. Type 3: s, t, u are the coordinates of k targets; types 1 and 2: pass k = 0 and NULL targets.
 * Arrays have the problem's precision. With distinct_points every array has batch times as many values. */
FOURTUNE_API fourtune_status fourtune_set_points(fourtune_transform* transform, int64_t m, const void* x, const void* y,
                                                 const void* z, int64_t k, const void* s, const void* t, const void* u);

/* Type 3: promises that later points lie between low and high, 6 values each for x, y, z, s, t, u (values beyond the
 * problem's dimension are ignored). Bounds must be finite, with low <= high, else invalid_argument. If points lie
 * outside, set_points fails with contradiction, unless trust_points is set. GPU backends size their grids for these
 * bounds, and with trust_points set_points then does not wait for the device. */
FOURTUNE_API fourtune_status fourtune_set_bounds(fourtune_transform* transform, const double* low, const double* high);

/* Types 1 and 3 read point_values and write mode_values (type 3: the values at the targets); type 2 reads mode_values
 * and writes point_values; an fft reads the first array and writes the second (the pointers are equal exactly when
 * place=in). */
FOURTUNE_API fourtune_status fourtune_execute(fourtune_transform* transform, void* point_values, void* mode_values);
/* Applies the conjugate transpose: the same arguments, with data moving in the other direction. */
FOURTUNE_API fourtune_status fourtune_execute_adjoint(fourtune_transform* transform, void* point_values,
                                                      void* mode_values);
/* Where an fft's spectrum holds a frequency of the first transform of a batch: the index in complex numbers, for the
 * problem's order and layout; the same on every backend and for every plan. The spectrum is the second array (c2r, and
 * orders unreversed and untransposed: the first). `frequency` has one entry for each dimension of the problem, x first:
 * -n/2 <= k < n (for the halved x of a real transform 0 <= k <= n/2). For ffts only, else invalid_problem. */
FOURTUNE_API fourtune_status fourtune_spectrum_index(const fourtune_transform* transform, const int64_t* frequency,
                                                     int64_t* index);
/* GPU backends: later work is queued on this stream. The cpu backend accepts only NULL. */
FOURTUNE_API fourtune_status fourtune_set_stream(fourtune_transform* transform, void* stream);
/* Bytes held now, and the most that will be held once points are set, also during an execute (an estimate until then).
 * Either pointer may be NULL. */
FOURTUNE_API fourtune_status fourtune_memory(const fourtune_transform* transform, int64_t* held, int64_t* needed);
FOURTUNE_API void fourtune_destroy(fourtune_transform* transform); /* NULL is allowed */

/* Message of this thread's last failure; valid until this thread's next call. Never NULL. */
FOURTUNE_API const char* fourtune_last_error(void);
/* Says which plan runs and why. Valid until the next call that uses this transform. Never NULL. */
FOURTUNE_API const char* fourtune_explain(const fourtune_transform* transform);
/* One line for each database or pack that cannot be used, or whose kernels may not run, with the reason. Empty: none.
 * Valid as the explanation is. */
FOURTUNE_API const char* fourtune_warnings(const fourtune_transform* transform);
FOURTUNE_API const char* fourtune_status_name(fourtune_status status); /* "invalid_point" */
FOURTUNE_API const char* fourtune_status_text(fourtune_status status); /* one sentence */
FOURTUNE_API const char* fourtune_version(void);

#ifdef __cplusplus
}
#endif
