// Memory for a thread that compiles. NVRTC takes 15 to 30 MB in small pieces, and a thread's heap grows for them 128 KB
// at a time: seven kernels made 1560 calls that change the address space and 26000 page faults, which all threads of a
// process wait for.
#pragma once

#include <cstddef>

namespace fourtune::runtime::cuda {

// In its life, the calling thread's heap has room for a compilation, whose pages are there; at its end the pages go
// back to the system. It only asks malloc, whatever malloc is: one that is not glibc's loses a millisecond. As after
// any large block that was freed, glibc then keeps blocks of up to kBytes in its heaps.
class CompileMemory {
 public:
  CompileMemory();
  CompileMemory(const CompileMemory&) = delete;
  CompileMemory& operator=(const CompileMemory&) = delete;
  ~CompileMemory();

 private:
  static constexpr std::size_t kBytes = std::size_t{24} << 20, kPresent = std::size_t{16} << 20;
};

}  // namespace fourtune::runtime::cuda
