// Compiled kernels in the user's tuning database: the second process to need one starts no compiler.
//
// Invariants
//   1 a kernel is found only under the digest of everything that it was compiled from (kernel_digest)
//   2 what find() gives has the checksum with which it was put; a row that has not is removed and not given
//   3 nothing is given from a file that others than the user and root can write (trusted_file.h), nor put there
//   4 after a put the compressed images together are at most the store's limit; those used longest ago go first
// It is a cache: when the database cannot be read or written, nothing is found and nothing kept, and why() tells.
// Use: many processes, and the threads of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fourtune::db {

// What a kernel is compiled from.
struct KernelOrigin {
  std::string entry;
  std::string text;                  // the whole translation unit
  std::vector<std::string> options;  // of the compiler, in order
  std::string compiler;              // name and version
  std::string target;                // "sm_90"
};
// 64 hexadecimal digits.
std::string kernel_digest(const KernelOrigin& origin);

struct StoredKernel {
  std::vector<std::byte> image;
  std::string log;  // the compiler's words (resource use)
  friend bool operator==(const StoredKernel&, const StoredKernel&) = default;
};

class KernelStore {
 public:
  static constexpr std::int64_t kDefaultLimit = 64 << 20;  // bytes of compressed images

  // Opens nothing yet. An empty path: a store that keeps nothing.
  explicit KernelStore(std::filesystem::path path, std::int64_t limit = kDefaultLimit);
  KernelStore(const KernelStore&) = delete;
  KernelStore& operator=(const KernelStore&) = delete;
  ~KernelStore();

  std::optional<StoredKernel> find(const KernelOrigin& origin);
  // False when it was not kept: the database cannot be written, or the image is above the limit.
  bool put(const KernelOrigin& origin, const StoredKernel& kernel);
  // find, else compile and put. What compile throws passes through.
  StoredKernel get(const KernelOrigin& origin, const std::function<StoredKernel()>& compile);

  struct Size {
    std::int64_t kernels = 0;
    std::int64_t bytes = 0;  // compressed
  };
  Size size();
  // Why the last call that touched the database could not, or would not; empty: it could.
  std::string why() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::db
