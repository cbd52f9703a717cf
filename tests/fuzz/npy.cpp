// Arrays of NumPy: as many values as the shape says, and the same values after writing and reading them.
#include "base/npy.h"

#include <cstring>

#include "tests/fuzz/fuzz.h"

using namespace fourtune;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  NpyArray array;
  if (!fuzz::accepted([&] { array = read_npy(file.path()); })) return 0;
  std::int64_t count = 1;
  for (const std::int64_t n : array.shape) count *= n;
  require(array.count() == count, "as many values as the shape says");
  write_npy(file.path(), "<c16", array.shape, array.values.data(), array.values.size() * sizeof(array.values[0]));
  const NpyArray again = read_npy(file.path());
  require(again.shape == array.shape && again.is_complex, "the shape comes back");
  require(count == 0 || std::memcmp(again.values.data(), array.values.data(), count * sizeof(again.values[0])) == 0,
          "every bit comes back");
  return 0;
}
