// Problem lists: every problem is valid and occurs once.
#include "tools/common/problem_list.h"

#include <algorithm>

#include "tests/fuzz/fuzz.h"
#include "tools/common/errors.h"

using namespace fourtune;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  std::vector<Problem> problems;
  try {
    problems = tools::problems_from_file(file.path());
  } catch (const tools::UsageError&) {
    return 0;
  }
  fuzz::require(!problems.empty(), "a list that is accepted has problems");
  for (auto it = problems.begin(); it != problems.end(); ++it) {
    validate(*it);
    fuzz::require(std::find(problems.begin(), it, *it) == it, "each problem comes once", to_token(*it));
  }
  return 0;
}
