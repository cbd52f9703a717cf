// The CSV of `fourtune bench`: whatever can be read can be written, and reading that again gives the same file.
#include "tests/fuzz/fuzz.h"
#include "tools/bench/report/csv_read.h"
#include "tools/common/errors.h"

using namespace fourtune;
using namespace fourtune::tools;

namespace {

bool read(const fuzz::MemoryFile& file, CsvRun& run) {
  try {
    run = read_comparison_csv(file.path());
    return true;
  } catch (const Failure&) {
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  CsvRun run;
  if (!read(file, run)) return 0;
  const std::string written = comparison_csv(run.results, run.environment);
  file.write(written);
  fuzz::require(read(file, run), "what was written can be read", written);
  fuzz::require(comparison_csv(run.results, run.environment) == written, "the same file again", written);
  return 0;
}
