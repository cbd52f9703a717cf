// How a distributed transform is split over the ranks, and what each rank computes.
//
//   ranks=slabs(balance=points,chunks=4,cut=planes);cpu;threads=1;window=pswf(...);sort=tiles(...);spread=...;fft=...
//   ranks=slabs(chunks=2,cut=columns);cpu;threads=1;fft=rows(...)                     (an fft)
//   ranks=slabs(chunks=1,cut=planes,exchange=shared);cpu;threads=1;fft=rows(...)      (ranks of one machine)
//   ranks=pencils(grid=2x4,chunks=1,cut=planes);cpu;threads=1;fft=rows(...)           (an fft in 3D)
//   ranks=pencils(grid=2x4,balance=points,chunks=1,cut=planes);cpu;threads=1;...      (types 1 and 2 in 3D)
//   ranks=slabs(chunks=4,cut=planes,exchange=nccl);cuda;fft=plain                     (an fft on GPUs)
//   ranks=pencils(grid=2x4,chunks=1,cut=planes,exchange=nccl);cuda;fft=plain          (in 3D)
//   ranks=slabs(balance=points,chunks=1,cut=planes,exchange=nccl);cuda;window=...    (points on GPUs)
//   ranks=slabs(balance=points,chunks=1,cut=planes,exchange=kernels,kept=grid);cuda;...
//   ranks=slabs(balance=points,chunks=1,cut=planes,exchange=kernels,parts=2);cuda;...
//   ranks=replicated;cpu;threads=1;...
//   ranks=replicated(exchange=nccl);cuda;...                                          (points on GPUs)
//
// The rest of the text is a plan of generator/plan/plan.h. It may be left out: `ranks=slabs` leaves the rest to the
// library, and a text without `ranks=` leaves the decomposition to it. docs/design/distributed.md describes both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan/plan.h"

namespace fourtune::runtime::distributed {

enum class Decomposition {
  replicated,  // points stay where they are, every rank computes on a whole grid, and modes are added up
  slabs,       // the grid is cut along its last dimension, and points move to the rank of their cell
  pencils,     // the grid is cut along its last two dimensions
};

// The ranks as a grid. The planes of an array in space are distributed over `of_planes` groups, and the rows of a plane
// to the `in_plane` consecutive ranks of its group. Slabs are 1 x (number of ranks).
struct RankGrid {
  int in_plane = 1, of_planes = 1;
  int ranks() const { return in_plane * of_planes; }
  int place_in_plane(int rank) const { return rank % in_plane; }
  int place_of_planes(int rank) const { return rank / in_plane; }
  friend bool operator==(const RankGrid&, const RankGrid&) = default;
};
enum class Balance {
  points,  // parts of equal cost, points and cells together
  planes,  // parts of equal numbers of cells
};

// In which pieces the transposition behind the planes travels, so that one piece travels while another is transformed.
enum class Cut {
  planes,   // of a rank's planes: overlaps with the transforms of planes
  columns,  // of a rank's columns: overlaps with the lines along the last dimension
  batch,    // of the transforms that a rank holds at a time: a chunk is sent at once, while the next one is transformed
};
struct Chunks {
  int count = 1;  // 1: nothing overlaps
  Cut cut = Cut::planes;
  friend bool operator==(const Chunks&, const Chunks&) = default;
};
inline constexpr int kMostChunks = 1024, kMostParts = 16;

// What moves data between ranks: the first five with GPUs, `host` and the last one on processors.
enum class RankExchange {
  nccl,  // NVIDIA's library, from GPU to GPU on a stream
  mpi,   // MPI, which is given pointers of the GPUs
  host,  // MPI, from and to host memory, which for GPUs is pinned
  peer,  // the GPU that sends writes into the memory of the other; for ranks of one machine
  // Kernels that transform planes and lines store and load what crosses, in the memory of the other GPUs. The rest,
  // moved points and fetched planes, goes as by peer.
  kernels,
  shared,  // on processors: ranks of one machine work in one array that they share, and nothing is sent
};

// Where planes lie that have been pruned to the kept modes, between their transforms and the lines across them.
enum class Kept {
  apart,  // in memory beside the grid
  grid,   // in the memory of the grid, and nowhere else: kernels load or store what crosses where its plane is
};

struct RankPlan {
  Decomposition decomposition = Decomposition::slabs;
  Balance balance = Balance::points;
  RankGrid grid;  // slabs and pencils
  Chunks chunks;
  RankExchange exchange = RankExchange::host;  // slabs, and pencils and replicated plans on GPUs
  Kept kept = Kept::apart;                     // of types 1 and 2 with RankExchange::kernels
  // Of a slab of types 1 and 2 by peer writes or kernels: values of one part come back while the next is interpolated.
  int parts = 1;
  generator::Plan local;   // slabs and pencils: of every rank, except for its number of threads
  std::string replicated;  // replicated: the plan forced on every rank; empty: each rank chooses
};

// What a text forces.
struct ForcedPlan {
  std::optional<Decomposition> decomposition;
  std::optional<Balance> balance;
  std::optional<RankGrid> grid;
  std::optional<Chunks> chunks;
  std::optional<RankExchange> exchange;
  std::optional<Kept> kept;
  std::optional<int> parts;
  std::string local;  // empty: the library chooses
};
// Throws Error{invalid_plan} that says what is allowed. The local part is not parsed.
ForcedPlan parse_forced(std::string_view text, const Problem& problem);

const char* to_string(RankExchange exchange) noexcept;
// The canonical text; without the plan of a rank where each chooses its own (replicated).
std::string to_text(const RankPlan& plan, const Problem& problem);

// Why this problem cannot be cut into slabs with this local plan; empty: it can.
std::string slabs_fault(const generator::Plan& plan, const Problem& problem);
// Why there are no pencils of this problem on this backend, and why a local plan is none for pencils; empty: it can be.
std::string no_pencils(const Problem& problem, const std::string& backend);
std::string pencils_fault(const generator::Plan& plan, const Problem& problem);
// Whether every row of tiles along a dimension is at least as thick as a window reaches, so that it can be a layer.
bool rows_fit(const generator::Plan& plan, int dimension);
// Gives the plan tiles whose rows fit along a dimension, if there are any.
void fit_rows(generator::Plan& plan, int dimension);
// Gives the plan of a processor tiles whose rows so many ranks share more evenly, if the busiest one then has clearly
// fewer cells.
void even_rows(generator::Plan& plan, int dimension, int ranks);
// All grids of so many ranks, those with few ranks in a plane first.
std::vector<RankGrid> grids_of(int ranks);
std::string to_string(const RankGrid& grid);
// Throws Error{invalid_plan} that lists the grids of so many ranks, unless this is one.
void require_grid(const RankGrid& grid, int ranks);
// The local plan with the families and tiles that slabs need on this device. A layer of tiles, the last one too, is at
// least as thick as a window reaches, so that a cell gets sums of two layers at most.
generator::Plan fit_for_slabs(const generator::Plan& plan, const Problem& problem, const DeviceTraits& device,
                              bool deterministic);

// The plan of slabs with tiles that can be layers along y too, where that is possible: for pencils, and for slabs whose
// bits have to be theirs.
generator::Plan fit_for_pencils(const generator::Plan& plan, const Problem& problem);

// The default chunks of slabs and pencils.
Chunks usual_chunks(const generator::Plan& plan, const Problem& problem, int ranks, RankExchange exchange);

// Why kernels cannot exchange what this plan transforms; empty: they can, where GPUs see each other's memory.
std::string no_kernels(const generator::Plan& local, const Problem& problem, int ranks, Kept kept);
// Why the ranks of a machine cannot share the array in the middle of this problem's slabs with these chunks; empty:
// they can, where they can share memory at all.
std::string no_shared(const Problem& problem, const Chunks& chunks);
// Why the points of this problem's slabs have one part by this exchange; empty: they may have several.
std::string no_parts(const Problem& problem, const std::string& backend, RankExchange exchange, bool deterministic);
// The default parts, where there may be several.
int usual_parts(const Problem& problem, int ranks);

// Whether kernels should exchange, where they can.
bool kernels_pay(const Problem& problem, int ranks);

// Whether slabs should be used where both are possible.
Decomposition choose(const generator::Plan& plan, const Problem& problem, int ranks);

}  // namespace fourtune::runtime::distributed
