// Where compiled kernels come from before they are compiled: trusted packs, then the user's store.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "db/kernel_store.h"
#include "db/pack.h"

namespace fourtune::runtime::cuda {

class KernelShelf {
 public:
  // The store must outlive the shelf. A store alone is a shelf, too.
  KernelShelf(db::KernelStore& store, std::vector<std::shared_ptr<const db::Pack>> packs = {})
      : store_(&store), packs_(std::move(packs)) {}

  // Packs go first, since one look-up there takes microseconds and the store's file may not be open yet.
  std::optional<db::StoredKernel> find(const db::KernelOrigin& origin) const {
    if (auto found = find_in_packs(origin)) return found;
    return store_->find(origin);
  }
  std::optional<db::StoredKernel> find_in_packs(const db::KernelOrigin& origin) const {
    if (packs_.empty()) return std::nullopt;
    const std::string digest = db::kernel_digest(origin);
    for (const auto& pack : packs_)
      if (auto found = pack->kernel(digest)) return found;
    return std::nullopt;
  }
  bool has_packs() const { return !packs_.empty(); }
  // Found at once, and in the user's database after flush().
  void keep(const db::KernelOrigin& origin, db::StoredKernel kernel) const {
    store_->put_later(origin, std::move(kernel));
  }
  void flush() const { store_->flush(); }
  std::size_t waiting() const { return store_->waiting(); }  // for flush()
  void open_for_flush() const { store_->open_for_flush(); }

 private:
  db::KernelStore* store_;
  std::vector<std::shared_ptr<const db::Pack>> packs_;
};

}  // namespace fourtune::runtime::cuda
