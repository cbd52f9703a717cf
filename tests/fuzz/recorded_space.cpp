// Recorded search spaces: a space that was read, written and read again stays the same.
#include "db/recorded_space.h"

#include <sstream>

#include "tests/fuzz/fuzz.h"

using namespace fourtune;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  db::RecordedSpace space;
  if (!fuzz::accepted([&] {
        std::istringstream in{std::string(fuzz::text_of(data, size))};
        space = db::read_space(in);
      }))
    return 0;
  std::ostringstream written;
  db::write_space(written, space);
  std::istringstream in(written.str());
  fuzz::require(db::read_space(in) == space, "read(write(space)) == space", written.str());
  return 0;
}
