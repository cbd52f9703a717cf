// Results in the format T4: what was read and is written reads back, and is written again with the same bytes.
#include "tuner/report/t4.h"

#include "tests/fuzz/fuzz.h"

using namespace fourtune;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  db::StoreContents contents;
  if (!fuzz::accepted([&] { contents = tuner::contents_of_t4(fuzz::text_of(data, size)); })) return 0;
  const std::string text = tuner::t4_text(contents);
  fuzz::require(tuner::t4_text(tuner::contents_of_t4(text)) == text, "write(read(text)) == text", text);
  return 0;
}
