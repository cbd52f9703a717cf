// The `fourtune` command line.
#include "tools/cli/commands.h"

int main(int argc, char** argv) { return fourtune::tools::run_command_line(argc, argv); }
