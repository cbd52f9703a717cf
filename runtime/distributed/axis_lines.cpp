#include "runtime/distributed/axis_lines.h"

#include <algorithm>

#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::distributed {

template <class T>
AxisLines<T>::AxisLines(std::int64_t n, int sign, std::int64_t usual, const generator::FftChoice& choice, int threads) {
  // Nothing is measured: ranks that measured would choose differently.
  generator::FftChoice fft = choice;
  fft.rigor = generator::Rigor::estimate;
  fft_ = cpu::make_line_fft<T>({n, sign, usual, fft, {}});
  workers_ = cpu::team_size(threads);
  // Each worker has separate pages, at different places of the caches' sets.
  work_stride_ = (fft_->work_bytes() + 4095) / 4096 * 4096 + 256;
  work_ = cpu::AlignedBytes(work_stride_ * workers_);
}

template <class T>
void AxisLines<T>::run(const std::complex<T>* from, const AxisSide<T>& from_side, std::complex<T>* to,
                       const AxisSide<T>& to_side, std::int64_t lines, cpu::LineRange which,
                       std::int64_t arrays) const {
  const std::int64_t block = fft_->lines(), blocks = (which.count + block - 1) / block;
  cpu::parallel_for(workers_, arrays * blocks, [&](std::int64_t i, int worker) {
    const std::int64_t array = i / blocks, b = i % blocks, at = which.first + b * block;
    void* const work = work_.as<char>() + worker * work_stride_;
    const int count = static_cast<int>(std::min(block, which.count - b * block));
    const auto places = [&](const AxisSide<T>& side) {
      return cpu::LinePlaces{side.step > 0 ? side.step : lines, 1, count, side.past_caches};
    };
    cpu::load_side<T>(*fft_, work, from + array * from_side.distance + at, places(from_side), from_side.side,
                      from_side.factor);
    const void* const result = fft_->transform(work, count);
    cpu::store_side<T>(*fft_, result, to + array * to_side.distance + at, places(to_side), to_side.side,
                       to_side.factor);
  });
}

template class AxisLines<float>;
template class AxisLines<double>;

}  // namespace fourtune::runtime::distributed
