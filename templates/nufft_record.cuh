// Located points as they are kept (generator/plan/nufft/record.h): what every kernel that reads or writes them uses. A kernel
// gets `records`, the base of the array, and never looks inside: nufft_load takes the place of a point, nufft_unpack
// also the first cell of the group of bins that the point lies in (kernels that work by subproblems), or zeros (kernels
// that do not, for which records hold whole cells). Written by the sort alone.
#define NUFFT_CELLS_AT (NUFFT_DIM * NUFFT_FRACTION)                              // bits before the cells
#define NUFFT_BIN_AT (NUFFT_CELLS_AT + NUFFT_CELL0 + NUFFT_CELL1 + NUFFT_CELL2)  // relative: and the bin's number

// What spreading and interpolation need of a point: its window coordinate z in [-1, 1] in each dimension, first cells.
struct Located {
  real z[3];
  int cell[3];
};
// A point as the sort knows it: first cells, and the place in the cell in units of 2^-NUFFT_FRACTION.
#if NUFFT_FRACTION > 32
typedef unsigned long long Part;
#else
typedef unsigned Part;
#endif
struct Placed {
  Part part[3];
  int cell[3];
};

// In registers and in shared memory; global arrays of them are blocks of 32.
struct Record {
  unsigned w[NUFFT_RECORD_WORDS];
};

// Bits [at, at + bits) of a record, and those bits set to a value of so many bits where they were zero (else flipped).
template <int at, int bits>
NUFFT_DEVICE unsigned long long nufft_field(const Record& r) {
  constexpr int last = NUFFT_RECORD_WORDS - 1, word = at / 32 < last ? at / 32 : last, shift = at % 32;
  unsigned long long v = r.w[word] >> shift;
  if (shift + bits > 32) v |= static_cast<unsigned long long>(r.w[word < last ? word + 1 : last]) << (32 - shift);
  if (shift + bits > 64)
    v |= static_cast<unsigned long long>(r.w[word + 1 < last ? word + 2 : last]) << (64 - shift) % 64;
  return bits == 0 ? 0 : v & (~0ull >> (64 - (bits == 0 ? 64 : bits)));
}
template <int at, int bits>
NUFFT_DEVICE void nufft_set(Record& r, unsigned long long v) {
  constexpr int last = NUFFT_RECORD_WORDS - 1, word = at / 32 < last ? at / 32 : last, shift = at % 32;
  if (bits == 0) return;
  r.w[word] ^= static_cast<unsigned>(v << shift);
  if (shift + bits > 32) r.w[word < last ? word + 1 : last] ^= static_cast<unsigned>(v >> (32 - shift));
  if (shift + bits > 64) r.w[word + 1 < last ? word + 2 : last] ^= static_cast<unsigned>(v >> (64 - shift) % 64);
}

// Visits the parts of record i with their first word: 16, then 8, then 4 bytes.
template <class Bytes, class Wide, class Pair, class One>
NUFFT_DEVICE void nufft_parts(Bytes* records, count i, Wide wide, Pair pair, One one) {
#if NUFFT_RECORD_WORDS == 1 || NUFFT_RECORD_WORDS == 2 || NUFFT_RECORD_WORDS == 4  // one part: a plain array
  const unsigned lane = 0;
  Bytes* block = records + static_cast<unsigned long long>(i) * (4 * NUFFT_RECORD_WORDS);
#else
  const unsigned lane = static_cast<unsigned>(i & 31);
  Bytes* block = records + static_cast<unsigned long long>(i >> 5) * (128 * NUFFT_RECORD_WORDS);
#endif
#pragma unroll
  for (int k = 0; k < NUFFT_RECORD_WORDS / 4; ++k) wide(block + k * 512 + lane * 16, 4 * k);
#if NUFFT_RECORD_WORDS & 2
  pair(block + NUFFT_RECORD_WORDS / 4 * 512 + lane * 8, NUFFT_RECORD_WORDS / 4 * 4);
#endif
#if NUFFT_RECORD_WORDS & 1
  one(block + NUFFT_RECORD_WORDS / 2 * 256 + lane * 4, NUFFT_RECORD_WORDS - 1);
#endif
  (void)wide, (void)pair, (void)one;
}
#define NUFFT_LOAD_PARTS(take)                                                                        \
  Record r;                                                                                           \
  nufft_parts(                                                                                        \
      reinterpret_cast<const unsigned char*>(records), i,                                             \
      [&](const unsigned char* at, int k) {                                                           \
        const uint4 v = take(reinterpret_cast<const uint4*>(at));                                     \
        r.w[k] = v.x, r.w[k + 1] = v.y, r.w[k + 2] = v.z, r.w[k + 3] = v.w;                           \
      },                                                                                              \
      [&](const unsigned char* at, int k) {                                                           \
        const uint2 v = take(reinterpret_cast<const uint2*>(at));                                     \
        r.w[k] = v.x, r.w[k + 1] = v.y;                                                               \
      },                                                                                              \
      [&](const unsigned char* at, int k) { r.w[k] = take(reinterpret_cast<const unsigned*>(at)); }); \
  return r

// Record i; the second reads what this kernel itself may write later.
NUFFT_DEVICE Record nufft_load(const Record* records, count i) { NUFFT_LOAD_PARTS(__ldg); }
template <class T>
NUFFT_DEVICE T nufft_plain(const T* at) {
  return *at;
}
NUFFT_DEVICE Record nufft_load_changing(const Record* records, count i) { NUFFT_LOAD_PARTS(nufft_plain); }

NUFFT_DEVICE void nufft_store(Record* records, count i, const Record& r) {
  nufft_parts(
      reinterpret_cast<unsigned char*>(records), i,
      [&](unsigned char* at, int k) {
        *reinterpret_cast<uint4*>(at) = make_uint4(r.w[k], r.w[k + 1], r.w[k + 2], r.w[k + 3]);
      },
      [&](unsigned char* at, int k) { *reinterpret_cast<uint2*>(at) = make_uint2(r.w[k], r.w[k + 1]); },
      [&](unsigned char* at, int k) { *reinterpret_cast<unsigned*>(at) = r.w[k]; });
}

// z of the middle of a unit: 2 v - 3 with v in [1, 2) made from bits.
NUFFT_DEVICE real nufft_window_coordinate(unsigned long long part) {
#if NUFFT_DOUBLE
  const unsigned long long half = NUFFT_FRACTION < 52 ? 1ull << 51 >> NUFFT_FRACTION : 0;
  const double v =
      __longlong_as_double(static_cast<long long>(0x3ff0000000000000ull | part << (52 - NUFFT_FRACTION) | half));
  return nufft_fma(2.0, v, -3.0) + (NUFFT_FRACTION < 52 ? 0.0 : 0x1p-52);
#else
  const unsigned half = NUFFT_FRACTION < 23 ? 1u << 22 >> NUFFT_FRACTION : 0;
  const float v = __uint_as_float(0x3f800000u | static_cast<unsigned>(part) << (23 - NUFFT_FRACTION) | half);
  return nufft_fma(2.0f, v, -3.0f) + (NUFFT_FRACTION < 23 ? 0.0f : 0x1p-23f);
#endif
}

// x0, y0, z0: the first cell of the group's bins (0 along the dimension whose bins lie together).
NUFFT_DEVICE Located nufft_unpack(const Record& r, int x0, int y0, int z0) {
  Located p;
  p.z[1] = p.z[2] = 0;
  p.z[0] = nufft_window_coordinate(nufft_field<0, NUFFT_FRACTION>(r));
#if NUFFT_DIM > 1
  p.z[1] = nufft_window_coordinate(nufft_field<NUFFT_FRACTION, NUFFT_FRACTION>(r));
#endif
#if NUFFT_DIM > 2
  p.z[2] = nufft_window_coordinate(nufft_field<2 * NUFFT_FRACTION, NUFFT_FRACTION>(r));
#endif
  p.cell[0] = static_cast<int>(nufft_field<NUFFT_CELLS_AT, NUFFT_CELL0>(r));
  p.cell[1] = static_cast<int>(nufft_field<NUFFT_CELLS_AT + NUFFT_CELL0, NUFFT_CELL1>(r));
  p.cell[2] = static_cast<int>(nufft_field<NUFFT_CELLS_AT + NUFFT_CELL0 + NUFFT_CELL1, NUFFT_CELL2>(r));
#if NUFFT_RELATIVE
  p.cell[0] += x0, p.cell[1] += y0, p.cell[2] += z0;
#if NUFFT_SLIDE == 2
  p.cell[2] += static_cast<int>(nufft_field<NUFFT_BIN_AT, NUFFT_GROUP_BITS>(r)) * NUFFT_B2;
#elif NUFFT_SLIDE == 1
  p.cell[1] += static_cast<int>(nufft_field<NUFFT_BIN_AT, NUFFT_GROUP_BITS>(r)) * NUFFT_B1;
#endif
#else
  (void)x0, (void)y0, (void)z0;
#endif
  return p;
}

// bin: its number within its group, or (between the levels of a sort) the low bits of that within its coarse bin.
NUFFT_DEVICE Record nufft_pack(const Placed& p, unsigned long long bin) {
  Record r;
#pragma unroll
  for (int k = 0; k < NUFFT_RECORD_WORDS; ++k) r.w[k] = 0;
  nufft_set<0, NUFFT_FRACTION>(r, p.part[0]);
#if NUFFT_DIM > 1
  nufft_set<NUFFT_FRACTION, NUFFT_FRACTION>(r, p.part[1]);
#endif
#if NUFFT_DIM > 2
  nufft_set<2 * NUFFT_FRACTION, NUFFT_FRACTION>(r, p.part[2]);
#endif
#if NUFFT_RELATIVE
  const unsigned x = static_cast<unsigned>(p.cell[0]) % NUFFT_B0, y = static_cast<unsigned>(p.cell[1]) % NUFFT_B1;
  const unsigned z = static_cast<unsigned>(p.cell[2]) % NUFFT_B2;
  nufft_set<NUFFT_BIN_AT, NUFFT_LOW_BITS>(r, bin);
#else
  const unsigned x = static_cast<unsigned>(p.cell[0]), y = static_cast<unsigned>(p.cell[1]);
  const unsigned z = static_cast<unsigned>(p.cell[2]);
  (void)bin;
#endif
  nufft_set<NUFFT_CELLS_AT, NUFFT_CELL0>(r, x);
  nufft_set<NUFFT_CELLS_AT + NUFFT_CELL0, NUFFT_CELL1>(r, y);
  nufft_set<NUFFT_CELLS_AT + NUFFT_CELL0 + NUFFT_CELL1, NUFFT_CELL2>(r, z);
  return r;
}
