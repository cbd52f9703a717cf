#include "db/pack_contents.h"

#include <fmt/format.h>
#include <zstd.h>

#include <array>
#include <bit>
#include <charconv>
#include <new>

#include "db/digest.h"
#include "db/limits.h"

namespace fourtune::db {
namespace {

constexpr int kLevel = 9;  // halves cubins in a few ms

std::string_view view(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::int64_t first_64_bits(std::string_view digest) {
  std::uint64_t number = 0;
  std::from_chars(digest.data(), digest.data() + 16, number, 16);
  return std::bit_cast<std::int64_t>(number);
}

}  // namespace

std::int64_t pack_checksum(const PackPlan& plan) {
  const Environment& e = plan.environment;
  const std::string numbers =
      fmt::format("{} {:.0f} {:.0f} {:.6f} {:.6f} {} {} {} {} {}", plan.rank, plan.verdict.winner_ns,
                  plan.verdict.incumbent_ns, plan.verdict.ratio_low, plan.verdict.ratio_high, plan.verdict.rounds,
                  plan.error ? fmt::format("{}", *plan.error) : "-", plan.created_ms, plan.size, plan.kin);
  // As in the database, what version 1 did not have is hashed only where it is there.
  const bool of_time = plan.verdict.objective == Objective::time;
  std::vector<std::string_view> parts{of_time ? "pack 1" : "pack 2",
                                      plan.verdict.problem,
                                      plan.verdict.plan,
                                      plan.verdict.validity,
                                      numbers,
                                      plan.wisdom,
                                      e.backend,
                                      e.device,
                                      e.isa,
                                      e.traits,
                                      e.driver,
                                      e.compiler,
                                      e.libraries,
                                      e.generator};
  if (!of_time) parts.push_back(to_string(plan.verdict.objective));
  return first_64_bits(blake2b(parts));
}

std::int64_t token_hash(std::string_view token) {
  const std::array<std::string_view, 1> parts{token};
  return first_64_bits(blake2b(parts));
}

std::string kernel_checksum(const std::string& digest, std::span<const std::byte> image) {
  return sha256({digest, view(image)});
}

std::vector<std::byte> compress(std::span<const std::byte> bytes) {
  std::vector<std::byte> packed(ZSTD_compressBound(bytes.size()));
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size)) throw std::bad_alloc();  // the only way that compressing into a large enough buffer can fail
  packed.resize(size);
  return packed;
}

std::optional<std::vector<std::byte>> decompress(std::span<const std::byte> packed, std::int64_t bytes) {
  if (bytes <= 0 || bytes > static_cast<std::int64_t>(kMaxImage)) return std::nullopt;
  std::vector<std::byte> image(static_cast<std::size_t>(bytes));
  const std::size_t size = ZSTD_decompress(image.data(), image.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) || size != image.size()) return std::nullopt;
  return image;
}

}  // namespace fourtune::db
