// How the functions of kernels are declared, and their shared memory.
#if defined(FOURTUNE_EMULATED)
#define NUFFT_DEVICE inline
#define NUFFT_SHARED(type, name) FOURTUNE_SHARED(type, name)
#else
#define NUFFT_DEVICE __device__ __forceinline__
#define NUFFT_SHARED(type, name)                                      \
  extern __shared__ __align__(16) unsigned char nufft_shared_bytes[]; \
  type* name = reinterpret_cast<type*>(nufft_shared_bytes)
#endif
