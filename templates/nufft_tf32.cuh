// Products of single precision on the matrix units, which take TF32 numbers: of 32 bits they see the first 19. So a
// number is the sum of two of those, and three of the four products of two such sums are added up ("3xTF32"). What is
// left out is 2^-20 of a product.
//
// Both kernels keep a tile of 8 x NUFFT_TY cells times 8 planes in registers: plane z lies in slot z % 8, and a point's
// weights of z are staged in that rotation. A point reaches NUFFT_W of the eight, so points of 9 - NUFFT_W planes go
// together.
#define NUFFT_SPAN (8 - NUFFT_W)  // planes above the lowest one in which points of a product may begin

// Lane l has a[l / 4][l % 4] of a 16 x 8 matrix, that of the row 8 below, and both four columns to the right.
struct Left {
  unsigned high[4], low[4];
};
// Lane l has b[l % 4][l / 4] of an 8 x 8 matrix, and that of the row four below.
struct Right {
  unsigned high[2], low[2];
};
NUFFT_DEVICE void nufft_split(float value, unsigned& high, unsigned& low) {
  high = __float_as_uint(value) & 0xffffe000u;
  low = __float_as_uint(value - __uint_as_float(high));
}

// c += a b. Lane l has c[l / 4][2 (l % 4)], the next one, and both of the row 8 below.
NUFFT_DEVICE void dev_multiply_tf32(float* c, const unsigned* a, const unsigned* b) {
#if !defined(FOURTUNE_EMULATED) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  const auto pair = [](unsigned one, unsigned other) { return static_cast<unsigned long long>(other) << 32 | one; };
  const auto seen = [](unsigned long long both, int which) {
    return __uint_as_float(static_cast<unsigned>(both >> (32 * which)) & 0xffffe000u);
  };
  const int lane = static_cast<int>(threadIdx.x & 31), row = lane / 4 * 4, column = lane % 4 * 8;
  for (int k = 0; k < 4; ++k) {
    const unsigned long long left[2] = {__shfl_sync(0xffffffffu, pair(a[0], a[1]), row + k),
                                        __shfl_sync(0xffffffffu, pair(a[2], a[3]), row + k)};
    const unsigned long long first = __shfl_sync(0xffffffffu, pair(b[0], b[1]), column + k);
    const unsigned long long second = __shfl_sync(0xffffffffu, pair(b[0], b[1]), column + 4 + k);
    for (int half = 0; half < 2; ++half) {  // columns of a four apart
      c[0] = __fmaf_rn(seen(left[half], 0), seen(first, half), c[0]);
      c[1] = __fmaf_rn(seen(left[half], 0), seen(second, half), c[1]);
      c[2] = __fmaf_rn(seen(left[half], 1), seen(first, half), c[2]);
      c[3] = __fmaf_rn(seen(left[half], 1), seen(second, half), c[3]);
    }
  }
#endif
}
// The units round sums towards zero, so that the error of a long sum of one sign grows with its length. rest: the small
// products, so that `sum` is rounded once.
NUFFT_DEVICE void nufft_add_products(float* sum, float* rest, const Left& a, const Right& b) {
  dev_multiply_tf32(rest, a.low, b.high);
  dev_multiply_tf32(rest, a.high, b.low);
  dev_multiply_tf32(sum, a.high, b.high);
}
// The same for sums of any length: the units start at zero, and what they give is added with rounding to nearest.
NUFFT_DEVICE void nufft_add_rounded(float* sum, const Left& a, const Right& b) {
  float one[4] = {0, 0, 0, 0};
  nufft_add_products(one, one, a, b);
#pragma unroll
  for (int k = 0; k < 4; ++k) sum[k] += one[k];
}

// Eight numbers as two vectors.
NUFFT_DEVICE void nufft_put_eight(float* to, const float* v) {
  reinterpret_cast<float4*>(to)[0] = make_float4(v[0], v[1], v[2], v[3]);
  reinterpret_cast<float4*>(to)[1] = make_float4(v[4], v[5], v[6], v[7]);
}
NUFFT_DEVICE void nufft_take_eight(float* v, const float* from) {
  const float4 low = reinterpret_cast<const float4*>(from)[0], high = reinterpret_cast<const float4*>(from)[1];
  v[0] = low.x, v[1] = low.y, v[2] = low.z, v[3] = low.w;
  v[4] = high.x, v[5] = high.y, v[6] = high.z, v[7] = high.w;
}

// The weights at window coordinate z, moved up by `by` of eight places; zeros elsewhere. turns: what leaves at the end
// comes in at the beginning. Moved in registers: rows that are written number by number would hit the same banks.
template <bool turns>
NUFFT_DEVICE void nufft_weights_of_eight(float* to, float z, int by) {
  float v[NUFFT_W];
  nufft_window(z, v);
#pragma unroll
  for (int k = 0; k < 8; ++k) to[k] = k < NUFFT_W ? v[k < NUFFT_W ? k : 0] : 0;
#pragma unroll
  for (int step = 1; step < 8; step *= 2) {
    if (!turns && step > NUFFT_SPAN) break;
    const bool moves = (by & step) != 0;
    float moved[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) moved[k] = k >= step || turns ? to[(k - step) & 7] : 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) to[k] = moves ? moved[k] : to[k];
  }
}
