#include "db/pack_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "base/text.h"
#include "db/store_error.h"

namespace fourtune::db {
namespace {

constexpr std::string_view kIndexTitle = "fourtune pack index 1";
constexpr std::string Environment::*kIndexedPieces[] = {
    &Environment::backend, &Environment::device,   &Environment::isa,       &Environment::traits,
    &Environment::driver,  &Environment::compiler, &Environment::libraries, &Environment::generator};

// Tells one pack from another; it is no defence against malice, as an index can only hide plans.
std::string fingerprint(std::span<const std::byte> file) {
  std::uint64_t hash = file.size();
  for (std::size_t i = 0; i < file.size(); i += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, file.data() + i, std::min(sizeof word, file.size() - i));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return fmt::format("{} {:016x}", file.size(), hash);
}

// Empty for what is no small regular file.
std::string small_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const auto size = std::filesystem::file_size(path, error);
  if (error || size > kMostIndexedBytes) return {};
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), std::ssize(bytes));
  return file.gcount() == std::ssize(bytes) ? bytes : std::string();
}

// Takes the lines of a text one by one; what is missing is empty.
class IndexLines {
 public:
  explicit IndexLines(std::string_view text) : text_(text) {}
  std::string_view next() {
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    return line;
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

std::optional<PackIndex::Place> parse_place(std::string_view line, std::size_t environments) {
  const auto words = text::split(line, ' ');
  if (words.size() < 3) return std::nullopt;
  const auto environment = text::number<std::size_t>(words[0]);
  const auto size = text::number<double>(words[1]);
  if (!environment || *environment >= environments || !size || !std::isfinite(*size)) return std::nullopt;
  return PackIndex::Place{*environment, *size, std::string(line.substr(words[0].size() + words[1].size() + 2))};
}

}  // namespace

bool PackIndex::may_have(const Near& near, const std::function<bool(const Environment&)>& is_ours) const {
  std::vector<bool> has(environments.size());
  for (const Place& place : places)
    if (near.kin.empty() || (place.kin == near.kin && std::abs(place.size - near.size) <= near.reach))
      has[place.environment] = true;
  for (std::size_t i = 0; i < environments.size(); ++i)  // the question for devices is the dearest
    if (has[i] && is_ours(environments[i]) && (!near.devices || near.devices(environments[i]))) return true;
  return false;
}

std::filesystem::path index_path(const std::filesystem::path& pack) { return pack.string() + ".index"; }

std::string index_text(const PackContents& contents, std::span<const std::byte> file) {
  if (file.size() > kMostIndexedBytes)
    throw StoreError(StoreFault::unreadable, fmt::format("a pack of {} bytes is too large for an index of it; at most "
                                                         "{} are allowed",
                                                         file.size(), kMostIndexedBytes));
  std::vector<Environment> environments;
  std::set<PackIndex::Place> places;
  for (const PackPlan& plan : contents.plans) {
    const auto at = std::find(environments.begin(), environments.end(), plan.environment);
    places.insert({static_cast<std::size_t>(at - environments.begin()), plan.size, plan.kin});
    if (at == environments.end()) environments.push_back(plan.environment);
  }
  std::vector<std::string> lines{std::string(kIndexTitle),
                                 fingerprint(file),
                                 contents.manifest.name,
                                 contents.manifest.version,
                                 fmt::format("{}", contents.plans.size()),
                                 fmt::format("{}", contents.kernels.size()),
                                 fmt::format("{}", environments.size())};
  for (const Environment& one : environments)
    for (const auto piece : kIndexedPieces) lines.push_back(one.*piece);
  for (const PackIndex::Place& place : places)
    lines.push_back(fmt::format("{} {} {}", place.environment, place.size, place.kin));
  for (const std::string& line : lines)
    if (line.find('\n') != line.npos)
      throw StoreError(StoreFault::unreadable, "a text of the pack has a line break, so there is no index of it");
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::optional<PackIndex> parse_index(std::string_view text, std::span<const std::byte> file) {
  IndexLines lines(text);
  if (lines.next() != kIndexTitle || lines.next() != fingerprint(file)) return std::nullopt;
  PackIndex index;
  index.name = lines.next();
  index.version = lines.next();
  const auto plans = text::number<std::size_t>(lines.next()), kernels = text::number<std::size_t>(lines.next()),
             environments = text::number<std::size_t>(lines.next());
  if (!plans || !kernels || !environments) return std::nullopt;
  index.plans = *plans;
  index.kernels = *kernels;
  for (std::size_t i = 0; i < *environments; ++i) {
    if (lines.at_end()) return std::nullopt;
    Environment& one = index.environments.emplace_back();
    for (const auto piece : kIndexedPieces) one.*piece = lines.next();
  }
  while (!lines.at_end()) {
    auto place = parse_place(lines.next(), index.environments.size());
    if (!place) return std::nullopt;
    index.places.push_back(std::move(*place));
  }
  return index;
}

std::optional<PackIndex> index_beside(const std::filesystem::path& pack) {
  const std::string text = small_file(index_path(pack));
  if (text.empty()) return std::nullopt;
  const std::string file = small_file(pack);
  return parse_index(text, std::as_bytes(std::span(file)));
}

}  // namespace fourtune::db
