// Ed25519 signatures (RFC 8032, by libsodium) of packs, and the texts of keys.
//
// Keys are texts of one line, "fourtune-public-key BASE64 NAME" and "fourtune-secret-key BASE64 NAME"; the name is for
// people only. All functions may be called from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fourtune::db {

struct KeyPair {
  std::string public_key, secret_key;
};

// A new random pair. The name has no blanks or control characters and at most 64 bytes, else Error{invalid_argument}.
KeyPair make_keys(std::string_view name);

// The public key's text without its name: how keys are compared and stored. Throws Error{invalid_argument} for a text
// that is no public key and says what it is instead.
std::string bare_public_key(std::string_view public_key);
// The public key that belongs to a secret one, bare.
std::string public_key_of(std::string_view secret_key);

// The signature as BASE64.
std::string sign(std::string_view secret_key, std::string_view message);
// Whether it is this key's signature of this message; false for what is not a signature.
bool is_signed(std::string_view public_key, std::string_view message, std::string_view signature);

// The first line of a key file. Throws Error{io} when it cannot be read.
std::string read_key(const std::filesystem::path& path);

}  // namespace fourtune::db
