#include "runtime/backends/emulated/module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "base/locked_file.h"
#include "db/digest.h"
#include "embedded_texts.h"
#include "runtime/backends/emulated/engine.h"

extern char** environ;

namespace fourtune::runtime::emulated {
namespace {

namespace fs = std::filesystem;
std::atomic<int> compilations_done{0};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The output of a program, standard error included; code < 0 when it could not be started.
struct Output {
  int code = -1;
  std::string text;
};
Output run(const std::vector<std::string>& words, const fs::path& log) {
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
  Output output;
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

std::string compiler() {
  const char* forced = std::getenv("FOURTUNE_EMULATED_CXX");
  return forced && *forced ? forced : "g++";
}

fs::path unique_name(const fs::path& folder, const char* suffix) {
  static std::atomic<int> serial{0};
  return folder / fmt::format("tmp-{}-{}{}", ::getpid(), serial++, suffix);
}

std::vector<std::string> flags(const CompileOptions& options) {
  // -ffp-contract=fast matches the CUDA compilers; no strict aliasing, since shared memory is used as several types.
  std::vector<std::string> list{"-std=c++20",
                                options.quick ? "-O0" : "-O1",
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

// Limits the folder to a few thousand modules: deletes the oldest half and what killed processes left behind. Other
// processes may do the same, so failures do not matter.
void trim(const fs::path& folder) {
  constexpr std::size_t kMost = 4096;
  constexpr std::chrono::hours kLeftOver{24};
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> modules;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const auto made = entry.last_write_time(ignored);
    if (entry.path().filename().string().starts_with("tmp-")) {
      if (fs::file_time_type::clock::now() - made > kLeftOver) fs::remove(entry.path(), ignored);
    } else if (entry.path().extension() == ".so") {
      modules.emplace_back(made, entry.path());
    }
  }
  if (modules.size() <= kMost) return;
  std::sort(modules.begin(), modules.end());
  for (std::size_t i = 0; i < modules.size() / 2; ++i) fs::remove(modules[i].second, ignored);
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

// What the compiler receives after the shim: each kernel's unchanged text in a namespace, and the function that calls it.
// Macros end with the text that defines them, and faults name lines of the kernel's text.
std::string compiled_text(std::span<const generator::KernelSource> kernels) {
  std::string text;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto macros = macros_of(kernels[i].text);
    for (const std::string_view name : macros) text += fmt::format("#pragma push_macro(\"{}\")\n", name);
    text += fmt::format("namespace fourtune_kernel_{} {{\n#line 1 \"{}.cpp\"\n{}\n}}\n", i, kernels[i].entry,
                        kernels[i].text);
    for (const std::string_view name : macros) text += fmt::format("#pragma pop_macro(\"{}\")\n", name);
    text += fmt::format("FOURTUNE_ENTRY({0}, fourtune_kernel_{0}::{1})\n", i, kernels[i].entry);
  }
  return text;
}

void compile(const std::string& code, const std::string& names, const CompileOptions& options, const fs::path& file) {
  const fs::path folder = file.parent_path();
  const fs::path text = unique_name(folder, ".cpp"), object = unique_name(folder, ".o"),
                 made = unique_name(folder, ".so"), log = unique_name(folder, ".log"),
                 hooks = unique_name(folder, ".cpp"), shim = unique_name(folder, ".h");
  const auto remove_all = [&] {
    std::error_code ignored;
    for (const fs::path& path : {text, object, made, hooks, shim}) fs::remove(path, ignored);
  };
  const auto step = [&](const std::vector<std::string>& words) {
    const Output output = run(words, log);
    if (output.code == 0) return;
    remove_all();
    if (output.code < 0 || output.code == 127)
      throw Error(
          Status::backend_unavailable,
          fmt::format("the emulated backend needs a C++ compiler and '{}' cannot be started; install g++ or set "
                      "FOURTUNE_EMULATED_CXX",
                      words[0]));
    throw Error(Status::internal,
                fmt::format("kernel {} does not compile for the processor:\n{}", names, output.text.substr(0, 8000)));
  };
  std::ofstream(text, std::ios::binary) << code;
  std::ofstream(shim, std::ios::binary) << kHostTableText << kShimText;
  if (compilations_done++ % 64 == 0) trim(folder);
  std::vector<std::string> words{compiler()};
  for (const std::string& flag : flags(options)) words.push_back(flag);
  for (const std::string& word :
       {std::string("-include"), shim.string(), std::string("-c"), text.string(), std::string("-o"), object.string()})
    words.push_back(word);
  step(words);
  // The link must not see -fsanitize, which would add the sanitizer's run-time library. Without the C++ library, which
  // no kernel uses, it takes a third of the time.
  std::vector<std::string> link{compiler(), "-shared", "-nostdlib", "-Wl,-Bsymbolic", "-Wl,-z,defs", object.string()};
  if (options.instrumented) {
    std::ofstream(hooks, std::ios::binary) << kHostTableText << kHooksText;
    for (const char* word : {"-O1", "-fPIC", "-w", "-fno-stack-protector"}) link.push_back(word);
    link.push_back(hooks.string());
  }
  for (const char* word : {"-o", made.c_str(), "-lm", "-lc", "-lgcc"}) link.emplace_back(word);
  step(link);
  fs::rename(made, file);
  remove_all();
}

// The turn of those who need a file at the same time, as ranks do: the first one makes it, and the others find it. Who
// waits too long makes it as well.
class Turn {
 public:
  explicit Turn(const fs::path& file)
      : lock_(LockedFile::open(file.parent_path() / ("tmp-" + file.stem().string() + ".lock"), kMilliseconds)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (lock_) lock_->remove();
  }

 private:
  static constexpr int kMilliseconds = 300'000;
  std::optional<LockedFile> lock_;
};

struct Range {
  const char* name;
  const void* begin = nullptr;
  const void* end = nullptr;
};
int find_range(dl_phdr_info* info, std::size_t, void* data) {
  auto& range = *static_cast<Range*>(data);
  if (!info->dlpi_name || std::string_view(info->dlpi_name) != range.name) return 0;
  ElfW(Addr) low = ~ElfW(Addr){0}, high = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    low = std::min<ElfW(Addr)>(low, header.p_vaddr);
    high = std::max<ElfW(Addr)>(high, header.p_vaddr + header.p_memsz);
  }
  // NOLINTBEGIN(performance-no-int-to-ptr): the loader gives addresses as integers
  range.begin = reinterpret_cast<const void*>(info->dlpi_addr + low);
  range.end = reinterpret_cast<const void*>(info->dlpi_addr + high);
  // NOLINTEND(performance-no-int-to-ptr)
  return 1;
}

}  // namespace

int compilations() noexcept { return compilations_done; }

fs::path cache_folder() {
  const char* chosen = std::getenv("FOURTUNE_EMULATED_CACHE");
  fs::path folder = chosen && *chosen ? fs::path(chosen)
                                      : fs::temp_directory_path() / fmt::format("fourtune-emulated-{}", ::geteuid());
  ::mkdir(folder.c_str(), 0700);
  struct stat info {};
  // Code is loaded from this folder, so nobody else may be able to write to it.
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() ||
      (info.st_mode & 022) != 0)
    throw Error(Status::io, fmt::format("'{}' must be a folder that this user owns and nobody else can write; choose "
                                        "another by FOURTUNE_EMULATED_CACHE",
                                        folder.string()));
  return folder;
}

std::string compiler_version() {
  static const std::string version = [] {
    const Output output = run({compiler(), "--version"}, unique_name(cache_folder(), ".log"));
    return output.code == 0 ? output.text.substr(0, output.text.find('\n')) : std::string();
  }();
  return version;
}

// A loaded library of compiled kernels.
struct Binary {
  // Loads `copy`, which is private, and deletes it: the built-in variables belong to one Binary, and dlopen opens the
  // same file only once. The original has the lines of addresses.
  Binary(const fs::path& copy, fs::path original) : file(std::move(original)) {
    handle = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    Range range{copy.c_str()};
    if (handle) ::dl_iterate_phdr(find_range, &range);
    begin = range.begin, end = range.end;
    fs::remove(copy);
    if (!handle) throw Error(Status::internal, fmt::format("compiled kernels cannot be loaded: {}", ::dlerror()));
  }
  Binary(const Binary&) = delete;
  Binary& operator=(const Binary&) = delete;
  ~Binary() { ::dlclose(handle); }

  void* find(const std::string& name) const {
    void* symbol = ::dlsym(handle, name.c_str());
    if (!symbol) throw Error(Status::internal, fmt::format("a compiled kernel lacks {}", name));
    return symbol;
  }

  fs::path file;
  void* handle = nullptr;
  const void* begin = nullptr;
  const void* end = nullptr;
};

Module::Module(std::shared_ptr<const Binary> binary, int number, std::string entry, const CompileOptions& options)
    : binary_(std::move(binary)),
      entry_(std::move(entry)),
      options_(options),
      begin_(binary_->begin),
      end_(binary_->end) {
  thread_index = static_cast<Index3*>(binary_->find("threadIdx"));
  block_index = static_cast<Index3*>(binary_->find("blockIdx"));
  block_dim = static_cast<Index3*>(binary_->find("blockDim"));
  grid_dim = static_cast<Index3*>(binary_->find("gridDim"));
  call = reinterpret_cast<void (*)(void**)>(binary_->find(fmt::format("fourtune_emulated_call_{}", number)));
  parameters_ = reinterpret_cast<int (*)()>(binary_->find(fmt::format("fourtune_emulated_parameters_{}", number)))();
}

std::vector<std::unique_ptr<Module>> compile_modules(std::span<const generator::KernelSource> kernels,
                                                     const CompileOptions& options) {
  std::string all_flags;
  for (const std::string& flag : flags(options)) all_flags += flag + " ";
  std::vector<std::unique_ptr<Module>> modules;
  while (!kernels.empty()) {
    // Names of entries are global, so kernels of the same name are compiled apart.
    std::set<std::string> names;
    std::size_t count = 0;
    while (count < kernels.size() && names.insert(kernels[count].entry).second) ++count;
    const auto together = kernels.first(count);
    kernels = kernels.subspan(count);
    const std::string code = compiled_text(together);
    const std::string digest =
        db::sha256({code, kHostTableText, kShimText, kHooksText, all_flags, compiler(), compiler_version()});
    const fs::path file = cache_folder() / (digest.substr(0, 40) + ".so");
    const fs::path copy = unique_name(file.parent_path(), ".so");
    std::error_code missing;
    if (!fs::copy_file(file, copy, missing)) {
      const Turn turn(file);
      if (!fs::copy_file(file, copy, missing)) {
        compile(code, fmt::format("{}", fmt::join(names, ", ")), options, file);
        fs::copy_file(file, copy);
      }
    }
    const auto binary = std::make_shared<const Binary>(copy, file);
    *static_cast<FourtuneEmulatedHost*>(binary->find("fourtune_emulated_host")) = Engine::host_table;
    for (std::size_t i = 0; i < count; ++i)
      modules.push_back(std::make_unique<Module>(binary, static_cast<int>(i), together[i].entry, options));
  }
  return modules;
}

int Module::line_of(const void* where) const {
  if (!holds(where)) return 0;
  const auto offset = static_cast<const char*>(where) - static_cast<const char*>(begin_) - 1;
  const Output output = run({"addr2line", "-i", "-e", binary_->file.string(), fmt::format("0x{:x}", offset)},
                            unique_name(binary_->file.parent_path(), ".log"));
  // There is one line per inlined call, innermost first; the first one inside the kernel's text counts.
  const std::string text = output.code == 0 ? output.text : "";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t found = line.rfind(".cpp:");
    if (found != std::string::npos) return std::atoi(line.c_str() + found + 5);
  }
  return 0;
}

}  // namespace fourtune::runtime::emulated
