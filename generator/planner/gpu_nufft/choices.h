// Families of sort, spreading and interpolation on a GPU, with parameters bound for a grid and a density of points.
// groups.cpp implements groups_of and grouped; choices.cpp implements the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fourtune/problem.h"
#include "generator/codegen/nufft/kernels.h"
#include "generator/plan/gpu_plan.h"

namespace fourtune::generator::gpu_nufft {

// The kernel that leads: the sort is chosen for it.
enum class Lead { spread, interpolate };

// The share of the grid in which the points of a class lie. No class: uniform.
double share_of(std::optional<PointClass> points, int dim);
// Choices worth trying, every family with the tiles that cost least, the cheapest first. density: points per cell of
// the grid; share: the share of the grid that has points; batch: transforms at a time. The kernel that does not lead
// uses the same sort. Every choice has kernels (why_not is empty).
std::vector<GpuPointsChoice> points_choices(const nufft::Shape& shape, Lead lead, double density, double share = 1,
                                            std::int64_t batch = 1);
// Whether a default may be the choice: its prices rest on enough measurements, and its points do not crowd the grid.
bool is_usual(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead, double share);
// Single changes of the sort and of the leading kernel: bins, cap, warps, unroll, run, lanes, placement. Changes
// without kernels are left out.
std::vector<GpuPointsChoice> variations(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead);
// The choice with `group` transforms at a time in the leading kernel, and in the other kernel if possible. The bins
// shrink until a tile of that many grids fits shared memory. Returns nothing if the leading family cannot do groups.
std::optional<GpuPointsChoice> grouped(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead, int group);
// Group sizes worth trying for a batch, the usual one first; empty: none.
std::vector<int> groups_of(const nufft::Shape& shape, std::int64_t batch);
// The choice's families with parameters for another grid or width: the same parameters if kernels exist for them.
GpuPointsChoice refit(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead);

// Adds the kernel for the other direction, with its family and parameters, on the sort of the given kernel.
GpuPointsChoice with_partner_of_spread(const nufft::Shape& shape, nufft::Spread spread, const nufft::Parameters& with);
GpuPointsChoice with_partner_of_interpolate(const nufft::Shape& shape, nufft::Interpolate interp,
                                            const nufft::Parameters& with);

// Makes the choice bit-reproducible: spreading uses fixed point, and padded bins or direct access to the grid in place
// of register windows. A spreader that follows an interpolator's sort keeps that sort. `twice` as in nufft::Parameters.
GpuPointsChoice deterministic(const GpuPointsChoice& choice, const nufft::Shape& shape, Lead lead, bool twice);

// The choice with a sort that m points can have: one level, where two have too many bins for this device.
GpuPointsChoice sortable(const GpuPointsChoice& choice, const nufft::Shape& shape, std::int64_t m);

// The choice with the sort that suits m points of a class that crowds some bins.
GpuPointsChoice for_crowds(const GpuPointsChoice& choice, const nufft::Shape& shape, std::int64_t m, PointClass points);

// Why there are no kernels for the choice; empty: there are.
std::string why_not(const GpuPointsChoice& choice, const nufft::Shape& shape);

}  // namespace fourtune::generator::gpu_nufft
