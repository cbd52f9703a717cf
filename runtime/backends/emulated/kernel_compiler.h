// The C++ compiler of this machine, which makes shared objects of kernels' texts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/backends/emulated/module.h"

namespace fourtune::runtime::emulated {

// What a program printed, standard error included; code < 0 when it could not be started.
struct ProgramOutput {
  int code = -1;
  std::string text;
};
// Standard output and error go to `log`, which is removed afterwards.
ProgramOutput run(const std::vector<std::string>& words, const std::filesystem::path& log);

// A name in the folder that no other process or thread uses.
std::filesystem::path unique_name(const std::filesystem::path& folder, const char* suffix);

// Everything besides a kernel's text that its compiled form depends on.
std::string compilation_digest(const CompileOptions& options);

// A kernel's text as the compiler receives it: unchanged, in a namespace of this name, and the functions that call it.
std::string compiled_text(const generator::KernelSource& kernel, const std::string& name);

// Makes `file` of texts by compiled_text. `names` is for messages. Throws as compile_modules does.
void compile_library(const std::string& texts, const std::string& names, const CompileOptions& options,
                     const std::filesystem::path& file);

}  // namespace fourtune::runtime::emulated
