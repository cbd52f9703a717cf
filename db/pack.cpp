#include "db/pack.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "base/fork_safe_mutex.h"
#include "base/text.h"
#include "db/limits.h"
#include "db/pack_format.h"
#include "db/queries.h"
#include "db/signature.h"
#include "db/trusted_file.h"

namespace fourtune::db {
namespace {

constexpr std::size_t kMaxEnvironments = 100'000, kMaxManifestRows = 1000, kMaxSignatures = 100;
constexpr std::size_t kMaxKernels = 1'000'000;

// One for all packs: a look-up holds it for microseconds, and a forked child must find it free.
ForkSafeMutex& mutex() {
  static ForkSafeMutex& one = *new ForkSafeMutex;
  return one;
}

// Never destroyed: packs may be asked until the program has ended.
const PackManifest& no_manifest() {
  static const auto* const none = new PackManifest;
  return *none;
}

[[noreturn]] void refuse(StoreFault fault, const std::string& where, const std::string& what) {
  throw StoreError(fault, fmt::format("pack '{}' {}", text::shown(where, 4096), what));
}

// The first bytes of every pack: SQLite's mark, and at byte 68 the application's number.
constexpr std::size_t kHeader = 100;
bool has_mark(std::string_view header) {
  constexpr std::string_view kMark("SQLite format 3\0", 16);
  constexpr char kOurs[] = {'F', 'T', 'P', 'K'};
  return header.size() >= kHeader && header.starts_with(kMark) && header.substr(68, 4) == std::string_view(kOurs, 4);
}

// Empty if it cannot be read. SQLite reads it: if we closed a database that is open here, its locks would be gone.
std::string header_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  try {
    return Database::open(real_path(path), OpenMode::immutable, 0).first_bytes(kHeader);
  } catch (const Error&) {
    return {};
  }
}

class Decompressor {
 public:
  explicit Decompressor(std::span<const std::byte> dictionary)
      : context_(ZSTD_createDCtx()), dictionary_(ZSTD_createDDict(dictionary.data(), dictionary.size())) {
    if (!context_ || !dictionary_) throw std::bad_alloc();
  }
  std::optional<std::string> operator()(std::span<const std::byte> data) {
    constexpr unsigned long long kLongest = kMaxToken + kMaxPlan + kMaxText + 16;
    const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
    if (size > kLongest) return std::nullopt;  // that of an error is larger than any
    std::string text(static_cast<std::size_t>(size), '\0');
    const std::size_t got = ZSTD_decompress_usingDDict(context_.get(), text.data(), text.size(), data.data(),
                                                       data.size(), dictionary_.get());
    if (ZSTD_isError(got) || got != text.size()) return std::nullopt;
    return text;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
    void operator()(ZSTD_DDict* dictionary) const noexcept { ZSTD_freeDDict(dictionary); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::unique_ptr<ZSTD_DDict, Free> dictionary_;
};

constexpr const char* kPlanColumns =
    "SELECT p.id, p.data, p.environment, p.rank, p.winner_ns, p.incumbent_ns, p.ratio_low, p.ratio_high, p.rounds,"
    " p.error, p.created_ms, p.size, k.name, w.bytes, w.text, p.checksum FROM plan p JOIN kin k ON k.id = p.kin"
    " LEFT JOIN wisdom w ON w.id = p.wisdom ";

ManifestRows read_manifest(const Database& database) {
  ManifestRows rows;
  Statement all = database.prepare("SELECT key, value FROM manifest");
  while (all.step() && rows.size() < kMaxManifestRows) rows[all.text(0, kMaxText)] = all.text(1, kMaxWisdom);
  return rows;
}

std::unordered_map<std::int64_t, Environment> read_environments_of(const Database& database) {
  std::unordered_map<std::int64_t, Environment> found;
  Statement rows = database.prepare(
      "SELECT id, backend, device, isa, traits, driver, compiler, libraries, generator FROM environment");
  while (rows.step() && found.size() < kMaxEnvironments) {
    Environment e;
    int column = 0;
    for (std::string* piece :
         {&e.backend, &e.device, &e.isa, &e.traits, &e.driver, &e.compiler, &e.libraries, &e.generator})
      *piece = rows.text(++column, kMaxText);
    found[rows.integer(0)] = std::move(e);
  }
  return found;
}

std::vector<std::byte> read_dictionary(const Database& database) {
  Statement row = database.prepare("SELECT data FROM dictionary");
  return row.step() ? row.blob(0, kMaxWisdom) : std::vector<std::byte>();
}

std::size_t count_of(const ManifestRows& rows, const char* key) {
  const auto found = rows.find(key);
  const auto number = found == rows.end() ? std::nullopt : text::number<std::int64_t>(found->second);
  return number && *number >= 0 ? static_cast<std::size_t>(*number) : 0;
}

}  // namespace

struct Pack::Impl {
  Impl(Database opened, std::string name, std::filesystem::path path_or_none)
      : where(std::move(name)),
        path(std::move(path_or_none)),
        database(std::move(opened)),
        rows(read_manifest(database)),
        manifest(manifest_of(rows)),
        environments(read_environments_of(database)),
        decompress_text(read_dictionary(database)),
        of_token(database.prepare(std::string(kPlanColumns) + "WHERE p.token_hash = ? ORDER BY p.id")),
        larger(database.prepare(std::string(kPlanColumns) + kNear + "p.size >= ?2 ORDER BY p.size, p.id")),
        smaller(database.prepare(std::string(kPlanColumns) + kNear + "p.size < ?2 ORDER BY p.size DESC, p.id")),
        of_digest(database.prepare("SELECT k.bytes, k.checksum, k.log, i.data FROM kernel k JOIN image i ON i.id = k.id"
                                   " WHERE k.digest = ?")) {}

  static constexpr const char* kNear = "WHERE p.kin = (SELECT id FROM kin WHERE name = ?1) AND ";

  // Nothing for a plan that is not what was written.
  std::optional<PackPlan> plan_at(const Statement& row);
  std::optional<StoredKernel> kernel_at(const Statement& row, int column, const std::string& digest) const;
  // The key whose signature of the manifest is right, else empty; `fault` says what is wrong with a signature.
  std::string signer(std::string& fault) const;
  using Checksums = std::unordered_map<std::string, std::string>;  // of kernels, by digest
  // None unless the kernels are those that the manifest names.
  std::optional<Checksums> intact_kernels() const;
  // Whoever can write a signed file could change it later, so what was signed is remembered. None: trusted as a file.
  std::optional<Checksums> signed_kernels;

  const std::string where;
  const std::filesystem::path path;  // empty: bytes in memory
  const Database database;
  const ManifestRows rows;
  const PackManifest manifest;
  const std::unordered_map<std::int64_t, Environment> environments;
  Decompressor decompress_text;
  Statement of_token, larger, smaller, of_digest;
};

std::optional<PackPlan> Pack::Impl::plan_at(const Statement& row) try {
  const auto text = decompress_text(row.blob(1, kMaxToken + kMaxPlan + kMaxText));
  const auto environment = environments.find(row.integer(2));
  if (!text || environment == environments.end()) return std::nullopt;
  const auto lines = text::split(*text, '\n');
  if (lines.size() != 4 && lines.size() != 5) return std::nullopt;  // the last one is empty
  const auto small = [&](int column) {
    const std::int64_t value = row.integer(column);
    return value >= 0 && value <= std::numeric_limits<int>::max() ? static_cast<int>(value) : -1;
  };
  PackPlan plan;
  plan.verdict = {std::string(lines[0]),
                  std::string(lines[1]),
                  {},
                  std::string(lines[2]),
                  static_cast<double>(row.integer(4)),
                  static_cast<double>(row.integer(5)),
                  static_cast<double>(row.integer(6)) / 1e6,
                  static_cast<double>(row.integer(7)) / 1e6,
                  small(8),
                  lines.size() == 5 ? objective_from(lines[3]) : Objective::time};
  plan.environment = environment->second;
  plan.rank = small(3);
  if (!row.is_null(9)) plan.error = row.real(9);
  plan.created_ms = row.integer(10);
  plan.size = row.real(11);
  plan.kin = row.text(12, kMaxText);
  if (!row.is_null(13)) {
    const auto wisdom = decompress(row.blob(14, kMaxWisdom), row.integer(13));
    if (!wisdom) return std::nullopt;
    plan.wisdom.assign(reinterpret_cast<const char*>(wisdom->data()), wisdom->size());
  }
  if (plan.rank < 0 || !verdict_fault(plan.verdict).empty() || row.integer(15) != pack_checksum(plan))
    return std::nullopt;
  return plan;
} catch (const StoreError&) {
  return std::nullopt;
}

std::optional<StoredKernel> Pack::Impl::kernel_at(const Statement& row, int column, const std::string& digest) const {
  auto image = decompress(row.blob(column + 3, kMaxImage + kMaxImage / 64), row.integer(column));
  if (!image || row.text(column + 1, kMaxText) != kernel_checksum(digest, *image)) return std::nullopt;
  return StoredKernel{std::move(*image), row.text(column + 2, kMaxText)};
}

std::string Pack::Impl::signer(std::string& fault) const {
  Statement all = database.prepare("SELECT key, value FROM signature ORDER BY key");
  const std::string message = signed_message(rows);
  for (std::size_t i = 0; i < kMaxSignatures && all.step(); ++i) {
    const std::string key = all.text(0, kMaxText);
    try {
      if (is_signed(key, message, all.text(1, kMaxText))) return bare_public_key(key);
      fault = fmt::format("the signature of {} does not fit the contents", text::shown(key));
    } catch (const Error& error) {
      fault = error.what();
    }
  }
  return {};
}

std::optional<Pack::Impl::Checksums> Pack::Impl::intact_kernels() const {
  std::vector<std::string> list;
  Checksums checksums;
  Statement all = database.prepare("SELECT digest, checksum FROM kernel ORDER BY id");
  while (all.step() && list.size() < 2 * kMaxKernels) {
    list.insert(list.end(), {all.text(0, kMaxText), all.text(1, kMaxText)});
    checksums[list[list.size() - 2]] = list.back();
  }
  const auto expected = rows.find(kKernelsDigest);
  if (expected == rows.end() || expected->second != kernels_digest(list)) return std::nullopt;
  return checksums;
}

Pack::Pack(std::unique_ptr<Impl> impl) : where_(impl->where), impl_(std::move(impl)) {}
Pack::Pack(const std::filesystem::path& path, PackIndex index)
    : index_(std::move(index)), path_(path), where_(path.string()) {}
Pack::~Pack() {
  const std::lock_guard lock(mutex());
  impl_.reset();
}

std::unique_ptr<Pack::Impl> Pack::open_file(const std::filesystem::path& path) {
  const std::string where = path.string();
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) refuse(StoreFault::unreadable, where, "does not exist");
  if (status.type() != std::filesystem::file_type::regular) refuse(StoreFault::foreign, where, "is not a regular file");
  const std::string header = header_of(path);
  if (header.empty() && std::filesystem::file_size(path, error) > 0)
    refuse(StoreFault::unreadable, where, "cannot be read");
  if (!has_mark(header)) refuse(StoreFault::foreign, where, "is not a pack; `fourtune pack build` makes one");
  Database database = Database::open(real_path(path), OpenMode::immutable, 0);
  require_pack(database, where);
  const std::int64_t bytes = database.integer("PRAGMA page_count") * database.integer("PRAGMA page_size");
  if (bytes != static_cast<std::int64_t>(std::filesystem::file_size(path, error)))
    refuse(StoreFault::damaged, where, "is cut short or has something behind its end");
  return std::make_unique<Impl>(std::move(database), where, path);
}

std::shared_ptr<const Pack> Pack::open(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex());
  return std::shared_ptr<const Pack>(new Pack(open_file(path)));
}

std::shared_ptr<const Pack> Pack::later(const std::filesystem::path& path, PackIndex index) {
  return std::shared_ptr<const Pack>(new Pack(path, std::move(index)));
}

Pack::Impl* Pack::opened() const noexcept {
  if (!impl_ && !tried_) {
    tried_ = true;
    try {
      impl_ = open_file(path_);
    } catch (...) {  // it was whole when its index was read
    }
  }
  return impl_.get();
}

std::shared_ptr<const Pack> Pack::of_bytes(std::span<const std::byte> bytes, std::string name) {
  if (!has_mark({reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kHeader)}))
    refuse(StoreFault::foreign, name, "is not a pack; `fourtune pack build` makes one");
  const std::lock_guard lock(mutex());
  Database database = Database::of_bytes(bytes);
  require_pack(database, name);
  if (database.integer("PRAGMA page_count") * database.integer("PRAGMA page_size") != std::ssize(bytes))
    refuse(StoreFault::damaged, name, "is cut short or has something behind its end");
  return std::shared_ptr<const Pack>(new Pack(std::make_unique<Impl>(std::move(database), std::move(name), "")));
}

const std::string& Pack::name() const noexcept { return index_ ? index_->name : impl_->manifest.name; }
const std::string& Pack::version() const noexcept { return index_ ? index_->version : impl_->manifest.version; }
const PackManifest& Pack::manifest() const noexcept {
  const std::lock_guard lock(mutex());
  const Impl* const impl = opened();
  return impl ? impl->manifest : no_manifest();
}
const std::string& Pack::where() const noexcept { return where_; }
std::size_t Pack::size() const noexcept { return index_ ? index_->plans : count_of(impl_->rows, kPlanCount); }
bool Pack::has_kernels() const noexcept { return (index_ ? index_->kernels : count_of(impl_->rows, kKernelCount)) > 0; }

bool Pack::may_have(const Near& near, const std::function<bool(const Environment&)>& is_ours) const {
  return !index_ || index_->may_have(near, is_ours);
}

std::vector<Pack::Row> Pack::plans_of(std::string_view token, std::size_t& damaged) const {
  const std::lock_guard lock(mutex());
  Impl* const impl = opened();
  std::vector<Row> found;
  if (!impl) return found;
  constexpr std::size_t kMostRows = 10'000;
  impl->of_token.with(token_hash(token));
  for (std::size_t i = 0; i < kMostRows && impl->of_token.step(); ++i) {
    auto plan = impl->plan_at(impl->of_token);
    if (!plan)
      ++damaged;
    else if (plan->verdict.problem == token)
      found.push_back({impl->of_token.integer(0), std::move(*plan)});
  }
  return found;
}

void Pack::visit_near(std::string_view kin, double size, double reach,
                      const std::function<double(const Row&)>& visit) const {
  const std::lock_guard lock(mutex());
  Impl* const impl = opened();
  if (!impl) return;
  // The two directions in turn, the nearer one first.
  std::array<Statement*, 2> sides{&impl->larger.with(kin, size), &impl->smaller.with(kin, size)};
  std::array<double, 2> away{};
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  const auto advance = [&](std::size_t side) {
    away[side] = sides[side]->step() ? std::abs(sides[side]->real(11) - size) : kEnd;
    if (std::isnan(away[side])) away[side] = kEnd;
  };
  advance(0), advance(1);
  for (int i = 0; i < kMostNeighbours; ++i) {
    const std::size_t side = away[1] < away[0];
    if (!(away[side] <= reach)) break;
    if (auto plan = impl->plan_at(*sides[side]))
      reach = std::min(reach, visit({sides[side]->integer(0), std::move(*plan)}));
    advance(side);
  }
}

std::string Pack::why_kernels_not_trusted(std::span<const std::string> keys) const {
  std::string fault;
  std::string signer;
  {
    const std::lock_guard lock(mutex());
    if (!opened()) return "it can no longer be read";
    signer = impl_->signer(fault);
  }
  const bool is_named = !signer.empty() && std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return bare_public_key(key) == signer;
  });
  if (is_named) {
    const std::lock_guard lock(mutex());
    auto intact = impl_->intact_kernels();
    if (!intact) return "its kernels are not those that were signed";  // what was remembered before still holds
    impl_->signed_kernels = std::move(intact);
    return {};
  }
  const std::string owner = impl_->path.empty() ? "bytes in memory have no owner" : why_untrusted(impl_->path);
  if (owner.empty()) return {};
  return fmt::format("{}, and {}", owner,
                     !signer.empty()  ? fmt::format("its signer {} is not among the trusted keys", signer)
                     : !fault.empty() ? fault
                                      : std::string("it is not signed by a trusted key"));
}

std::optional<StoredKernel> Pack::kernel(const std::string& digest) const try {
  const std::lock_guard lock(mutex());
  Impl* const impl = opened();
  if (!impl) return std::nullopt;
  Statement& row = impl->of_digest.with(std::string_view(digest));
  if (!row.step()) return std::nullopt;
  if (impl->signed_kernels) {
    const auto known = impl->signed_kernels->find(digest);
    if (known == impl->signed_kernels->end() || known->second != row.text(1, kMaxText)) return std::nullopt;
  }
  return impl->kernel_at(row, 0, digest);
} catch (const StoreError&) {
  return std::nullopt;
}

PackContents Pack::contents(std::size_t& damaged) const {
  const std::lock_guard lock(mutex());
  PackContents all;
  Impl* const impl = opened();
  if (!impl) return all;
  all.manifest = impl->manifest;
  Statement plans = impl->database.prepare(std::string(kPlanColumns) + "ORDER BY p.id");
  while (plans.step())
    if (auto plan = impl->plan_at(plans))
      all.plans.push_back(std::move(*plan));
    else
      ++damaged;
  Statement kernels = impl->database.prepare(
      "SELECT k.digest, k.entry, k.target, k.compiler, k.bytes, k.checksum, k.log, i.data FROM kernel k"
      " JOIN image i ON i.id = k.id ORDER BY k.id");
  while (kernels.step()) {
    PackKernel one{
        kernels.text(0, kMaxText), kernels.text(1, kMaxText), kernels.text(2, kMaxText), kernels.text(3, kMaxText), {}};
    if (auto kernel = impl->kernel_at(kernels, 4, one.digest)) {
      one.kernel = std::move(*kernel);
      all.kernels.push_back(std::move(one));
    } else {
      ++damaged;
    }
  }
  return all;
}

PackCheck Pack::check() const {
  PackCheck check;
  const PackContents all = contents(check.damaged);  // opens it
  if (!impl_) return check;
  check.plans = all.plans.size();
  check.kernels = all.kernels.size();
  std::vector<std::int64_t> checksums;
  for (const PackPlan& plan : all.plans) checksums.push_back(pack_checksum(plan));
  const auto says = [&](const char* key, const std::string& value) {
    const auto found = impl_->rows.find(key);
    return found != impl_->rows.end() && found->second == value;
  };
  const std::lock_guard lock(mutex());
  check.is_complete = check.damaged == 0 && says(kPlansDigest, plans_digest(checksums)) &&
                      says(kPlanCount, std::to_string(check.plans)) &&
                      says(kKernelCount, std::to_string(check.kernels)) && impl_->intact_kernels().has_value();
  check.signer = impl_->signer(check.signature_fault);
  if (!check.signer.empty()) check.signature_fault.clear();
  return check;
}

bool is_pack(const std::filesystem::path& path) { return has_mark(header_of(path)); }

}  // namespace fourtune::db
