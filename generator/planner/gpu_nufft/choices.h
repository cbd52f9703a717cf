// Families of sort, spreading and interpolation on a GPU with parameters bound, for a grid and a density of points.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fourtune/problem.h"
#include "generator/codegen/nufft/kernels.h"
#include "generator/plan/gpu_plan.h"

namespace fourtune::generator::gpu_nufft {

// The kernel that leads: the sort is made for it.
enum class Lead { spread, interpolate };

// The share of the grid in which points of a class lie; not given: uniform.
double share_of(std::optional<PointClass> points, int dim);
// Choices worth trying, the best by the measurements of docs/gpu-nufft.md first. density: points per cell of the grid;
// share: of the grid that has any. The kernel that does not lead shares the sort. Every choice has kernels (why_not is
// empty).
std::vector<GpuPointsChoice> points_choices(const nufft::Shape& shape, Lead lead, double density, double share = 1);
// Single changes of the sort and of the kernel that leads: bins, cap, warps, unroll, run, lanes, placement. Those that
// have no kernels are left out.
std::vector<GpuPointsChoice> variations(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead);
// The choice with `group` transforms at a time in the kernel that leads, and in the other one where it can; the bins
// shrink until a tile of so many grids fits shared memory. Nothing where the leading family cannot.
std::optional<GpuPointsChoice> grouped(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead, int group);
// Groups worth trying for a batch, the usual one first; empty: none.
std::vector<int> groups_of(const nufft::Shape& shape, std::int64_t batch);
// The choice for a batch, by the same measurements: in groups, if that pays.
GpuPointsChoice for_batch(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead, double density,
                          std::int64_t batch);
// The choice's families with parameters that fit another grid or width: its own where they have kernels.
GpuPointsChoice refit(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead);

// The kernel of the other direction on the sort of the one given: its family and parameters.
GpuPointsChoice with_partner_of_spread(const nufft::Shape& shape, nufft::Spread spread, const nufft::Parameters& with);
GpuPointsChoice with_partner_of_interpolate(const nufft::Shape& shape, nufft::Interpolate interp,
                                            const nufft::Parameters& with);

// The choice made bit-reproducible: spreading in fixed point, by padded bins or straight to the grid in place of
// register windows. A spreader that follows an interpolator's sort keeps it.
GpuPointsChoice deterministic(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead);

// Why there are no kernels for the choice; empty: there are.
std::string why_not(const GpuPointsChoice& choice, const nufft::Shape& shape);

}  // namespace fourtune::generator::gpu_nufft
