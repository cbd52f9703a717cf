#include "db/pack_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <tuple>

#include "base/text.h"
#include "db/limits.h"
#include "db/pack_format.h"
#include "db/queries.h"
#include "db/signature.h"

namespace fourtune::db {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(Status::invalid_argument, "pack: " + what); }

auto order(const Environment& e) {
  return std::tie(e.backend, e.device, e.isa, e.traits, e.driver, e.compiler, e.libraries, e.generator);
}
auto order(const PackPlan& plan) {
  return std::make_tuple(std::cref(plan.verdict.problem), order(plan.environment), plan.rank);
}

void require_manifest(const PackManifest& manifest) {
  const auto plain = [](unsigned char c) { return c > ' ' && c != '/' && c != 127; };
  for (const auto& [what, value] : {std::pair{"name", manifest.name}, std::pair{"version", manifest.version}})
    if (value.empty() || value.size() > 64 || !std::all_of(value.begin(), value.end(), plain))
      refuse(
          fmt::format("its {} is '{}', must be 1 to 64 letters without blanks and slashes", what, text::shown(value)));
  if (manifest.licence.size() > kMaxText || manifest.program.size() > kMaxText) refuse("its licence is too long");
}

void require_plan(const PackPlan& plan, const std::string& language) {
  if (const std::string fault = verdict_fault(plan.verdict); !fault.empty()) refuse(fault);
  if (plan.rank < 0) refuse(fmt::format("rank {} of a plan, must not be negative", plan.rank));
  if (plan.environment.generator != language)
    refuse(fmt::format("plan languages are mixed: '{}' and '{}'; make one pack for each", text::shown(language),
                       text::shown(plan.environment.generator)));
  if (plan.verdict.winner_ns > 9e18 || plan.verdict.incumbent_ns > 9e18 || plan.verdict.ratio_high > 1e9)
    refuse(fmt::format("times of {} that no tuning measures", text::shown(plan.verdict.problem)));
}

// The numbers as the table keeps them: whole nanoseconds and millionths.
PackPlan rounded(PackPlan plan) {
  const auto millionths = [](double ratio) { return std::round(ratio * 1e6) / 1e6; };
  plan.verdict.winner_ns = std::max(1.0, std::round(plan.verdict.winner_ns));
  plan.verdict.incumbent_ns = std::round(plan.verdict.incumbent_ns);
  plan.verdict.ratio_low = millionths(plan.verdict.ratio_low);
  plan.verdict.ratio_high = millionths(plan.verdict.ratio_high);
  plan.verdict.replaces.clear();
  return plan;
}

std::string text_of(const PackPlan& plan) {
  const Verdict& v = plan.verdict;
  const std::string objective = v.objective == Objective::time ? "" : fmt::format("{}\n", to_string(v.objective));
  return fmt::format("{}\n{}\n{}\n{}", v.problem, v.plan, v.validity, objective);
}

// Some of the texts, evenly spread: most others differ from one of them in a few numbers.
std::string dictionary_of(const std::vector<PackPlan>& plans) {
  constexpr std::size_t kPieces = 48;
  std::string dictionary;
  const std::size_t step = std::max<std::size_t>(1, plans.size() / kPieces);
  for (std::size_t i = 0; i < plans.size() && dictionary.size() < (24 << 10); i += step)
    dictionary += text_of(plans[i]);
  return dictionary;
}

class Compressor {
 public:
  explicit Compressor(const std::string& dictionary)
      : context_(ZSTD_createCCtx()), dictionary_(ZSTD_createCDict(dictionary.data(), dictionary.size(), 19)) {
    if (!context_ || !dictionary_) throw std::bad_alloc();
  }
  std::vector<std::byte> operator()(const std::string& text) {
    std::vector<std::byte> out(ZSTD_compressBound(text.size()));
    const std::size_t size =
        ZSTD_compress_usingCDict(context_.get(), out.data(), out.size(), text.data(), text.size(), dictionary_.get());
    if (ZSTD_isError(size)) throw std::bad_alloc();
    out.resize(size);
    return out;
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_CDict* dictionary) const noexcept { ZSTD_freeCDict(dictionary); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::unique_ptr<ZSTD_CDict, Free> dictionary_;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Numbers of values in the order in which they first appear.
template <class Key>
class Numbers {
 public:
  // True when the value is new.
  bool add(const Key& key, std::int64_t& number) {
    const auto [place, added] = numbers_.try_emplace(key, std::ssize(numbers_) + 1);
    number = place->second;
    return added;
  }

 private:
  std::map<Key, std::int64_t> numbers_;
};

// Returns the digest of the plans.
std::string write_plans(const Database& database, const std::vector<PackPlan>& plans) {
  const std::string dictionary = dictionary_of(plans);
  Compressor compress_text(dictionary);
  if (!dictionary.empty())
    database.prepare("INSERT INTO dictionary (data) VALUES (?)").with(bytes_of(dictionary)).run();
  Numbers<decltype(order(std::declval<const Environment&>()))> environments;
  Numbers<std::string> kins, wisdoms;
  std::vector<std::int64_t> checksums;
  for (const PackPlan& plan : plans) {
    const Environment& e = plan.environment;
    std::int64_t environment = 0, kin = 0, wisdom = 0;
    if (environments.add(order(e), environment))
      database.prepare("INSERT INTO environment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
          .with(environment, e.backend, e.device, e.isa, e.traits, e.driver, e.compiler, e.libraries, e.generator)
          .run();
    if (kins.add(plan.kin, kin)) database.prepare("INSERT INTO kin VALUES (?, ?)").with(kin, plan.kin).run();
    if (!plan.wisdom.empty() && wisdoms.add(plan.wisdom, wisdom)) {
      const auto packed = compress(bytes_of(plan.wisdom));
      database.prepare("INSERT INTO wisdom VALUES (?, ?, ?)")
          .with(wisdom, std::ssize(plan.wisdom), std::span<const std::byte>(packed))
          .run();
    }
    const auto data = compress_text(text_of(plan));
    const Verdict& v = plan.verdict;
    const auto whole = [](double value) { return static_cast<std::int64_t>(std::llround(value)); };
    checksums.push_back(pack_checksum(plan));
    database
        .prepare(
            "INSERT INTO plan (token_hash, kin, size, environment, rank, data, winner_ns, incumbent_ns, ratio_low,"
            " ratio_high, rounds, error, created_ms, wisdom, checksum)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(token_hash(v.problem), kin, plan.size, environment, std::int64_t{plan.rank},
              std::span<const std::byte>(data), whole(v.winner_ns), whole(v.incumbent_ns), whole(v.ratio_low * 1e6),
              whole(v.ratio_high * 1e6), std::int64_t{v.rounds}, plan.error, plan.created_ms,
              wisdom > 0 ? std::optional(wisdom) : std::nullopt, checksums.back())
        .run();
  }
  return plans_digest(checksums);
}

// Returns the digest of the kernels.
std::string write_kernels(const Database& database, const std::vector<PackKernel>& kernels) {
  std::vector<std::string> list;
  std::int64_t id = 0;
  for (const PackKernel& one : kernels) {
    const std::string checksum = kernel_checksum(one.digest, one.kernel.image);
    const auto packed = compress(one.kernel.image);
    database.prepare("INSERT INTO kernel VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .with(++id, one.digest, one.entry, one.target, one.compiler,
              std::string_view(one.kernel.log).substr(0, std::min(one.kernel.log.find('\0'), kMaxText)),
              std::ssize(one.kernel.image), checksum)
        .run();
    database.prepare("INSERT INTO image VALUES (?, ?)").with(id, std::span<const std::byte>(packed)).run();
    list.insert(list.end(), {one.digest, checksum});
  }
  return kernels_digest(list);
}

// SQLite notes in the header how often the file was changed and which release changed it last; neither is contents.
void forget_the_writer(std::vector<std::byte>& file) {
  constexpr std::size_t kChanges = 24, kValidFor = 92, kRelease = 96;
  for (const std::size_t number : {kChanges, kValidFor, kRelease})
    for (std::size_t i = 0; i < 4; ++i) file[number + i] = std::byte{i == 3};
}

[[noreturn]] void fail_io(const std::filesystem::path& path, const char* what) {
  const int error = errno;
  throw Error(Status::io, fmt::format("'{}' cannot be {}: {}", text::shown(path.string()), what, std::strerror(error)));
}

}  // namespace

std::vector<std::byte> pack_bytes(PackContents contents, std::string_view secret_key) {
  require_manifest(contents.manifest);
  for (PackPlan& plan : contents.plans) {
    require_plan(plan, contents.manifest.plan_language);
    plan = rounded(std::move(plan));
  }
  std::sort(contents.plans.begin(), contents.plans.end(),
            [](const PackPlan& a, const PackPlan& b) { return order(a) < order(b); });
  const auto twice = std::adjacent_find(contents.plans.begin(), contents.plans.end(),
                                        [](const PackPlan& a, const PackPlan& b) { return order(a) == order(b); });
  if (twice != contents.plans.end())
    refuse(fmt::format("two plans of rank {} for {} in one environment", twice->rank,
                       text::shown(twice->verdict.problem)));
  std::sort(contents.kernels.begin(), contents.kernels.end(),
            [](const PackKernel& a, const PackKernel& b) { return a.digest < b.digest; });
  std::sort(contents.manifest.sources.begin(), contents.manifest.sources.end());

  const Database database = empty_pack(contents.plans);
  Transaction transaction(database);
  ManifestRows rows = rows_of(contents.manifest);
  rows[kPlansDigest] = write_plans(database, contents.plans);
  rows[kKernelsDigest] = write_kernels(database, contents.kernels);
  rows[kPlanCount] = std::to_string(contents.plans.size());
  rows[kKernelCount] = std::to_string(contents.kernels.size());
  for (const auto& [key, value] : rows) database.prepare("INSERT INTO manifest VALUES (?, ?)").with(key, value).run();
  if (!secret_key.empty())
    database.prepare("INSERT INTO signature VALUES (?, ?)")
        .with(public_key_of(secret_key), sign(secret_key, signed_message(rows)))
        .run();
  transaction.commit();
  std::vector<std::byte> file = database.to_bytes();
  forget_the_writer(file);
  return file;
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  // A process of the same number, killed while it wrote, may have left its file: in containers numbers are few.
  std::string name;
  int file = -1;
  constexpr int kMostLeftOver = 100;
  for (int i = 0; file < 0 && i < kMostLeftOver; ++i) {
    name = fmt::format("{}.{}.{}", path.string(), ::getpid(), i);
    file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 && errno != EEXIST) break;
  }
  if (file < 0) fail_io(path, "made");
  const auto give_up = [&](const char* what) {
    const int error = errno;
    ::close(file);
    ::unlink(name.c_str());
    errno = error;
    fail_io(path, what);
  };
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up("written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (::fsync(file) != 0) give_up("written");
  if (::rename(name.c_str(), path.c_str()) != 0) give_up("put in its place");
  ::close(file);
}

}  // namespace fourtune::db
