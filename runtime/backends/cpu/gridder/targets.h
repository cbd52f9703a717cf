// Kernels are compiled for AVX-512, AVX2 and the portable baseline. Include this before Highway.
#pragma once
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#endif
