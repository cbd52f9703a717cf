// Problem tokens: every problem has one spelling, and the sizes of a valid problem can be used in computations.
#include "fourtune/problem.h"
#include "tests/fuzz/fuzz.h"

using namespace fourtune;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Problem problem;
  if (!fuzz::accepted([&] {
        problem = parse_problem(fuzz::text_of(data, size));
        validate(problem);
      }))
    return 0;
  const std::string token = to_token(problem);
  require(parse_problem(token) == problem, "parse(print(p)) == p", token);
  require(to_token(parse_problem(token)) == token, "the canonical token prints itself", token);
  require(allowed_error(problem) > 0, "a problem allows some error", token);
  if (problem.kind == Kind::fft) {
    resolved_input_layout(problem);
    resolved_output_layout(problem);
    for (int d = 0; d < 3; ++d)
      require(input_sizes(problem)[d] >= 1 && output_sizes(problem)[d] >= 1, "arrays have elements", token);
  }
  if (problem.type != 3) require(mode_count(problem) >= 1, "a problem has modes", token);
  return 0;
}
