#include "db/digest.h"

#include <sodium.h>

#include <array>

#include "fourtune/status.h"

namespace fourtune::db {
namespace {

void add(crypto_hash_sha256_state& state, std::string_view bytes) {
  crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

using Hash = std::array<unsigned char, 32>;
static_assert(crypto_hash_sha256_BYTES == 32 && crypto_generichash_BYTES == 32);

std::string text_of(const Hash& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string finish(crypto_hash_sha256_state& state) {
  Hash hash{};
  crypto_hash_sha256_final(&state, hash.data());
  return text_of(hash);
}

}  // namespace

void start_sodium() {
  static const int state = sodium_init();  // safe to call from several threads
  if (state < 0) throw Error(Status::internal, "libsodium could not start, so nothing can be hashed or signed");
}

std::string sha256(std::string_view bytes) {
  start_sodium();
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  add(state, bytes);
  return finish(state);
}

std::string sha256(std::initializer_list<std::string_view> parts) {
  start_sodium();
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  for (const std::string_view part : parts) {
    add(state, std::to_string(part.size()) + ":");
    add(state, part);
  }
  return finish(state);
}

std::string blake2b(std::span<const std::string_view> parts) {
  start_sodium();
  std::size_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size() + 8;
  std::string all;  // one piece, because a call per part would take longer than hashing
  all.reserve(bytes);
  for (const std::string_view part : parts) {
    all += std::to_string(part.size());
    all += ':';
    all += part;
  }
  Hash hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(all.data()), all.size(), nullptr,
                     0);
  return text_of(hash);
}

std::string sha512_bytes(std::string_view bytes) {
  start_sodium();
  std::array<unsigned char, crypto_hash_sha512_BYTES> hash{};
  crypto_hash_sha512(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return {hash.begin(), hash.end()};
}

}  // namespace fourtune::db
