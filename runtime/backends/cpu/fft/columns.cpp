#include "runtime/backends/cpu/fft/columns.h"

#include <utility>

#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/fft/arrays.h"

namespace fourtune::runtime::cpu {

template <class T>
SimdColumns<T>::SimdColumns(const SimdFftKernels<T>& kernels, std::vector<Axis> axes, bool swap)
    : kernels_(kernels), axes_(std::move(axes)), swap_(swap) {
  size_ = axes_.front().box.rows * axes_.front().plan->n * axes_.front().box.width;
  elements_.resize(static_cast<std::size_t>(size_)), results_.resize(elements_.size());
  for (std::int64_t k = 0; k < size_; ++k) {
    std::int64_t element = 0;
    for (const Axis& axis : axes_) {
      const std::int64_t at = k / axis.box.width % axis.plan->n;
      element += axis.box.width * axis.plan->output[static_cast<std::size_t>(at)];
    }
    elements_[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(element);
    results_[static_cast<std::size_t>(element)] = static_cast<std::int32_t>(k);
  }
  axes_.front().box.loaded = kernels_.has_edge(axes_.front().plan->levels.front().radix);
  axes_.back().box.stored = kernels_.has_edge(axes_.back().plan->levels.back().radix);
}

template <class T>
std::int64_t SimdColumns<T>::bytes() const {
  return bytes_of(elements_) + bytes_of(results_);
}

template <class T>
void SimdColumns<T>::run(const Places& places, std::int64_t lines, T* work, T* scratch) const {
  const std::int64_t groups = lines / kernels_.lanes, whole = groups * kernels_.lanes;
  if (groups > 0) whole_groups(places, static_cast<int>(groups), work, scratch);
  Places rest = places;
  rest.in += 2 * whole, rest.out += 2 * whole;
  if (whole < lines) last_group(rest, static_cast<int>(lines - whole), work, scratch);
}

template <class T>
void SimdColumns<T>::whole_groups(const Places& places, int groups, T* work, T* scratch) const {
  SimdEdge<T> edge;
  edge.work = work, edge.groups = groups, edge.group = area();
  edge.from_step = places.in_step, edge.to_step = places.out_step, edge.places = results_.data();
  edge.swap = swap_;
  SimdMove<T> move;
  move.size = size_, move.swap = swap_;
  move.groups = groups, move.group = area(), move.count = kernels_.lanes;
  const Axis &first = axes_.front(), &last = axes_.back();
  if (first.box.loaded) {
    const bool one_level = axes_.size() == 1 && first.plan->levels.size() == 1;
    edge.from = places.in, edge.to = one_level ? places.out : nullptr;
    kernels_.edge_level(*first.plan, first.box, edge);
    if (one_level) return;
  } else {
    move.step = places.in_step;
    kernels_.load(work, places.in, move);
  }
  for (int group = 0; group < groups; ++group)
    for (const Axis& axis : axes_) kernels_.transform_axis(*axis.plan, work + group * area(), axis.box, scratch);
  if (last.box.stored) {
    edge.from = nullptr, edge.to = places.out;
    kernels_.edge_level(*last.plan, last.box, edge);
  } else {
    move.step = places.out_step;
    kernels_.store(work, elements_.data(), places.out, move);
  }
}

// Lines too few for the lanes of a vector.
template <class T>
void SimdColumns<T>::last_group(const Places& places, int lines, T* work, T* scratch) const {
  SimdMove<T> move;
  move.size = size_, move.swap = swap_, move.count = lines;
  move.step = places.in_step;
  kernels_.load(work, places.in, move);
  for (const Axis& axis : axes_) kernels_.transform_axis(*axis.plan, work, {axis.box.rows, axis.box.width}, scratch);
  move.step = places.out_step;
  kernels_.store(work, elements_.data(), places.out, move);
}

template class SimdColumns<float>;
template class SimdColumns<double>;

}  // namespace fourtune::runtime::cpu
