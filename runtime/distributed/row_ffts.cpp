#include "runtime/distributed/row_ffts.h"

#include <algorithm>
#include <complex>

#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::distributed {

template <class T>
RowFfts<T>::RowFfts(const RowFftSpec& spec) : spec_(spec), workers_(cpu::team_size(spec.threads)) {
  // Nothing is measured: ranks that measured would choose differently. Real rows are not transformed in pairs, as which
  // ones are neighbours depends on the rank.
  cpu::LineFftChoice choice{spec.n, spec.sign, spec.usual, spec.choice, {}};
  choice.fft.rigor = generator::Rigor::estimate;
  // The other sign of real rows is obtained by conjugating the half spectrum.
  if (spec.type != FftType::c2c) choice.sign = spec.type == FftType::r2c ? -1 : 1;
  fft_ = spec.type == FftType::c2c ? cpu::make_line_fft<T>(choice) : cpu::make_real_line_fft<T>(choice);
  // Separate pages, at different places of the caches' sets.
  work_stride_ = (fft_->work_bytes() + 4095) / 4096 * 4096 + 256;
  work_ = cpu::AlignedBytes(work_stride_ * workers_);
}

template <class T>
void RowFfts<T>::run(const void* from, void* to, std::int64_t rows) const {
  using Complex = std::complex<T>;
  const std::int64_t n = spec_.n, half = n / 2 + 1, block = fft_->lines();
  const auto interior = static_cast<T>(spec_.interior);
  cpu::parallel_for(workers_, (rows + block - 1) / block, [&](std::int64_t b, int worker) {
    const std::int64_t row = b * block;
    const int count = static_cast<int>(std::min(block, rows - row));
    void* const work = work_.as<char>() + worker * work_stride_;
    const cpu::LinePlaces whole{1, n, count}, halves{1, half, count};
    const cpu::LineFft<T>& fft = *fft_;
    switch (spec_.type) {
      case FftType::c2c:
        fft.load(work, static_cast<const Complex*>(from) + row * n, whole, {0, n}, nullptr);
        fft.store(fft.transform(work, count), static_cast<Complex*>(to) + row * n, whole, {0, n}, nullptr);
        break;
      case FftType::r2c:
        fft.load_real(work, static_cast<const T*>(from) + row * n, whole);
        fft.store_half(fft.transform(work, count), static_cast<Complex*>(to) + row * half, halves, interior,
                       spec_.sign > 0);
        break;
      case FftType::c2r:
        fft.load_half(work, static_cast<const Complex*>(from) + row * half, halves, interior, spec_.sign < 0);
        fft.store_real(fft.transform(work, count), static_cast<T*>(to) + row * n, whole);
        break;
    }
  });
}

template class RowFfts<float>;
template class RowFfts<double>;

}  // namespace fourtune::runtime::distributed
