// Compiled kernels in the user's tuning database, so that the second process that needs a kernel starts no compiler.
//
// Invariants
//   1. A kernel is found only under the digest of text, options and target (kernel_digest).
//   2. What find() returns matches its stored checksum; a row that does not match is removed, not returned.
//   3. Nothing is loaded from or stored in a file that others than the user and root can write (trusted_file.h).
//   4. After a put or flush the compressed images together are within the store's limit; the least recently used go
//      first.
// The store is a cache: when the database cannot be read or written, why() says so, and kernels are kept in memory for
// this process. Many processes, and all their threads, may use it.
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
  std::vector<std::string> options;  // compiler options, in order
  std::string compiler;              // name and version; kept beside the kernel, and no part of its digest
  std::string target;                // for example "sm_90"
};
// Of entry, text, options and target: 64 hexadecimal digits. A compiler of another version makes a kernel that does the
// same, so it is no part of the digest, and without a compiler kernels are found, too.
std::string kernel_digest(const KernelOrigin& origin);

struct StoredKernel {
  std::vector<std::byte> image;
  std::string log;  // the compiler's messages (resource use)
  friend bool operator==(const StoredKernel&, const StoredKernel&) = default;
};

// A kernel with what its row says about it.
struct NamedKernel {
  std::string digest;  // kernel_digest()
  std::string entry, target, compiler;
  StoredKernel kernel;
  friend bool operator==(const NamedKernel&, const NamedKernel&) = default;
};

class KernelStore {
 public:
  static constexpr std::int64_t kDefaultLimit = 64 << 20;  // limit on the compressed images, in bytes

  // Opens nothing yet. With an empty path, kernels are kept in memory only.
  explicit KernelStore(std::filesystem::path path, std::int64_t limit = kDefaultLimit);
  KernelStore(const KernelStore&) = delete;
  KernelStore& operator=(const KernelStore&) = delete;
  ~KernelStore();

  std::optional<StoredKernel> find(const KernelOrigin& origin);
  // Returns false when the kernel was not kept in the database, which cannot be written, or whose limit it exceeds.
  bool put(const KernelOrigin& origin, const StoredKernel& kernel);
  // Keeps a kernel in memory, where find() sees it at once, until flush() writes all such kernels in one transaction: a
  // commit for each of a dozen kernels would take longer than compiling them in threads.
  void put_later(const KernelOrigin& origin, StoredKernel kernel);
  // Returns false as put() does, if so with any of them; those stay in memory.
  bool flush();
  // The number of kernels that flush() would write.
  std::size_t waiting() const;
  // Makes the database if it is missing, so that flush() only has to write: creating one waits for the disk several
  // times. Other threads need not wait for it. A failure is what flush() then says.
  void open_for_flush();
  // Calls find, and if nothing is found compile and put. Exceptions of compile pass through.
  StoredKernel get(const KernelOrigin& origin, const std::function<StoredKernel()>& compile);

  // Every kernel in the database, by digest. Throws StoreError.
  std::vector<NamedKernel> all();

  struct Size {
    std::int64_t kernels = 0;
    std::int64_t bytes = 0;  // compressed size
  };
  Size size();
  // Why the last call that used the database failed or refused; empty when it succeeded.
  std::string why() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::db
