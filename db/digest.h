// SHA-256, which names things in stores and caches; BLAKE2b, several times as fast, for what is checked at every start;
// and SHA-512.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace fourtune::db {

// Selects libsodium's fastest code. Everything here calls it; so must other users of libsodium. Throws Error{internal}
// when it cannot start.
void start_sodium();

// Returns 64 lower-case hexadecimal digits. May be called from any thread.
std::string sha256(std::string_view bytes);
// The digest of a list of parts: each part is preceded by its length, so different lists give different input.
std::string sha256(std::initializer_list<std::string_view> parts);
// The same with BLAKE2b of 256 bits.
std::string blake2b(std::span<const std::string_view> parts);

// The 64 raw bytes of SHA-512.
std::string sha512_bytes(std::string_view bytes);

}  // namespace fourtune::db
