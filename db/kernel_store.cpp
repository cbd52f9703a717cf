#include "db/kernel_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "db/clock.h"
#include "db/database.h"
#include "db/digest.h"
#include "db/limits.h"
#include "db/pack_contents.h"
#include "db/store_file.h"
#include "db/trusted_file.h"

namespace fourtune::db {
namespace {

constexpr int kBusyMs = 2000;                         // wait for other writers: compiling takes longer
constexpr std::int64_t kDay = 24LL * 60 * 60 * 1000;  // in ms; a use is recorded once per day: reading writes nothing

}  // namespace

std::string kernel_digest(const KernelOrigin& origin) {
  std::string options;
  for (const std::string& option : origin.options) options += fmt::format("{}:{}", option.size(), option);
  return sha256({"kernel 2", origin.entry, origin.text, options, origin.target});
}

struct KernelStore::Impl {
  std::filesystem::path path;
  std::int64_t limit = 0;
  std::mutex mutex;
  std::optional<Database> reader, writer;
  std::string why;

  const Database& readable() {
    if (writer) return *writer;
    if (!reader || !file_was_there) {
      std::error_code ignored;
      file_was_there = std::filesystem::exists(path, ignored);
      reader = open_for_reading(real_path(path), OpenAs::shared);
    }
    return *reader;
  }
  const Database& writable() {
    if (!writer) {
      writer = opened();
      reader.reset();
    }
    return *writer;
  }
  Database opened() const {
    Database database = open_for_writing(real_path(path), kBusyMs, Journal::automatic);
    // With a log ahead the file stays sound when the power fails; only kernels may be lost, which are compiled again.
    if (database.text("PRAGMA journal_mode") == "wal") database.execute("PRAGMA synchronous = NORMAL");
    return database;
  }
  // The same, but only with a file from which machine code may be loaded.
  template <class Result, class Work>
  Result attempt_trusted(Result otherwise, Work&& work) {
    return attempt(otherwise, [&] {
      why = why_untrusted(path);
      return why.empty() ? work() : otherwise;
    });
  }
  // Runs `work`; when the database prevents it, records why and returns the alternative.
  template <class Result, class Work>
  Result attempt(Result otherwise, Work&& work) {
    const std::lock_guard lock(mutex);
    why.clear();
    if (path.empty()) return otherwise;
    try {
      return work();
    } catch (const StoreError& error) {
      why = error.what();
      // The next call starts again, so that a file that was moved away or repaired is used again.
      reader.reset();
      writer.reset();
      return otherwise;
    }
  }
  std::optional<StoredKernel> read(const std::string& digest);
  void remove(const std::string& digest);
  void note_use(const std::string& digest, std::int64_t used);
  struct Packed {
    KernelOrigin origin;
    std::string digest;
    StoredKernel kernel;
    std::vector<std::byte> image;  // compressed
  };
  static std::optional<Packed> packed(const KernelOrigin& origin, StoredKernel kernel, std::int64_t limit);
  bool keep(std::span<const Packed> kernels);
  void write(const Database& database, const Packed& one);
  void make_room(const Database& database, std::span<const Packed> newest);

  // For when the database cannot be used; at most as many bytes as the database would keep.
  std::optional<StoredKernel> remembered(const std::string& digest) {
    const std::lock_guard lock(mutex);
    for (const Packed& one : waiting)
      if (one.digest == digest) return one.kernel;
    const auto found = memory.find(digest);
    return found == memory.end() ? std::nullopt : std::optional(found->second);
  }
  void remember(const std::string& digest, const StoredKernel& kernel) {
    const std::lock_guard lock(mutex);
    const auto bytes = static_cast<std::int64_t>(kernel.image.size());
    if (memory_bytes + bytes > limit || !memory.emplace(digest, kernel).second) return;
    memory_bytes += bytes;
  }

  bool file_was_there = false;
  std::map<std::string, StoredKernel> memory;
  std::int64_t memory_bytes = 0;
  std::vector<Packed> waiting;  // for flush()
};

KernelStore::KernelStore(std::filesystem::path path, std::int64_t limit) : impl_(std::make_unique<Impl>()) {
  impl_->path = std::move(path);
  impl_->limit = limit;
}
KernelStore::~KernelStore() = default;

std::optional<StoredKernel> KernelStore::Impl::read(const std::string& digest) {
  std::optional<StoredKernel> found;
  std::int64_t used = 0;
  {
    Statement row = readable().prepare("SELECT image, bytes, checksum, log, used_ms FROM kernel WHERE digest = ?");
    if (!row.with(std::string_view(digest)).step()) return std::nullopt;
    auto image = decompress(row.blob(0, kMaxImage + kMaxImage / 64), row.integer(1));
    if (image && kernel_checksum(digest, *image) == row.text(2, kMaxText))
      found = StoredKernel{std::move(*image), row.text(3, kMaxText)};
    used = row.integer(4);
  }
  found ? note_use(digest, used) : remove(digest);
  return found;
}

void KernelStore::Impl::remove(const std::string& digest) {
  try {
    writable().prepare("DELETE FROM kernel WHERE digest = ?").with(std::string_view(digest)).run();
  } catch (const StoreError&) {  // the row stays and is refused again
  }
}

void KernelStore::Impl::note_use(const std::string& digest, std::int64_t used) {
  if (now_ms() - used < kDay) return;
  try {
    writable()
        .prepare("UPDATE kernel SET used_ms = max(used_ms, ?) WHERE digest = ?")
        .with(now_ms(), std::string_view(digest))
        .run();
  } catch (const StoreError&) {  // the row keeps an older time of use and may be removed earlier
  }
}

// Nullopt: a kernel that is not kept.
std::optional<KernelStore::Impl::Packed> KernelStore::Impl::packed(const KernelOrigin& origin, StoredKernel kernel,
                                                                   std::int64_t limit) {
  if (kernel.image.empty() || kernel.image.size() > kMaxImage) return std::nullopt;
  Packed out{origin, kernel_digest(origin), std::move(kernel), {}};
  out.image = compress(out.kernel.image);
  if (static_cast<std::int64_t>(out.image.size()) > limit) return std::nullopt;
  return out;
}

bool KernelStore::Impl::keep(std::span<const Packed> kernels) {
  const bool kept = attempt_trusted(false, [&] {
    const Database& database = writable();
    Transaction transaction(database);
    for (const Packed& one : kernels) write(database, one);
    make_room(database, kernels);
    transaction.commit();
    return true;
  });
  if (!kept)
    for (const Packed& one : kernels) remember(one.digest, one.kernel);
  return kept;
}

void KernelStore::Impl::write(const Database& database, const Packed& one) {
  const std::string_view log = one.kernel.log;
  database
      .prepare(
          "INSERT INTO kernel (digest, entry, compiler, target, log, bytes, checksum, image, created_ms, used_ms)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET log = excluded.log,"
          " bytes = excluded.bytes, checksum = excluded.checksum, image = excluded.image, used_ms = excluded.used_ms")
      .with(std::string_view(one.digest), std::string_view(one.origin.entry), std::string_view(one.origin.compiler),
            std::string_view(one.origin.target), log.substr(0, std::min(log.find('\0'), kMaxText)),
            static_cast<std::int64_t>(one.kernel.image.size()),
            std::string_view(kernel_checksum(one.digest, one.kernel.image)), std::span<const std::byte>(one.image),
            now_ms(), now_ms())
      .run();
}

// Removes the kernels that were used least recently; the newest leave last. Rows of the same millisecond leave in the
// order in which they were added.
void KernelStore::Impl::make_room(const Database& database, std::span<const Packed> newest) {
  std::int64_t total = database.integer("SELECT coalesce(sum(length(image)), 0) FROM kernel");
  if (total <= limit) return;
  Statement oldest = database.prepare("SELECT id, length(image), digest FROM kernel ORDER BY used_ms, id");
  std::vector<std::int64_t> leaving;
  while (total > limit && oldest.step()) {
    const std::string digest = oldest.text(2, kMaxText);
    if (digest == newest.back().digest) continue;
    leaving.push_back(oldest.integer(0));
    total -= oldest.integer(1);
  }
  for (const std::int64_t id : leaving) database.prepare("DELETE FROM kernel WHERE id = ?").with(id).run();
}

std::optional<StoredKernel> KernelStore::find(const KernelOrigin& origin) {
  const std::string digest = kernel_digest(origin);
  if (auto found = impl_->remembered(digest)) return found;
  return impl_->attempt_trusted(std::optional<StoredKernel>(), [&] { return impl_->read(digest); });
}

bool KernelStore::put(const KernelOrigin& origin, const StoredKernel& kernel) {
  const auto packed = Impl::packed(origin, kernel, impl_->limit);
  return packed && impl_->keep({&*packed, 1});
}

void KernelStore::put_later(const KernelOrigin& origin, StoredKernel kernel) {
  auto packed = Impl::packed(origin, std::move(kernel), impl_->limit);
  if (!packed) return;
  const std::lock_guard lock(impl_->mutex);
  impl_->waiting.push_back(std::move(*packed));
}

void KernelStore::open_for_flush() {
  if (impl_->path.empty() || !why_untrusted(impl_->path).empty()) return;
  try {
    Database database = impl_->opened();  // without the lock
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->writer) impl_->writer = std::move(database), impl_->reader.reset();
  } catch (const StoreError&) {  // flush() meets it, too
  }
}

std::size_t KernelStore::waiting() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->waiting.size();
}

bool KernelStore::flush() {
  std::vector<Impl::Packed> kernels;
  {
    const std::lock_guard lock(impl_->mutex);
    kernels = impl_->waiting;
  }
  if (kernels.empty()) return true;
  const bool kept = impl_->keep(kernels);
  const std::lock_guard lock(impl_->mutex);  // now they are found in the database, or among those remembered
  std::erase_if(impl_->waiting, [&](const Impl::Packed& one) {
    return std::any_of(kernels.begin(), kernels.end(),
                       [&](const Impl::Packed& written) { return written.digest == one.digest; });
  });
  return kept;
}

std::vector<NamedKernel> KernelStore::all() {
  const std::lock_guard lock(impl_->mutex);
  std::vector<NamedKernel> kernels;
  Statement rows = impl_->readable().prepare(
      "SELECT digest, entry, target, compiler, bytes, checksum, log, image FROM kernel ORDER BY digest");
  while (rows.step()) {
    NamedKernel one{rows.text(0, kMaxText), rows.text(1, kMaxText), rows.text(2, kMaxText), rows.text(3, kMaxText), {}};
    auto image = decompress(rows.blob(7, kMaxImage + kMaxImage / 64), rows.integer(4));
    if (!image || rows.text(5, kMaxText) != kernel_checksum(one.digest, *image)) continue;  // damaged
    one.kernel = {std::move(*image), rows.text(6, kMaxText)};
    kernels.push_back(std::move(one));
  }
  return kernels;
}

StoredKernel KernelStore::get(const KernelOrigin& origin, const std::function<StoredKernel()>& compile) {
  if (auto found = find(origin)) return std::move(*found);
  StoredKernel made = compile();
  put(origin, made);
  return made;
}

KernelStore::Size KernelStore::size() {
  return impl_->attempt(Size{}, [&] {
    Statement row = impl_->readable().prepare("SELECT count(*), coalesce(sum(length(image)), 0) FROM kernel");
    row.step();
    return Size{row.integer(0), row.integer(1)};
  });
}

std::string KernelStore::why() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->why;
}

}  // namespace fourtune::db
