// `fourtune bench`: the papers' experiments, and comparisons with other libraries.
#pragma once

namespace CLI {
class App;
}

// Declares the subcommand, whose callback does the work. Failures are thrown (tools/common/errors.h).
void add_bench(CLI::App& app);
