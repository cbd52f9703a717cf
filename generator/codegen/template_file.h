// CUDA text from its file, in builds that read templates/ when a program starts (FOURTUNE_TEMPLATES_AT_RUN_TIME)
// instead of having it inside. A changed template is tried without compiling anything, which tools/mutate does for each
// mutant.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace fourtune::generator {

// The text of a template, from $FOURTUNE_TEMPLATES if it names a folder, else from `folder`. Throws
// std::runtime_error.
inline std::string template_file(const std::string& folder, const std::string& name) {
  const char* chosen = std::getenv("FOURTUNE_TEMPLATES");
  const std::string path = (chosen && *chosen ? chosen : folder) + "/" + name;
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (text.empty())
    throw std::runtime_error("cannot read " + path +
                             "; FOURTUNE_TEMPLATES must name a folder like templates/, or not be set");
  return text;
}

}  // namespace fourtune::generator
