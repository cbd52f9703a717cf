// Numbers of 113 bits: GCC has them by this name on x86, and as long double on 64-bit ARM.
#pragma once

namespace fourtune::test {

#if defined(__aarch64__)
using Quad = long double;
#else
__extension__ typedef __float128 Quad;
#endif

}  // namespace fourtune::test
