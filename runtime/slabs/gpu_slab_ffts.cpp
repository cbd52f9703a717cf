#include "runtime/slabs/gpu_slab_ffts.h"

namespace fourtune::runtime {

using gpu::Access;

GpuSlabFfts::GpuSlabFfts(std::unique_ptr<gpu::Queue> queue, void* stream, const generator::gpu_nufft::GridFft& grid)
    : grid_(grid), programs_(std::move(queue), stream) {
  grid_.device = programs_.traits();
}

void GpuSlabFfts::share(const Shared& shared) {
  if (shared_ && shared_->of_columns == shared.of_columns && shared_->of_planes == shared.of_planes) return;
  planes_.clear(), lines_.clear();
  shared_ = shared;
}

generator::GpuProgram GpuSlabFfts::planes_program(std::int64_t count, int sign, bool to_modes) const {
  generator::gpu_nufft::GridFft plane = grid_;
  plane.dim = last();
  plane.sign = sign;
  plane.batch = count;
  const auto d = static_cast<std::size_t>(last());
  plane.modes[d] = plane.fine[d] = 1, plane.held[d] = 0;
  plane.factors[d].clear();
  if (shares_planes()) plane.ranks = shared_->of_columns, plane.ranks->others = !to_modes;
  generator::GpuFftChoice choice;
  choice.family = generator::GpuFftFamily::plain;
  return generator::gpu_nufft::grid_fft(plane, choice, to_modes);
}

void GpuSlabFfts::prepare_planes(std::int64_t count, int sign, bool to_modes) {
  const Key key{count, sign, to_modes};
  if (count == 0 || planes_.contains(key)) return;
  planes_.emplace(key, programs_.add(planes_program(count, sign, to_modes)));
}

std::int64_t GpuSlabFfts::prepare_planes_inside(std::int64_t count, int sign, bool to_modes) {
  if (count == 0) return 1;
  const Key key{count, sign, to_modes};
  if (planes_.contains(key)) return count;
  const generator::GpuProgram program = planes_program(count, sign, to_modes);
  // Between two kernels values lie in a workspace, as kept planes are smaller than those of the grid.
  if (count > 1 && program.launches.size() < 2) return prepare_planes_inside(1, sign, to_modes);
  planes_.emplace(key, programs_.add(program));
  return count;
}

void GpuSlabFfts::prepare_lines(std::int64_t count, const Strides& strides, int sign, bool to_modes) {
  if (strides.modes != strides_.modes || strides.fine != strides_.fine) lines_.clear();
  strides_ = strides;
  const Key key{count, sign, to_modes};
  if (count == 0 || lines_.contains(key)) return;
  const auto d = static_cast<std::size_t>(last());
  generator::gpu_nufft::SlabLines lines;
  lines.precision = grid_.precision;
  lines.sign = sign;
  lines.count = count;
  lines.modes = grid_.modes[d], lines.fine = grid_.fine[d], lines.held = grid_.held[d];
  lines.modes_stride = strides.modes, lines.fine_stride = strides.fine;
  lines.order = grid_.order;
  lines.factors = grid_.factors[d];
  lines.device = grid_.device;
  if (shared_) lines.ranks = shared_->of_planes, lines.ranks->others = shares_planes() && to_modes;
  lines_.emplace(key, programs_.add(generator::gpu_nufft::slab_lines(lines, to_modes)));
}

void GpuSlabFfts::planes(void* grid, void* kept, std::int64_t count, int sign, bool to_modes) {
  std::int64_t bytes = element() * count, modes = element() * count;
  for (int d = 0; d < last(); ++d) bytes *= cells(d), modes *= grid_.modes[static_cast<std::size_t>(d)];
  const gpu::ProgramSet::Array fine{grid, bytes, to_modes ? Access::in : Access::out};
  const gpu::ProgramSet::Array own{kept, modes, to_modes ? Access::out : Access::in, shares_planes()};
  run(planes_.at({count, sign, to_modes}), to_modes ? fine : own, to_modes ? own : fine);
}

void GpuSlabFfts::lines(void* fine, void* modes, std::int64_t count, int sign, bool to_modes) {
  const auto d = static_cast<std::size_t>(last());
  const auto span = [&](std::int64_t positions, std::int64_t stride) {
    return ((positions - 1) * stride + count) * element();
  };
  // Between the lines of a position and those of the next one lie others, which keep what they have.
  const gpu::ProgramSet::Array whole{fine, span(cells(last()), strides_.fine), to_modes ? Access::in : Access::both,
                                     shared_.has_value()};
  const gpu::ProgramSet::Array own{modes, span(grid_.modes[d], strides_.modes), to_modes ? Access::both : Access::in};
  run(lines_.at({count, sign, to_modes}), to_modes ? whole : own, to_modes ? own : whole);
}

}  // namespace fourtune::runtime
