// The emulator's functions as a compiled kernel reaches them. This text is also the first part of every compiled
// kernel, so it includes nothing. All are called on a fiber of the running launch; line is that of the kernel's text.
#ifndef FOURTUNE_EMULATED_HOST_TABLE
#define FOURTUNE_EMULATED_HOST_TABLE

struct FourtuneEmulatedHost {
  void* (*shared)();  // start of this block's dynamic shared memory
  void (*barrier)(int line);
  // A rendezvous of the lanes in mask. kind 0: __syncwarp; 1: value of lane `source`; 2: one bit per lane whose value
  // is not zero; 3: one bit per lane that has this value.
  unsigned long long (*warp)(unsigned mask, int kind, int line, unsigned long long value, int source);
  void (*pause)(int line);  // lets other threads run
  void (*cluster_arrive)(int line);
  void (*cluster_wait)(int line);
  unsigned (*cluster_rank)();
  void* (*cluster_map)(void* local, unsigned rank, int line);
  void (*async_copy)(void* target, const void* source, unsigned long bytes, int line);
  void (*async_commit)();
  void (*async_wait)(int groups_left);
  void (*mbarrier_init)(void* barrier, int count, int line);
  void (*mbarrier_arrive)(void* barrier, long expected_bytes, int line);
  void (*mbarrier_wait)(void* barrier, int parity, int line);
  void (*bulk_copy)(void* target, const void* source, unsigned long bytes, void* barrier, int line);
  void (*wait_earlier)();  // griddepcontrol.wait: all earlier kernels are done, and what they wrote is seen
  void (*atomic)(void* address, unsigned long bytes, void* where);
  // Instrumented kernels only: a read or write of `bytes` at address by the instruction before `where`.
  void (*read)(void* address, unsigned long bytes, void* where);
  void (*write)(void* address, unsigned long bytes, void* where);
};

#endif
