// Located points as they are kept: what every kernel that reads or writes them uses. A kernel gets `records`, the base of
// the array, and never looks inside: nufft_load and nufft_store take the place of a point, nufft_unpack also the first
// cell of the group of bins that the point lies in (kernels that work by subproblems), or zeros (kernels that do not).

// What spreading and interpolation need of a point: its window coordinate z in [-1, 1] in each dimension and its first
// cell, packed. 16 bytes in single, 32 in double precision.
struct Located {
  real z[3];
  int cell[3];
};

#if NUFFT_DOUBLE
struct alignas(16) Record {
  double2 a, b;
};
NUFFT_DEVICE unsigned long long nufft_pack(const int* cell) {
  return static_cast<unsigned long long>(cell[0]) | static_cast<unsigned long long>(cell[1]) << NUFFT_BITS0 |
         static_cast<unsigned long long>(cell[2]) << (NUFFT_BITS0 + NUFFT_BITS1);
}
NUFFT_DEVICE void nufft_store(Record* records, count i, const Located& p) {
  Record* at = records + i;
  double2* to = reinterpret_cast<double2*>(at);
  to[0] = make_double2(p.z[0], p.z[1]);
  to[1] = make_double2(p.z[2], __longlong_as_double(static_cast<long long>(nufft_pack(p.cell))));
}
NUFFT_DEVICE Record nufft_load(const Record* records, count i) {
  const Record* at = records + i;
  Record r;
  r.a = __ldg(reinterpret_cast<const double2*>(at));
  r.b = __ldg(reinterpret_cast<const double2*>(at) + 1);
  return r;
}
NUFFT_DEVICE Located nufft_unpack(const Record& r, int x0, int y0, int z0) {
  (void)x0, (void)y0, (void)z0;
  const unsigned long long cell = static_cast<unsigned long long>(__double_as_longlong(r.b.y));
  Located p;
  p.z[0] = r.a.x;
  p.z[1] = r.a.y;
  p.z[2] = r.b.x;
  p.cell[0] = static_cast<int>(cell & ((1ull << NUFFT_BITS0) - 1));
  p.cell[1] = static_cast<int>(cell >> NUFFT_BITS0 & ((1ull << NUFFT_BITS1) - 1));
  p.cell[2] = static_cast<int>(cell >> (NUFFT_BITS0 + NUFFT_BITS1));
  return p;
}
#else
struct alignas(16) Record {
  float4 a;
};
NUFFT_DEVICE void nufft_store(Record* records, count i, const Located& p) {
  Record* at = records + i;
  const unsigned long long cell = static_cast<unsigned long long>(p.cell[0]) |
                                  static_cast<unsigned long long>(p.cell[1]) << NUFFT_BITS0 |
                                  static_cast<unsigned long long>(p.cell[2]) << (NUFFT_BITS0 + NUFFT_BITS1);
  *reinterpret_cast<float4*>(at) = make_float4(p.z[0], p.z[1], p.z[2], __uint_as_float(static_cast<unsigned>(cell)));
}
NUFFT_DEVICE Record nufft_load(const Record* records, count i) {
  const Record* at = records + i;
  Record r;
  r.a = __ldg(reinterpret_cast<const float4*>(at));
  return r;
}
NUFFT_DEVICE Located nufft_unpack(const Record& r, int x0, int y0, int z0) {
  (void)x0, (void)y0, (void)z0;
  const unsigned long long cell = __float_as_uint(r.a.w);
  Located p;
  p.z[0] = r.a.x;
  p.z[1] = r.a.y;
  p.z[2] = r.a.z;
  p.cell[0] = static_cast<int>(cell & ((1ull << NUFFT_BITS0) - 1));
  p.cell[1] = static_cast<int>(cell >> NUFFT_BITS0 & ((1ull << NUFFT_BITS1) - 1));
  p.cell[2] = static_cast<int>(cell >> (NUFFT_BITS0 + NUFFT_BITS1));
  return p;
}
#endif
