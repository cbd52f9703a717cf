// Kernels that are started before the one ahead of them in the same call has ended (programmatic dependent launch, sm_90
// and later). Kernels that call these functions are launched so, and keep the rules:
//
// 1. The first kernel of a call starts when everything before the call is done.
// 2. Every thread calls dev_wait_earlier() on every path, before it reads what the kernel ahead writes and before it
//    writes anything: then all earlier kernels are done and what they wrote is seen.
// 3. dev_follow() comes where a kernel waits; it also lets the next kernel start at once, if this one has few blocks. So
//    what was written two launches back, or before, may be read without waiting.
//
// Few blocks only: the next kernel's blocks seem to go to the multiprocessors that are free first, as many as fit. When
// every kernel let the next one start at once, spreading to 512 x 512 cells behind a clearing of 128 blocks took 37 us
// in place of 25, while 128 x 128 cells gained (9.5 in place of 10.5; H200).
#if defined(FOURTUNE_EMULATED)
inline void dev_wait_earlier() { fourtune_emulated_host.wait_earlier(); }
inline void dev_follow() { dev_wait_earlier(); }
#else
__device__ __forceinline__ void dev_wait_earlier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void dev_follow() {
  dev_wait_earlier();
#if __CUDA_ARCH__ >= 900
  if (gridDim.x * gridDim.y <= 32) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#endif
