#include "runtime/cpu/gridder_engine.h"

#include <algorithm>

namespace fourtune::runtime::cpu {

template <class T>
std::int64_t Workspace<T>::bytes() const {
  std::int64_t sum = tile.bytes() + row.bytes() + gathered.bytes() + static_cast<std::int64_t>(sizeof *this);
  for (const auto& b : blocks) sum += b.weights.bytes() + static_cast<std::int64_t>(sizeof b);
  return sum;
}

template <class T>
void Engine<T>::load(std::int64_t position, int n, bool in_bins, Workspace<T>& work, PointBlock<T>& block) const {
  const int words = points.words();
  const Word<T>* records = nullptr;
  switch (points.order()) {
    case PointOrder::permuted:
      records = points.record(position);
      for (int j = 0; j < n; ++j) block.index[j] = points.index_of(records + j * words);
      break;
    case PointOrder::indexed:
      for (int j = 0; j < n; ++j) {
        block.index[j] = points.indexed(position + j);
        std::copy_n(points.record(block.index[j]), words, work.gathered.data() + j * words);
      }
      records = work.gathered.data();
      break;
    case PointOrder::caller:
    case PointOrder::listed:
      records = points.record(position);
      for (int j = 0; j < n; ++j) block.index[j] = position + j;
      break;
  }
  kernels.evaluate(tables, tiling, records, n, in_bins, block.weights);
}

template struct Workspace<float>;
template struct Workspace<double>;
template struct Engine<float>;
template struct Engine<double>;

}  // namespace fourtune::runtime::cpu
