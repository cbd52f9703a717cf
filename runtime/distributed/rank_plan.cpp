#include "runtime/distributed/rank_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "runtime/distributed/transposition_pieces.h"
#include "runtime/slabs/gpu_slab_plan.h"

namespace fourtune::runtime::distributed {
namespace {

constexpr std::string_view kStage = "ranks=";
constexpr int kLargestTile = 256;  // that the gridder takes
constexpr int kMostRanks = 1 << 24;
constexpr int kMostSeen = 8;    // ranks whose planes a kernel finds, by as many comparisons
constexpr int kUsualTile = 16;  // cells along the last dimension (docs/design/cpu-choices.md)

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error(
      Status::invalid_plan,
      fmt::format(
          "'{}': {}; ranks= takes replicated, on GPUs replicated(exchange=nccl|host), slabs with any of "
          "balance=points|planes (not for an fft), chunks=1..{}, cut=planes|columns|batch, on processors "
          "exchange=host|shared, and on GPUs exchange=nccl|mpi|host|peer|kernels, parts=1..{} (by peer or kernels, of points) "
          "and kept=apart|grid (by kernels, not for an fft), or pencils with any of "
          "grid=AxB, balance (not for an fft), chunks and cut, and on GPUs exchange=nccl|mpi|host|peer",
          text::shown(std::string(text)), why, kMostChunks, kMostParts));
}

constexpr std::array kCuts{"planes", "columns", "batch"};
constexpr std::array kExchanges{"nccl", "mpi", "host", "peer", "kernels", "shared"};
constexpr std::array kKept{"apart", "grid"};

// The enumerator of this name; the names are in the order of the enumerators.
template <class Enum, std::size_t N>
Enum named(const std::array<const char*, N>& names, std::string_view value, std::string_view family, const char* why) {
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) refuse(family, why);
  return static_cast<Enum>(found - names.begin());
}

int count_from(std::string_view value, int most, std::string_view family, std::string_view key) {
  int count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error != std::errc() || end != value.data() + value.size() || count < 1 || count > most)
    refuse(family, fmt::format("{} is no such number", key));
  return count;
}

// AxB, both at least 1.
RankGrid grid_from(std::string_view value, std::string_view family) {
  RankGrid grid;
  const char* const end = value.data() + value.size();
  const auto first = std::from_chars(value.data(), end, grid.in_plane);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x') refuse(family, "grid is no AxB");
  const auto second = std::from_chars(first.ptr + 1, end, grid.of_planes);
  if (second.ec != std::errc() || second.ptr != end) refuse(family, "grid is no AxB");
  if (grid.in_plane < 1 || grid.of_planes < 1 || grid.in_plane > kMostRanks / grid.of_planes)
    refuse(family, fmt::format("a grid has 1 to {} ranks", kMostRanks));
  return grid;
}

// The argument of `replicated(...)`.
void parse_replicated(std::string_view argument, std::string_view family, ForcedPlan& forced) {
  constexpr std::string_view kKey = "exchange=";
  if (!argument.starts_with(kKey)) refuse(family, "it takes an exchange alone");
  forced.exchange = named<RankExchange>(kExchanges, argument.substr(kKey.size()), family, "there is no such exchange");
  if (forced.exchange == RankExchange::mpi) refuse(family, "MPI adds up arrays of the host");
  if (forced.exchange == RankExchange::peer || forced.exchange == RankExchange::kernels)
    refuse(family, "nothing adds up in the memory of another GPU");
  if (forced.exchange == RankExchange::shared) refuse(family, "ranks on processors add up by MPI");
}

// The arguments of `slabs(...)` and `pencils(...)`, each once and in any order.
void parse_split(std::string_view arguments, std::string_view family, ForcedPlan& forced) {
  const bool slabs = forced.decomposition == Decomposition::slabs;
  Chunks chunks;
  std::string seen;
  while (!arguments.empty()) {
    const std::size_t end = std::min(arguments.find(','), arguments.size());
    const std::string_view pair = arguments.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view key = pair.substr(0, equals), value = pair.substr(std::min(equals + 1, pair.size()));
    if (seen.find(fmt::format(",{},", key)) != std::string::npos) refuse(family, fmt::format("{} is twice", key));
    seen += fmt::format(",{},", key);
    if (key == "grid" && !slabs) {
      forced.grid = grid_from(value, family);
    } else if (key == "balance" && (value == "points" || value == "planes")) {
      forced.balance = value == "points" ? Balance::points : Balance::planes;
    } else if (key == "chunks") {
      chunks.count = count_from(value, kMostChunks, family, key);
    } else if (key == "cut") {
      chunks.cut = named<Cut>(kCuts, value, family, "there is no such cut");
    } else if (key == "exchange") {
      forced.exchange = named<RankExchange>(kExchanges, value, family, "there is no such exchange");
    } else if (key == "parts" && slabs) {
      forced.parts = count_from(value, kMostParts, family, key);
    } else if (key == "kept" && slabs) {
      forced.kept = named<Kept>(kKept, value, family, "there is no such place for kept planes");
    } else {
      refuse(family, fmt::format("'{}' is unknown", text::shown(std::string(pair))));
    }
    if (end + 1 == arguments.size()) refuse(family, "it ends with a comma");
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
  }
  // One chunk of a transform is the whole of it, however it is cut.
  if (chunks.count == 1 && chunks.cut == Cut::columns) chunks.cut = Cut::planes;
  if (seen.find(",c") != std::string::npos) forced.chunks = chunks;  // chunks or cut
  if (forced.kept == Kept::grid && !forced.exchange) forced.exchange = RankExchange::kernels;
  if (forced.kept == Kept::grid && forced.exchange != RankExchange::kernels)
    refuse(family, "kept=grid is for exchange=kernels, as others move planes to where they do not overwrite a grid");
  if (!slabs && (forced.exchange == RankExchange::kernels || forced.exchange == RankExchange::shared))
    refuse(family, "slabs alone have arrays that several ranks work in");
  if (forced.exchange == RankExchange::kernels && forced.chunks && *forced.chunks != Chunks{})
    refuse(family, "kernels exchange whole arrays, in one chunk");
  if (forced.exchange == RankExchange::shared && chunks.count > 1 && chunks.cut != Cut::batch)
    refuse(family, "nothing travels where ranks share the array; take one chunk, or cut=batch");
}

// Whether tiles of `side` cells leave no layer thinner than `least`.
bool tiles_fit(std::int64_t cells, std::int64_t side, std::int64_t least) {
  return side >= least && (cells % side == 0 || cells % side >= least) && (side <= cells);
}

std::int64_t least_layer(const generator::Plan& plan) { return std::max(1, plan.window.width - 1); }

}  // namespace

ForcedPlan parse_forced(std::string_view text, const Problem& problem) {
  ForcedPlan forced;
  if (!text.starts_with(kStage)) {
    forced.local = text;
    return forced;
  }
  const std::size_t end = std::min(text.find(';'), text.size());
  const std::string_view family = text.substr(kStage.size(), end - kStage.size());
  forced.local = end < text.size() ? text.substr(end + 1) : std::string_view();
  if (family == "replicated") {
    forced.decomposition = Decomposition::replicated;
    return forced;
  }
  if (family.starts_with("replicated(") && family.ends_with(')')) {
    forced.decomposition = Decomposition::replicated;
    parse_replicated(family.substr(11, family.size() - 12), family, forced);
    return forced;
  }
  const std::string_view name = family.substr(0, family.find('('));
  if (name != "slabs" && name != "pencils") refuse(family, "there is no such decomposition");
  forced.decomposition = name == "slabs" ? Decomposition::slabs : Decomposition::pencils;
  if (family == name) return forced;
  if (!family.ends_with(')') || family.size() < name.size() + 3) refuse(family, "its brackets hold nothing");
  parse_split(family.substr(name.size() + 1, family.size() - name.size() - 2), family, forced);
  if (forced.balance && problem.kind == Kind::fft) refuse(family, "an fft has no points to balance");
  if (forced.kept && problem.kind == Kind::fft) refuse(family, "an fft has no fine grid to keep planes in");
  if (forced.parts && problem.kind == Kind::fft) refuse(family, "an fft has no points that parts would have");
  return forced;
}

const char* to_string(RankExchange exchange) noexcept { return kExchanges[static_cast<std::size_t>(exchange)]; }

std::string to_text(const RankPlan& plan, const Problem& problem) {
  if (plan.decomposition == Decomposition::replicated)
    return std::string("ranks=replicated") + (plan.exchange == RankExchange::nccl ? "(exchange=nccl)" : "") +
           (plan.replicated.empty() ? "" : ";" + plan.replicated);
  const std::string chunks =
      fmt::format("chunks={},cut={}", plan.chunks.count, kCuts[static_cast<std::size_t>(plan.chunks.cut)]);
  const std::string_view balance = problem.kind == Kind::fft         ? ""
                                   : plan.balance == Balance::points ? "balance=points,"
                                                                     : "balance=planes,";
  const std::string exchange =
      generator::is_gpu(plan.local.backend)
          ? fmt::format(",exchange={}{}{}", to_string(plan.exchange), plan.kept == Kept::grid ? ",kept=grid" : "",
                        plan.parts > 1 ? fmt::format(",parts={}", plan.parts) : "")
      : plan.exchange == RankExchange::shared ? std::string(",exchange=shared")
                                              : std::string();
  const std::string grid =
      plan.decomposition == Decomposition::pencils ? fmt::format("pencils(grid={},", to_string(plan.grid)) : "slabs(";
  return fmt::format("ranks={}{}{}{});{}", grid, balance, chunks, exchange, generator::to_text(plan.local, problem));
}

std::string slabs_fault(const generator::Plan& plan, const Problem& problem) {
  if (generator::is_gpu(plan.backend)) {
    if (problem.kind != Kind::fft) return gpu_slabs_fault(plan, problem);
    if (plan.gpu().fft.family == generator::GpuFftFamily::interleaved)
      return "fft: slabs on a GPU take fft=plain or fft=cufft for planes and lines";
    return {};
  }
  if (problem.kind == Kind::fft) return {};
  const generator::CpuStages& stages = plan.cpu();
  if (stages.sort.family != generator::SortFamily::tiles || !stages.sort.copy)
    return "slabs need sort=tiles(...,copy=1)";
  if (stages.spread.family != generator::SpreadFamily::subgrid) return "slabs need spread=subgrid";
  if (problem.type == 3)  // its grids follow from the points, and their tiles with them
    return plan.type3 == generator::Type3Rule::compose ? "" : "slabs of a type 3 need type3=compose";
  const int last = problem.dim - 1;
  const std::int64_t least = least_layer(plan), cells = plan.window.fine[last], side = stages.sort.tile[last];
  if (cells < least) return fmt::format("{} cells along the last dimension are fewer than a window reaches", cells);
  if (!rows_fit(plan, last))
    return fmt::format("tiles of {} cells along the last dimension leave a layer thinner than {} of {} cells", side,
                       least, cells);
  return {};
}

std::string no_pencils(const Problem& problem, const std::string& backend) {
  if (problem.kind == Kind::nufft && problem.type == 3) return "a type 3 is cut by ranks=slabs";
  if (problem.dim != 3) return "a problem in 2D has one dimension to cut; ranks=slabs does that";
  if (problem.kind == Kind::nufft && generator::is_gpu(backend))
    return "GPUs compute types 1 and 2 by slabs; take ranks=slabs";
  return {};
}

std::string pencils_fault(const generator::Plan& plan, const Problem& problem) {
  if (problem.kind == Kind::fft && generator::is_gpu(plan.backend))
    return plan.gpu().fft.family == generator::GpuFftFamily::plain ? "" : "pencils on a GPU take fft=plain";
  if (problem.kind == Kind::fft)
    return plan.cpu().fft.family == generator::FftFamily::rows ? "" : "the rows of a plane are transformed by fft=rows";
  if (std::string fault = slabs_fault(plan, problem); !fault.empty()) return fault;
  if (rows_fit(plan, 1)) return {};
  return fmt::format("tiles of {} cells along y, of which there are {}, leave a layer thinner than {} cells",
                     plan.cpu().sort.tile[1], plan.window.fine[1], least_layer(plan));
}

bool rows_fit(const generator::Plan& plan, int dimension) {
  const std::int64_t cells = plan.window.fine[dimension];
  return tiles_fit(cells, std::min<std::int64_t>(plan.cpu().sort.tile[dimension], cells), least_layer(plan));
}

std::vector<RankGrid> grids_of(int ranks) {
  std::vector<RankGrid> grids;
  for (int in_plane = 1; in_plane <= ranks; ++in_plane)
    if (ranks % in_plane == 0) grids.push_back({in_plane, ranks / in_plane});
  return grids;
}

std::string to_string(const RankGrid& grid) { return fmt::format("{}x{}", grid.in_plane, grid.of_planes); }

void require_grid(const RankGrid& grid, int ranks) {
  if (grid.ranks() == ranks) return;
  std::string all;
  for (const RankGrid& one : grids_of(ranks)) all += (all.empty() ? "" : ", ") + to_string(one);
  throw Error(Status::invalid_plan,
              fmt::format("ranks=pencils: grid={} has {} ranks, and there are {}; grids of {}: {}", to_string(grid),
                          grid.ranks(), ranks, ranks, all));
}

void fit_rows(generator::Plan& plan, int dimension) {
  int& tile = plan.cpu().sort.tile[dimension];
  const std::int64_t least = least_layer(plan), cells = plan.window.fine[dimension];
  // The plan's tile, else a power of two (points are located faster), else the first that fits.
  std::vector<std::int64_t> sides{tile, kUsualTile, 2 * kUsualTile, 4 * kUsualTile, kUsualTile / 2};
  for (std::int64_t side = least; side <= kLargestTile; ++side) sides.push_back(side);
  const auto found = std::find_if(sides.begin(), sides.end(),
                                  [&](std::int64_t side) { return tiles_fit(cells, std::min(side, cells), least); });
  if (found != sides.end()) tile = static_cast<int>(*found);
}

// 15 rows are 8 and 7 on two ranks; 16 rows that are a little thinner are 8 and 8. Points are located in less time
// where a side is a power of two, so one is kept for a small gain.
void even_rows(generator::Plan& plan, int dimension, int ranks) {
  constexpr double kGain = 1.04;
  if (!rows_fit(plan, dimension)) return;
  int& tile = plan.cpu().sort.tile[dimension];
  const std::int64_t least = least_layer(plan), cells = plan.window.fine[dimension],
                     usual = std::min<std::int64_t>(tile, cells);
  const auto of_busiest = [&](std::int64_t side) {
    const std::int64_t rows = (cells + side - 1) / side;
    return std::min((rows + ranks - 1) / ranks * side, cells);
  };
  std::int64_t best = usual;
  for (std::int64_t more = 1; more <= usual / 4; ++more)
    for (const std::int64_t side : {usual - more, usual + more})
      if (side <= kLargestTile && tiles_fit(cells, side, least) && of_busiest(side) < of_busiest(best)) best = side;
  if (static_cast<double>(of_busiest(usual)) > kGain * static_cast<double>(of_busiest(best)))
    tile = static_cast<int>(best);
}

generator::Plan fit_for_slabs(const generator::Plan& plan, const Problem& problem, const DeviceTraits& device,
                              bool deterministic) {
  if (problem.kind == Kind::fft) return plan;
  if (generator::is_gpu(plan.backend)) return fit_for_gpu_slabs(plan, problem, device, deterministic);
  generator::Plan fitted = plan;
  generator::CpuStages& stages = fitted.cpu();
  stages.sort.family = generator::SortFamily::tiles;
  stages.sort.copy = true;
  // The order inside a tile may depend on how many points there are on this rank; sums would too.
  if (deterministic) stages.sort.local = false;
  stages.spread.family = generator::SpreadFamily::subgrid;
  if (deterministic) stages.spread.add = generator::AddRule::colour;
  fit_rows(fitted, problem.dim - 1);
  return fitted;
}

generator::Plan fit_for_pencils(const generator::Plan& plan, const Problem& problem) {
  generator::Plan fitted = plan;
  if (problem.kind == Kind::nufft && problem.dim == 3) fit_rows(fitted, 1);
  return fitted;
}

// A message should be some 128 kB: small transforms of a batch travel together, those of a group while the next group
// is transformed. 200 FFTs of 64 x 64 took 7 ms one by one, and 1 to 2 ms by groups (two ranks of one machine).
Chunks usual_chunks(const generator::Plan& plan, const Problem& problem, int ranks, RankExchange exchange) {
  if (exchange == RankExchange::kernels) return {};
  constexpr double kMessage = 131072, kLarge = 1 << 28, kLeastPeer = 1 << 23, kPeerChunk = 1 << 24;
  if (problem.kind == Kind::nufft && problem.type == 3) return {};  // its grids follow from the points
  const double at_a_time = static_cast<double>(
      problem.kind == Kind::fft ? problem.batch : std::clamp<std::int64_t>(plan.chunk, 1, problem.batch));
  const double bytes = 2.0 * static_cast<double>(real_bytes(problem.precision) * mode_count(problem)) /
                       (static_cast<double>(ranks) * ranks);
  // On two H100 linked by NVLink, an fft of 1024^3 in f32 took 17.1 ms in four pieces and 17.8 to 20.3 in one, two,
  // eight and sixteen, before arrays were joined; pieces of small messages are not worth their launches.
  if (generator::is_gpu(plan.backend) && ranks > 1 && exchange != RankExchange::peer && bytes > kLarge)
    return {4, Cut::planes};
  // Peers write without kernels, so a chunk costs a few words between the hosts. On two H200, 512^3 in f32 took 1.53,
  // 1.15 and 1.12 ms in 1, 8 and 16 chunks, and 256^3 took 0.22, 0.19 and 0.23 in 1, 2 and 16.
  if (generator::is_gpu(plan.backend) && ranks > 1 && exchange == RankExchange::peer && bytes > kLeastPeer)
    return {static_cast<int>(std::clamp(bytes / kPeerChunk, 2.0, 16.0)), Cut::planes};
  if (ranks == 1 || at_a_time < 2 || bytes > kMessage / 2) return {};
  return {static_cast<int>(std::clamp(std::ceil(at_a_time * bytes / kMessage), 1.0, 1.0 * kMostChunks)), Cut::batch};
}

std::string no_kernels(const generator::Plan& local, const Problem& problem, int ranks, Kept kept) {
  if (problem.kind == Kind::nufft && problem.type == 3) return "the grids of a type 3 are copied between GPUs";
  if (kept == Kept::apart && ranks > kMostJoined)
    return fmt::format("{} ranks: at most {} hold arrays of whole planes", ranks, kMostJoined);
  if (ranks > kMostSeen) return fmt::format("{} ranks: a kernel finds the planes of {} at most", ranks, kMostSeen);
  if (problem.dim != 3) return "planes of 2D are single lines";
  if (problem.kind != Kind::fft) return {};
  if (local.gpu().fft.family == generator::GpuFftFamily::cufft) return "cuFFT stores into one array";
  for (int d = 0; d < problem.dim; ++d)
    if (problem.n[d] < 2 || !generator::fft::has_codelets(problem.n[d]))
      return fmt::format("length {} is 1 or has a prime factor above 61", problem.n[d]);
  return {};
}

std::string no_shared(const Problem& problem, const Chunks& chunks) {
  if (problem.kind == Kind::nufft && problem.type == 3) return "the grids of a type 3 are exchanged by MPI";
  if (chunks.count > 1 && chunks.cut != Cut::batch) return "nothing travels that chunks would overlap with";
  return {};
}

std::string no_parts(const Problem& problem, const std::string& backend, RankExchange exchange, bool deterministic) {
  if (!generator::is_gpu(backend)) return "processors sort the points of a slab at once";
  if (problem.type == 3) return "a type 3 has few points for its grids";
  if (deterministic) return "deterministic sums of a slab have one unit";
  if (exchange != RankExchange::peer && exchange != RankExchange::kernels)
    return "by messages values come back at once";
  return {};
}

// Values of 2.5e8 points of a rank took 3.9 ms to come back, after interpolation of 32 ms (two H100).
int usual_parts(const Problem& problem, int ranks) {
  constexpr double kMany = 1 << 25;  // points of a rank
  const bool many = static_cast<double>(problem.m.value_or(0)) > kMany * ranks;
  return problem.type == 2 && ranks > 1 && many ? 2 : 1;
}

bool kernels_pay(const Problem& problem, int ranks) {
  constexpr double kLeast = 1 << 23;  // bytes of a message
  return 2.0 * static_cast<double>(real_bytes(problem.precision) * mode_count(problem)) /
             (static_cast<double>(ranks) * ranks) >
         kLeast;
}

namespace {

// Replicated: every rank has all points of the shorter side, and a whole grid, of which nothing is known before the
// points. Slabs: every point's value moves. So a type 3 with one short side is replicated. On processors a cell of a
// window that is repeated takes two operations or so, and a value that moves 60 with its phase: two ranks of an AMD
// EPYC took 0.6 to 0.7 of the replicated time with equal sides, and as long with a tenth of the points on one side.
// GPUs have no choice for arrays in their memory, and by the host these would take longer.
Decomposition choose_type3(const generator::Plan& plan, const Problem& problem, int ranks) {
  if (generator::is_gpu(plan.backend)) return Decomposition::slabs;
  const auto m = static_cast<double>(problem.m.value_or(0)), k = static_cast<double>(problem.k.value_or(0));
  const double repeated = 2 * std::pow(plan.window.width, problem.dim) * std::min(m, k) * (1 - 1.0 / ranks);
  const double moved = 60 * (m + k) / ranks;
  return repeated < moved ? Decomposition::replicated : Decomposition::slabs;
}

}  // namespace

Decomposition choose(const generator::Plan& plan, const Problem& problem, int ranks) {
  if (problem.kind == Kind::fft) return Decomposition::slabs;
  if (ranks == 1 || !slabs_fault(plan, problem).empty()) return Decomposition::replicated;
  if (problem.type == 3) return choose_type3(plan, problem, ranks);
  // Replicated: every rank transforms the whole grid. Slabs: every point's value moves. So grids with few cells per
  // point are replicated. A cell costs some 3 log2(cells) operations on the ranks that repeat it (12 ns of a grid of
  // 192^3 on two ranks of an Intel server); packing a point's value, two copies by MPI and unpacking cost some 40 (4 to
  // 11 ns).
  double cells = 1;
  for (int d = 0; d < problem.dim; ++d) cells *= static_cast<double>(plan.window.fine[d]);
  if (generator::is_gpu(plan.backend)) {
    // In ps: a cell passes four times through memory on ranks that repeat it, and a mode crosses to its rank (by the
    // speeds of an H100's memory and of NVLink); a value is packed, crosses and is read where it arrives (3.0 ms for
    // 2.5e8 of each of two H200).
    const double repeated = 13 * cells + 23 * static_cast<double>(mode_count(problem));
    const double moved = 13 * static_cast<double>(problem.m.value_or(0)) / ranks;
    return repeated < moved ? Decomposition::replicated : Decomposition::slabs;
  }
  const double repeated = 3 * std::log2(std::max(cells, 2.0)) * cells * (1 - 1.0 / ranks);
  const double moved = 40 * static_cast<double>(problem.m.value_or(0)) / ranks;
  return repeated < moved ? Decomposition::replicated : Decomposition::slabs;
}

}  // namespace fourtune::runtime::distributed
