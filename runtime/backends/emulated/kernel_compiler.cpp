#include "runtime/backends/emulated/kernel_compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "base/text.h"
#include "db/digest.h"
#include "embedded_texts.h"
#include "fourtune/status.h"

extern char** environ;

namespace fourtune::runtime::emulated {
namespace {

namespace fs = std::filesystem;
std::atomic<int> compilations_done{0};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string compiler() {
  const char* forced = std::getenv("FOURTUNE_EMULATED_CXX");
  return forced && *forced ? forced : "g++";
}

// Whether what need not be optimised is not, as in most runs of tools/check.
bool hurried() {
  const char* set = std::getenv("FOURTUNE_EMULATED_QUICK");
  const std::string_view wanted = set ? set : "";
  if (!wanted.empty() && wanted != "0" && wanted != "1")
    throw Error(Status::invalid_argument,
                fmt::format("FOURTUNE_EMULATED_QUICK is '{}'; 1 compiles kernels without optimisation, 0 with it",
                            text::shown(wanted, 100)));
  return wanted == "1";
}

std::vector<std::string> flags(const CompileOptions& options) {
  // -ffp-contract=fast matches the CUDA compilers; no strict aliasing, since shared memory is used as several types.
  std::vector<std::string> list{"-std=c++20",
                                options.quick || (hurried() && !options.instrumented) ? "-O0" : "-O1",
                                "-g1",
                                "-w",
                                "-fPIC",
                                "-fvisibility=hidden",
                                "-fno-exceptions",
                                "-fno-rtti",
                                "-fno-strict-aliasing",
                                "-fno-math-errno",
                                "-ffp-contract=fast",
                                "-fno-stack-protector",
                                "-fstack-clash-protection",
                                "-U_FORTIFY_SOURCE"};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma")) list.push_back("-mfma");
#endif
  if (options.instrumented) {
    list.push_back("-fsanitize=thread");
    list.push_back("--param=tsan-instrument-func-entry-exit=0");
  }
  if (options.undefined) {
    list.push_back("-fsanitize=undefined");
    list.push_back("-fno-sanitize=vptr");
    list.push_back("-fsanitize-undefined-trap-on-error");
  }
  return list;
}

// The macros that a kernel's text defines.
std::set<std::string_view> macros_of(std::string_view text) {
  constexpr std::string_view kDefine = "#define ";
  std::set<std::string_view> names;
  for (std::size_t at = text.find(kDefine); at != std::string_view::npos; at = text.find(kDefine, at)) {
    at += kDefine.size();
    names.insert(text.substr(at, text.find_first_of(" (\n", at) - at));
  }
  return names;
}

// The file by this name, which is made where it is missing.
class Temporary {
 public:
  Temporary(const fs::path& folder, const char* suffix) : path_(unique_name(folder, suffix)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  const fs::path& path() const { return path_; }
  void write(std::initializer_list<std::string_view> parts) const {
    std::ofstream out(path_, std::ios::binary);
    for (const std::string_view part : parts) out << part;
  }

 private:
  fs::path path_;
};

void start_compiler(const std::vector<std::string>& words, const std::string& names, const fs::path& folder) {
  const ProgramOutput output = run(words, unique_name(folder, ".log"));
  if (output.code == 0) return;
  if (output.code < 0 || output.code == 127)
    throw Error(Status::backend_unavailable,
                fmt::format("the emulated backend needs a C++ compiler and '{}' cannot be started; install g++ or set "
                            "FOURTUNE_EMULATED_CXX",
                            words[0]));
  throw Error(Status::internal,
              fmt::format("kernel {} does not compile for the processor:\n{}", names, output.text.substr(0, 8000)));
}

// The functions that instrumented kernels call: one object for all of them.
fs::path hooks_object(const fs::path& folder) {
  const std::string digest = db::sha256({kHostTableText, kHooksText, compiler(), compiler_version()});
  fs::path object = folder / ("hooks-" + digest.substr(0, 40) + ".o");
  if (fs::exists(object)) return object;
  const Temporary text(folder, ".cpp"), made(folder, ".o");
  text.write({kHostTableText, kHooksText});
  start_compiler({compiler(), "-O1", "-fPIC", "-w", "-fno-stack-protector", "-c", text.path(), "-o", made.path()},
                 "hooks", folder);
  fs::rename(made.path(), object);
  return object;
}

}  // namespace

int compilations() noexcept { return compilations_done; }

ProgramOutput run(const std::vector<std::string>& words, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ProgramOutput output;
  if (failed == 0) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    output.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    output.text = read_file(log);
  }
  std::error_code ignored;
  fs::remove(log, ignored);
  return output;
}

fs::path unique_name(const fs::path& folder, const char* suffix) {
  static std::atomic<int> serial{0};
  return folder / fmt::format("tmp-{}-{}{}", ::getpid(), serial++, suffix);
}

std::string compiler_version() {
  static const std::string version = [] {
    const ProgramOutput output = run({compiler(), "--version"}, unique_name(cache_folder(), ".log"));
    return output.code == 0 ? output.text.substr(0, output.text.find('\n')) : std::string();
  }();
  return version;
}

std::string compilation_digest(const CompileOptions& options) {
  return db::sha256({kHostTableText, kShimText, kHooksText, fmt::format("{}", fmt::join(flags(options), " ")),
                     compiler(), compiler_version()});
}

// Macros end with the text that defines them, and faults name lines of the kernel's text.
std::string compiled_text(const generator::KernelSource& kernel, const std::string& name) {
  const auto macros = macros_of(kernel.text);
  std::string text;
  for (const std::string_view macro : macros) text += fmt::format("#pragma push_macro(\"{}\")\n", macro);
  text += fmt::format("namespace {} {{\n#line 1 \"{}.cpp\"\n{}\n}}\n", name, kernel.entry, kernel.text);
  for (const std::string_view macro : macros) text += fmt::format("#pragma pop_macro(\"{}\")\n", macro);
  return text + fmt::format("FOURTUNE_ENTRY({0}, {0}::{1})\n", name, kernel.entry);
}

// Compiles and links in one call. -nostdlib leaves out the C++ library, which no kernel uses, in a third of the
// linker's time, and the sanitizers' libraries, in whose place the hooks stand. This program has loaded the C library
// and that of mathematics, so the linker need not read them either, for which it took half of what was left of its
// time.
void compile_library(const std::string& texts, const std::string& names, const CompileOptions& options,
                     const fs::path& file) {
  const fs::path folder = file.parent_path();
  const Temporary text(folder, ".cpp"), shim(folder, ".h"), made(folder, ".so");
  text.write({texts});
  shim.write({kHostTableText, kShimText});
  ++compilations_done;
  std::vector<std::string> words{compiler()};
  for (const std::string& flag : flags(options)) words.push_back(flag);
  for (const char* word :
       {"-include", shim.path().c_str(), "-shared", "-nostdlib", "-Wl,-Bsymbolic", text.path().c_str()})
    words.emplace_back(word);
  if (options.instrumented) words.push_back(hooks_object(folder));
  for (const char* word : {"-o", made.path().c_str(), "-lgcc"}) words.emplace_back(word);
  start_compiler(words, names, folder);
  fs::rename(made.path(), file);
}

}  // namespace fourtune::runtime::emulated
