// ---- what a launch is ---------------------------------------------------------------------------------------------
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

// Eight bytes of an argument: a number, or an address in one of the arrays.
struct Word {
  char where;       // s: a slot of memory; v: the values at the points; r: the results; t: a table; =: a number
  int index;        // of the slot or table
  long long value;  // byte offset, or the bits of the number
};
inline Word slot(int index, long long offset = 0) { return {'s', index, offset}; }
inline Word values(long long offset = 0) { return {'v', 0, offset}; }
inline Word results(long long offset = 0) { return {'r', 0, offset}; }
inline Word table(int index, long long offset = 0) { return {'t', index, offset}; }
inline Word integer(long long value) { return {'=', 0, value}; }
template <class T>
inline Word bits_of(T value) {
  Word word = {'=', 0, 0};
  std::memcpy(&word.value, &value, sizeof value);
  return word;
}
inline Word single(float value) { return bits_of(value); }
inline Word real(double value) { return bits_of(value); }
typedef std::vector<Word> Argument;  // of a kernel: one word, or the members of a struct

struct Launch {
  const char *stage, *name;
  const void* kernel;
  unsigned grid[3], block[3], cluster[3], shared;  // shared: bytes
  long long bytes;                                 // that it must move at least
  double flops;
  std::vector<Argument> arguments;
};
struct Memory {
  const char* name;
  long long bytes;  // 0: coordinates of the caller, or unused
  int same_as;      // the slot whose memory it uses; -1: shares no memory
};
struct Table {
  const void* data;
  std::size_t bytes;
};

// ---- this transform -----------------------------------------------------------------------------------------------
