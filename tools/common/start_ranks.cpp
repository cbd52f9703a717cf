#include "tools/common/start_ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "tools/common/errors.h"

namespace fourtune::tools {

void start_ranks(int ranks, const std::vector<std::string>& words) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "fourtune-ranks";
  if (!std::filesystem::exists(program))
    throw Failure(fmt::format("--ranks: there is no {}", program.string()),
                  "it is built where an MPI is found (docs/distributed.md)");
  const char* given = std::getenv("FOURTUNE_MPIRUN");
  std::istringstream split(given != nullptr ? given : "mpirun");
  std::vector<std::string> all;
  for (std::string word; split >> word;) all.push_back(word);
  if (all.empty()) all.emplace_back("mpirun");
  for (const std::string& word : {std::string("-n"), std::to_string(ranks), program.string()}) all.push_back(word);
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);  // more ranks than cores are asked for on purpose
  std::fflush(stdout);
  ::execvp(arguments[0], arguments.data());
  throw Failure(fmt::format("--ranks: {} does not start: {}", all[0], std::generic_category().message(errno)),
                "install an MPI (Debian: openmpi-bin), or name its mpirun in FOURTUNE_MPIRUN");
}

}  // namespace fourtune::tools
