#include "runtime/plan_sources.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "base/fork_safe_mutex.h"
#include "base/text.h"
#include "db/signature.h"
#include "db/trusted_file.h"
#include "db/tuning_store.h"

namespace fourtune::runtime {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemFolder = "/etc/fourtune";
constexpr std::size_t kMostFiles = 1000;  // of one folder

// The folder's files with this ending, by name; none if there is no such folder.
std::vector<fs::path> files_in(const fs::path& folder, const char* ending) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end && files.size() < kMostFiles;
       at.increment(error))
    if (at->path().extension() == ending) files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

// The file that this code is in. dladdr calls a program as it was called, which may be a name that was found on the
// PATH.
fs::path own_file() {
  Dl_info info{};
  link_map* map = nullptr;
  const int found =
      ::dladdr1(reinterpret_cast<const void*>(&shared_lookup), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  if (found == 0 || !map) return {};
  const bool is_program = !map->l_name || !*map->l_name;
  std::error_code error;
  fs::path file = fs::canonical(is_program ? "/proc/self/exe" : info.dli_fname, error);
  return error ? fs::path() : file;
}

fs::path folder_beside_library() {
  const fs::path file = own_file();
  if (file.empty()) return {};
  std::error_code error;
  // The library may be in lib, in lib/<machine> and in lib/<machine>/fourtune.
  fs::path up = file.parent_path();
  for (int levels = 0; levels < 3 && up.has_relative_path(); ++levels) {
    up = up.parent_path();
    fs::path packs = up / "share" / "fourtune" / "packs";
    if (fs::is_directory(packs, error)) return packs;
  }
  return {};
}

fs::path shipped_folder() {
  if (const char* other = std::getenv("FOURTUNE_SHIPPED_PACKS")) return other;
  static const fs::path beside = folder_beside_library();
  return beside;
}

std::vector<fs::path> default_packs() {
  std::vector<fs::path> packs;
  const auto add_folder = [&](const fs::path& folder) {
    const auto files = files_in(folder, ".pack");
    packs.insert(packs.end(), files.begin(), files.end());
  };
  if (const char* list = std::getenv("FOURTUNE_PACKS"))
    for (const std::string_view entry : text::split(list, ':')) {
      std::error_code error;
      if (fs::is_directory(entry, error))
        add_folder(entry);
      else if (!entry.empty())
        packs.emplace_back(entry);
    }
  add_folder(fs::path(kSystemFolder) / "packs");
  const auto shipped = shipped_packs();
  packs.insert(packs.end(), shipped.begin(), shipped.end());
  return packs;
}

// What the file system says of a file: "none" if it is not there or empty; nothing if it changed just now, since
// another change in the same tick of the file system's clock would leave the same time.
std::optional<std::string> look_at(const fs::path& path) {
  using std::chrono::nanoseconds, std::chrono::seconds, std::chrono::milliseconds;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return "none";
  const auto& changed = status.st_mtim;
  const nanoseconds age =
      std::chrono::system_clock::now().time_since_epoch() - seconds(changed.tv_sec) - nanoseconds(changed.tv_nsec);
  const nanoseconds tick = changed.tv_nsec == 0 ? nanoseconds(seconds(2)) : nanoseconds(milliseconds(50));
  if (age < tick) return std::nullopt;
  return fmt::format("{} {} {} {} {}.{}", status.st_size, status.st_mode, status.st_dev, status.st_ino, changed.tv_sec,
                     changed.tv_nsec);
}

// Changes whenever a database or a pack does; nothing while that cannot be told. Files are not opened for it: closing
// one gives back all locks that this process holds on it, those of SQLite's connections too, and another process could
// then truncate what they have mapped.
std::optional<std::string> stamp(const fs::path& path) {
  const auto file = look_at(path), log = look_at(path.string() + "-wal");
  if (!file || !log) return std::nullopt;
  return fmt::format("{} {} {}", path.string(), *file, *log);
}

// The lookups used last. Files are read outside the lock; two threads may then read the same file once each.
class Kept {
 public:
  std::shared_ptr<const db::Lookup> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one.first == key; });
    if (found == kept_.end()) return nullptr;
    kept_.splice(kept_.begin(), kept_, found);
    return found->second;
  }
  void add(const std::string& key, const std::shared_ptr<const db::Lookup>& lookup) {
    constexpr std::size_t kMost = 8;
    std::list<std::pair<std::string, std::shared_ptr<const db::Lookup>>> ended;  // is freed outside the lock
    const std::lock_guard lock(mutex_);
    kept_.emplace_front(key, lookup);
    if (kept_.size() > kMost) ended.splice(ended.begin(), kept_, std::prev(kept_.end()));
  }

 private:
  ForkSafeMutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const db::Lookup>>> kept_;
};

Kept& kept() {
  static Kept& one = *new Kept;
  return one;
}

std::vector<std::string> trusted_keys(const Options& options) {
  std::vector<std::string> keys = options.trusted_keys;
  std::vector<fs::path> folders{fs::path(kSystemFolder) / "keys"};
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config && fs::path(config).is_absolute())
    folders.push_back(fs::path(config) / "fourtune" / "keys");
  else if (home && *home)
    folders.push_back(fs::path(home) / ".config" / "fourtune" / "keys");
  for (const fs::path& folder : folders)
    for (const fs::path& file : files_in(folder, ".public")) try {
        if (db::why_untrusted(file).empty()) keys.push_back(db::bare_public_key(db::read_key(file)));
      } catch (const Error&) {  // not a key, so it is nobody's
      }
  return keys;
}

}  // namespace

std::vector<fs::path> shipped_packs() {
  const fs::path folder = shipped_folder();
  return folder.empty() ? std::vector<fs::path>() : files_in(folder, ".pack");
}

std::shared_ptr<const db::Lookup> shared_lookup(const Options& options) {
  std::vector<db::PlanSource> sources;
  for (auto pack = options.packs.rbegin(); pack != options.packs.rend(); ++pack) {
    if (!pack->data || pack->size == 0) throw Error(Status::invalid_option, "packs: one has no bytes");
    sources.push_back(
        {pack->name.empty() ? "memory" : pack->name, {static_cast<const std::byte*>(pack->data), pack->size}});
  }
  for (auto path = options.databases.rbegin(); path != options.databases.rend(); ++path) sources.push_back({*path, {}});
  if (options.default_databases)
    for (const fs::path& pack : default_packs()) sources.push_back({pack, {}});
  const fs::path user = options.default_databases ? db::default_database_path() : fs::path();
  const auto load = [&] { return std::make_shared<const db::Lookup>(db::Lookup::load(user, sources)); };
  if (!options.packs.empty()) return load();  // bytes in memory may be others the next time
  std::string key;
  std::vector<fs::path> files{user};
  for (const db::PlanSource& source : sources) files.push_back(source.path);
  for (const fs::path& file : files) {
    const auto now = stamp(file);
    if (!now) return load();
    key += *now + '\n';
  }
  if (auto found = kept().find(key)) return found;
  auto lookup = load();
  kept().add(key, lookup);
  return lookup;
}

db::Lookup lookup_beside(const fs::path& user) {
  std::vector<db::PlanSource> sources;
  const bool pack = db::is_pack(user);
  if (pack) sources.push_back({user, {}});
  for (const fs::path& path : default_packs()) sources.push_back({path, {}});
  return db::Lookup::load(pack ? fs::path() : user, sources);
}

std::vector<std::shared_ptr<const db::Pack>> packs_with_kernels(const db::Lookup& lookup, const Options& options,
                                                                std::string& why) {
  std::vector<std::shared_ptr<const db::Pack>> packs;
  std::vector<std::string> keys;
  for (const db::LayerReport& layer : lookup.layers()) {
    if (!layer.pack || !layer.pack->has_kernels()) continue;
    if (keys.empty()) keys = trusted_keys(options);
    const std::string fault = layer.pack->why_kernels_not_trusted(keys);
    if (fault.empty())
      packs.push_back(layer.pack);
    else
      why += fmt::format("kernels of {}: not used: {}\n", text::shown(layer.path.string(), 4096), fault);
  }
  return packs;
}

std::string unusable_text(const db::Lookup& lookup) {
  std::string lines;
  for (const db::LayerReport& layer : lookup.layers())
    if (!layer.usable)
      lines +=
          fmt::format("not usable: {} ({})\n", text::shown(layer.path.string(), 4096), text::shown(layer.reason, 1000));
  return lines;
}

}  // namespace fourtune::runtime
