// cuFFT's interface as far as Fourtune takes part in it, declared from NVIDIA's documentation, "cuFFT".
#pragma once

#include <cstddef>

namespace fourtune::dropin {

using CufftHandle = int;
using CufftStream = void*;
using Long = long long;

// Results and directions that we give or read ourselves.
inline constexpr int kCufftSuccess = 0, kCufftExecFailed = 6, kCufftSetupFailed = 7, kCufftNotSupported = 16;
inline constexpr int kCufftForward = -1, kCufftInverse = 1;

enum CufftType : int { kR2C = 0x2a, kC2R = 0x2c, kC2C = 0x29, kD2Z = 0x6a, kZ2D = 0x6c, kZ2Z = 0x69 };

// Types of elements (cudaDataType) in cufftXtMakePlanMany.
enum ElementType : int { kReal32 = 0, kReal64 = 1, kComplex32 = 4, kComplex64 = 5 };

// WITH(name, result and arguments) for every function that we define: those that make a plan, execute it, end it, or
// say something about it that decides who executes it. The loader finds all others in the real library, whose handles
// they get, because a plan of ours is one of the real library first.
#define FOURTUNE_CUFFT_FUNCTIONS(WITH)                                                                                \
  WITH(cufftPlan1d, (CufftHandle*, int, int, int))                                                                    \
  WITH(cufftPlan2d, (CufftHandle*, int, int, int))                                                                    \
  WITH(cufftPlan3d, (CufftHandle*, int, int, int, int))                                                               \
  WITH(cufftPlanMany, (CufftHandle*, int, int*, int*, int, int, int*, int, int, int, int))                            \
  WITH(cufftMakePlan1d, (CufftHandle, int, int, int, std::size_t*))                                                   \
  WITH(cufftMakePlan2d, (CufftHandle, int, int, int, std::size_t*))                                                   \
  WITH(cufftMakePlan3d, (CufftHandle, int, int, int, int, std::size_t*))                                              \
  WITH(cufftMakePlanMany, (CufftHandle, int, int*, int*, int, int, int*, int, int, int, int, std::size_t*))           \
  WITH(cufftMakePlanMany64, (CufftHandle, int, Long*, Long*, Long, Long, Long*, Long, Long, int, Long, std::size_t*)) \
  WITH(cufftXtMakePlanMany,                                                                                           \
       (CufftHandle, int, Long*, Long*, Long, Long, int, Long*, Long, Long, int, Long, std::size_t*, int))            \
  WITH(cufftSetStream, (CufftHandle, CufftStream))                                                                    \
  WITH(cufftExecC2C, (CufftHandle, void*, void*, int))                                                                \
  WITH(cufftExecZ2Z, (CufftHandle, void*, void*, int))                                                                \
  WITH(cufftExecR2C, (CufftHandle, void*, void*))                                                                     \
  WITH(cufftExecD2Z, (CufftHandle, void*, void*))                                                                     \
  WITH(cufftExecC2R, (CufftHandle, void*, void*))                                                                     \
  WITH(cufftExecZ2D, (CufftHandle, void*, void*))                                                                     \
  WITH(cufftXtExec, (CufftHandle, void*, void*, int))                                                                 \
  WITH(cufftXtSetGPUs, (CufftHandle, int, int*))                                                                      \
  WITH(cufftXtSetCallback, (CufftHandle, void**, int, void**))                                                        \
  WITH(cufftXtSetJITCallback, (CufftHandle, const char*, const void*, std::size_t, int, void**))                      \
  WITH(__cufftXtSetJITCallback_12_7, (CufftHandle, const char*, const void*, std::size_t, int, void**))               \
  WITH(cufftDestroy, (CufftHandle))

#define FOURTUNE_DECLARE(name, arguments) int name arguments;
#pragma GCC visibility push(default)
extern "C" {
FOURTUNE_CUFFT_FUNCTIONS(FOURTUNE_DECLARE)
}
#pragma GCC visibility pop
#undef FOURTUNE_DECLARE

}  // namespace fourtune::dropin
