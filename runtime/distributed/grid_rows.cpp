#include "runtime/distributed/grid_rows.h"

#include <algorithm>

#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::distributed {

template <class T>
GridRows<T>::GridRows(const GridRowSpec& spec, const std::vector<LayerSpan>& rows, const cpu::GridShape& shape)
    : shape_(shape), n_(spec.n) {
  generator::FftChoice fft = spec.choice;
  fft.rigor = generator::Rigor::estimate;  // ranks that measured would choose differently
  fft_ = cpu::make_line_fft<T>({spec.n, spec.sign, spec.usual, fft, {}});
  const std::int64_t most = fft_->lines();
  for (const LayerSpan& run : rows) {
    rows_ += run.count;
    for (std::int64_t r = 0; r < run.count; r += most)
      blocks_.push_back({run.stored + r, run.own + r, std::min(most, run.count - r)});
  }
  workers_ = cpu::team_size(spec.threads);
  // Each worker has separate pages, at different places of the caches' sets.
  work_stride_ = (fft_->work_bytes() + 4095) / 4096 * 4096 + 256;
  work_ = cpu::AlignedBytes(work_stride_ * workers_);
}

// Calls row(work, first cell and its places, first mode and its places) for every block of rows.
template <class T>
template <class Row>
void GridRows<T>::for_each_block(std::int64_t planes, std::int64_t modes, Row row) const {
  const auto blocks = static_cast<std::int64_t>(blocks_.size());
  cpu::parallel_for(workers_, planes * blocks, [&](std::int64_t i, int worker) {
    const std::int64_t plane = i / blocks;
    const LayerSpan& block = blocks_[static_cast<std::size_t>(i % blocks)];
    const int count = static_cast<int>(block.count);
    row(work_.as<char>() + worker * work_stride_, plane * shape_.stride[2] + block.stored * shape_.stride[1],
        cpu::LinePlaces{1, shape_.stride[1], count}, (plane * rows_ + block.own) * modes,
        cpu::LinePlaces{1, modes, count});
  });
}

template <class T>
void GridRows<T>::truncate(const Complex* cells, Complex* modes, const AxisSide<T>& kept, std::int64_t planes) const {
  const std::int64_t count = kept.side.low.count + kept.side.high.count;
  for_each_block(
      planes, count, [&](void* work, std::int64_t cell, const auto& from, std::int64_t mode, const auto& to) {
        cpu::load_side<T>(*fft_, work, cells + cell, from, cpu::whole_side(n_), nullptr);
        cpu::store_side<T>(*fft_, fft_->transform(work, from.count), modes + mode, to, kept.side, kept.factor);
      });
}

template <class T>
void GridRows<T>::pad(const Complex* modes, Complex* cells, const AxisSide<T>& kept, std::int64_t planes) const {
  const std::int64_t count = kept.side.low.count + kept.side.high.count;
  for_each_block(
      planes, count, [&](void* work, std::int64_t cell, const auto& to, std::int64_t mode, const auto& from) {
        cpu::load_side<T>(*fft_, work, modes + mode, from, kept.side, kept.factor);
        cpu::store_side<T>(*fft_, fft_->transform(work, to.count), cells + cell, to, cpu::whole_side(n_), nullptr);
      });
}

template class GridRows<float>;
template class GridRows<double>;

}  // namespace fourtune::runtime::distributed
