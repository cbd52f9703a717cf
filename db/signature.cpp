#include "db/signature.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/text.h"
#include "db/digest.h"
#include "fourtune/status.h"

namespace fourtune::db {
namespace {

constexpr std::string_view kPublic = "fourtune-public-key ", kSecret = "fourtune-secret-key ";
constexpr std::size_t kLongestName = 64, kLongestKey = 512;

template <std::size_t N>
using Bytes = std::array<unsigned char, N>;
using PublicKey = Bytes<crypto_sign_PUBLICKEYBYTES>;
using SecretKey = Bytes<crypto_sign_SECRETKEYBYTES>;
using Signature = Bytes<crypto_sign_BYTES>;

template <std::size_t N>
std::string base64(const Bytes<N>& bytes) {
  std::string text(sodium_base64_ENCODED_LEN(N, sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), N, sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // the NUL
  return text;
}

// Returns nothing unless the text is exactly N bytes.
template <std::size_t N>
std::optional<Bytes<N>> from_base64(std::string_view text) {
  Bytes<N> bytes{};
  std::size_t size = 0;
  if (sodium_base642bin(bytes.data(), N, text.data(), text.size(), nullptr, &size, nullptr,
                        sodium_base64_VARIANT_ORIGINAL) != 0 ||
      size != N)
    return std::nullopt;
  return bytes;
}

template <std::size_t N>
Bytes<N> key_bytes(std::string_view text, std::string_view mark, std::string_view what) {
  const std::string_view other = mark == kPublic ? kSecret : kPublic;
  if (text.starts_with(other))
    throw Error(Status::invalid_argument,
                fmt::format("this is a {} key where a {} key is needed", other == kPublic ? "public" : "secret", what));
  std::string_view rest = text;
  if (rest.starts_with(mark)) {
    rest.remove_prefix(mark.size());
  } else if (mark == kSecret) {
    rest = {};
  }
  rest = rest.substr(0, rest.find(' '));
  const auto bytes = from_base64<N>(rest);
  if (!bytes)
    throw Error(Status::invalid_argument,
                fmt::format("'{}' is not a {} key; `fourtune pack keygen NAME` makes a pair of keys",
                            text::shown(text.substr(0, mark == kSecret ? 0 : kLongestKey)), what));
  return *bytes;
}

const unsigned char* data(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

KeyPair make_keys(std::string_view name) {
  start_sodium();
  const auto plain = [](unsigned char c) { return c > ' ' && c < 127; };
  if (name.empty() || name.size() > kLongestName || !std::all_of(name.begin(), name.end(), plain))
    throw Error(Status::invalid_argument,
                fmt::format("'{}' is no name of a key: 1 to {} letters, digits and marks, no blanks", text::shown(name),
                            kLongestName));
  PublicKey open{};
  SecretKey secret{};
  crypto_sign_keypair(open.data(), secret.data());
  KeyPair pair{fmt::format("{}{} {}", kPublic, base64(open), name),
               fmt::format("{}{} {}", kSecret, base64(secret), name)};
  sodium_memzero(secret.data(), secret.size());
  return pair;
}

std::string bare_public_key(std::string_view public_key) {
  start_sodium();
  return base64(key_bytes<crypto_sign_PUBLICKEYBYTES>(public_key, kPublic, "public"));
}

std::string public_key_of(std::string_view secret_key) {
  start_sodium();
  const auto secret = key_bytes<crypto_sign_SECRETKEYBYTES>(secret_key, kSecret, "secret");
  PublicKey open{};
  crypto_sign_ed25519_sk_to_pk(open.data(), secret.data());
  return base64(open);
}

std::string sign(std::string_view secret_key, std::string_view message) {
  start_sodium();
  const auto secret = key_bytes<crypto_sign_SECRETKEYBYTES>(secret_key, kSecret, "secret");
  Signature signature{};
  crypto_sign_detached(signature.data(), nullptr, data(message), message.size(), secret.data());
  return base64(signature);
}

bool is_signed(std::string_view public_key, std::string_view message, std::string_view signature) {
  start_sodium();
  const auto key = key_bytes<crypto_sign_PUBLICKEYBYTES>(public_key, kPublic, "public");
  const auto bytes = from_base64<crypto_sign_BYTES>(signature);
  return bytes && crypto_sign_verify_detached(bytes->data(), data(message), message.size(), key.data()) == 0;
}

std::string read_key(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line(kLongestKey, '\0');
  in.read(line.data(), std::ssize(line));
  if (in.bad() || (!in.eof() && in.gcount() == 0))
    throw Error(Status::io, fmt::format("key file '{}' cannot be read: {}", text::shown(path.string()),
                                        std::strerror(errno ? errno : EIO)));
  line.resize(static_cast<std::size_t>(in.gcount()));
  line.resize(std::min(line.size(), line.find_first_of("\r\n")));
  return line;
}

}  // namespace fourtune::db
