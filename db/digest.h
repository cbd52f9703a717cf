// SHA-256, the name of things in stores and caches; BLAKE2b, several times as fast, for what is looked at on every
// start; and SHA-512.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace fourtune::db {

// 64 lower-case hexadecimal digits. Threads: any. Throws Error{internal} when libsodium cannot start.
std::string sha256(std::string_view bytes);
// Digest of a list of parts: each part is preceded by its length, so that parts cannot run into each other.
std::string sha256(std::initializer_list<std::string_view> parts);
// The same by BLAKE2b of 256 bits.
std::string blake2b(std::initializer_list<std::string_view> parts);

// The 64 bytes of SHA-512 themselves.
std::string sha512_bytes(std::string_view bytes);

}  // namespace fourtune::db
