// Kernels that are started while the one before them still runs (programmatic dependent launch, sm_90 and later), so
// that their start does not show. Kernels whose text has these functions are launched so, and keep the rules:
//
// 0. The first kernel of a call starts when everything before the call is done.
// 1. Every thread calls dev_wait_earlier() on every path, before it reads what an earlier kernel writes and before it
//    writes anything: then all earlier kernels are done and what they wrote is seen.
// 2. dev_start_next() allows the next kernel to start once all blocks have called it. It comes after dev_wait_earlier(),
//    so what was written two launches back, or before, may be read without waiting. A spreader, whose next kernel
//    reads nothing early, may call it first.
#if defined(FOURTUNE_EMULATED)
inline void dev_wait_earlier() {}
inline void dev_start_next() {}
#else
__device__ __forceinline__ void dev_wait_earlier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void dev_start_next() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#endif
#if defined(FOURTUNE_EMULATED)
inline
#else
__device__ __forceinline__
#endif
void dev_follow() {
  dev_wait_earlier();
  dev_start_next();
}

