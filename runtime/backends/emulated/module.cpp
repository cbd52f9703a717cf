#include "runtime/backends/emulated/module.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "base/locked_file.h"
#include "db/digest.h"
#include "fourtune/status.h"
#include "runtime/backends/emulated/engine.h"
#include "runtime/backends/emulated/kernel_compiler.h"

namespace fourtune::runtime::emulated {
namespace {

namespace fs = std::filesystem;

// Limits the folder to a few thousand libraries: deletes the oldest half, names of kernels in libraries that are gone,
// and what killed processes left behind. Other processes may do the same, so failures do not matter.
void trim(const fs::path& folder) {
  constexpr std::size_t kMost = 4096;
  constexpr std::chrono::hours kLeftOver{24};
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> modules;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const auto made = entry.last_write_time(ignored);
    if (entry.is_symlink(ignored)) {
      if (!fs::exists(entry.path(), ignored)) fs::remove(entry.path(), ignored);
    } else if (entry.path().filename().string().starts_with("tmp-")) {
      if (fs::file_time_type::clock::now() - made > kLeftOver) fs::remove(entry.path(), ignored);
    } else if (entry.path().extension() == ".so") {
      modules.emplace_back(made, entry.path());
    }
  }
  if (modules.size() <= kMost) return;
  std::sort(modules.begin(), modules.end());
  for (std::size_t i = 0; i < modules.size() / 2; ++i) fs::remove(modules[i].second, ignored);
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

Module::Module(std::shared_ptr<const Binary> binary, const std::string& name, std::string entry,
               const CompileOptions& options)
    : binary_(std::move(binary)),
      entry_(std::move(entry)),
      options_(options),
      begin_(binary_->begin),
      end_(binary_->end) {
  thread_index = static_cast<Index3*>(binary_->find("threadIdx"));
  block_index = static_cast<Index3*>(binary_->find("blockIdx"));
  block_dim = static_cast<Index3*>(binary_->find("blockDim"));
  grid_dim = static_cast<Index3*>(binary_->find("gridDim"));
  call = reinterpret_cast<void (*)(void**)>(binary_->find(fmt::format("fourtune_emulated_call_{}", name)));
  parameters_ = reinterpret_cast<int (*)()>(binary_->find(fmt::format("fourtune_emulated_parameters_{}", name)))();
}

namespace {

constexpr std::size_t kDigits = 40;  // of a digest, in names

// The kernels of one call of compile_modules, each of which may lie in another library of the cache.
class Loading {
 public:
  Loading(std::span<const generator::KernelSource> kernels, const CompileOptions& options)
      : kernels_(kernels), options_(options), modules_(kernels.size()) {
    const std::string common = compilation_digest(options);
    for (const generator::KernelSource& kernel : kernels)
      names_.push_back("k" + db::sha256({common, kernel.entry, kernel.text}).substr(0, kDigits));
  }

  std::vector<std::unique_ptr<Module>> all() {
    for (;;) {
      std::vector<std::size_t> missing;
      std::set<std::string> entries;
      for (std::size_t i = 0; i < kernels_.size(); ++i)
        if (!modules_[i] && !find(i) && entries.insert(kernels_[i].entry).second) missing.push_back(i);
      if (missing.empty()) return std::move(modules_);
      make(missing);
    }
  }

 private:
  // Takes the kernel from the library that has it; false if there is none.
  bool find(std::size_t kernel) {
    std::error_code none;
    const fs::path library = fs::read_symlink(folder_ / names_[kernel], none);
    return !none && !library.empty() && take(kernel, library);
  }
  bool take(std::size_t kernel, const fs::path& library) {
    auto& binary = binaries_[library.string()];
    if (!binary) {
      const fs::path copy = unique_name(folder_, ".so");
      std::error_code missing;
      if (!fs::copy_file(folder_ / library, copy, missing)) return false;
      binary = std::make_shared<const Binary>(copy, folder_ / library);
      *static_cast<FourtuneEmulatedHost*>(binary->find("fourtune_emulated_host")) = Engine::host_table;
    }
    modules_[kernel] = std::make_unique<Module>(binary, names_[kernel], kernels_[kernel].entry, options_);
    return true;
  }

  // Compiles kernels of different names into one library.
  void make(const std::vector<std::size_t>& kernels) {
    std::string list, texts, entries;
    for (const std::size_t kernel : kernels) {
      list += names_[kernel];
      texts += compiled_text(kernels_[kernel], names_[kernel]);
      entries += (entries.empty() ? "" : ", ") + kernels_[kernel].entry;
    }
    const fs::path library = db::sha256(list).substr(0, kDigits) + ".so", file = folder_ / library;
    {
      const Turn turn(file);
      if (!fs::exists(file)) {
        compile_library(texts, entries, options_, file);
        if (library.string().starts_with("00")) trim(folder_);  // now and then
      }
    }
    for (const std::size_t kernel : kernels) {
      // A name that is there may be that of a library that was deleted.
      const fs::path made = unique_name(folder_, ".link");
      std::error_code ignored;
      fs::create_symlink(library, made, ignored);
      fs::rename(made, folder_ / names_[kernel], ignored);
      if (!take(kernel, library))
        throw Error(Status::io, fmt::format("'{}' has vanished; who else empties that folder?", file.string()));
    }
  }

  std::span<const generator::KernelSource> kernels_;
  CompileOptions options_;
  fs::path folder_ = cache_folder();
  std::vector<std::string> names_;  // in the cache
  std::map<std::string, std::shared_ptr<const Binary>> binaries_;
  std::vector<std::unique_ptr<Module>> modules_;
};

}  // namespace

std::vector<std::unique_ptr<Module>> compile_modules(std::span<const generator::KernelSource> kernels,
                                                     const CompileOptions& options) {
  return Loading(kernels, options).all();
}

int Module::line_of(const void* where) const {
  if (!holds(where)) return 0;
  const auto offset = static_cast<const char*>(where) - static_cast<const char*>(begin_) - 1;
  const ProgramOutput output = run({"addr2line", "-i", "-e", binary_->file.string(), fmt::format("0x{:x}", offset)},
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
