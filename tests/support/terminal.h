// Runs a program on a new terminal, for tests of what people see.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/program.h"

namespace fourtune::test {

// As run_program, with standard output and error on a terminal of so many columns; both come back in Finished::out.
Finished run_on_terminal(const std::vector<std::string>& words, int columns,
                         const std::vector<std::pair<std::string, std::string>>& environment = {});

}  // namespace fourtune::test
