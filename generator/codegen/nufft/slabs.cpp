#include "generator/codegen/nufft/slabs.h"

#include "generator/codegen/nufft/kernels.h"
#include "generator/codegen/nufft/launches.h"
#include "launch_order_text.h"
#include "nufft_device_text.h"
#include "nufft_locate_text.h"
#include "nufft_slabs_text.h"

namespace fourtune::generator::nufft {
namespace {

constexpr std::int64_t kHistogramCells = 8192;  // that shared memory counts; longer dimensions are counted in the array
constexpr std::int64_t kListed = 4;             // points of a thread
// Of kernels that loop. Blocks that follow each other work on neighbouring items: packing alone, for both GPUs and both
// at once, took 1.25e8 values 4.2 ms with 4096 blocks and 2.75 with 32768 (H200, shuffled list). Transforms showed no
// difference.
constexpr std::int64_t kMostBlocks = 32768;
constexpr std::size_t kMostPieces = 64;  // of one launch, whose parameters have 4 KB

KernelSource slab_kernel(const std::string& entry, int pass, const std::string& constants, std::int64_t shared) {
  KernelSource source;
  source.entry = "nufft_" + entry;
  source.text = constants + fmt::format("#define NUFFT_ENTRY {}\n#define NUFFT_PASS {}\n", source.entry, pass) +
                nufft_device_text + launch_order_text + nufft_slabs_text;
  source.block = {256, 1, 1};
  source.shared_bytes = static_cast<std::uint32_t>(shared);
  return source;
}

std::string item_type(Precision precision, bool complex) {
  return std::string(precision == Precision::f32 ? "float" : "double") + (complex ? "2" : "");
}

}  // namespace

void StageKernels::emit_cells(GpuProgram& program, const Arrays& arrays, std::int64_t m, const BufferRef& cells,
                              const BufferRef& counts, const BufferRef& status, const std::array<Map, 3>& map) const {
  const std::int64_t along = shape_.fine[static_cast<std::size_t>(shape_.dim - 1)];
  const auto clear = [&](const BufferRef& at, std::int64_t words, std::int64_t marks) {
    const int kernel = add(program, clear_kernel());
    program.launches.push_back(
        {kernel, {std::min(blocks(words, 256 * 8), 4096u), 1, 1}, {at, words, status, marks}, "locate", 8 * words, 0});
  };
  clear(counts, along, 3);
  if (m == 0) return;
  const bool histogram = along <= kHistogramCells;
  const int at = add(program, kernel("slab_cells", std::string(nufft_locate_text) + nufft_slabs_text,
                                     fmt::format("#define NUFFT_PASS 0\n#define NUFFT_CHECK {}\n#define "
                                                 "NUFFT_HISTOGRAM {}\n",
                                                 parameters_.check ? 1 : 0, histogram ? 1 : 0),
                                     plain_block(256, histogram ? 4 * along : 0), false));
  const ArgumentStruct points{{arrays.points[0], arrays.points[1], arrays.points[2], m}};
  program.launches.push_back({at,
                              {std::min(blocks(m, 2048), static_cast<std::uint32_t>(8 * shape_.multiprocessors)), 1, 1},
                              {points, maps_argument(map), cells, counts, status},
                              "locate",
                              m * (shape_.dim * real_bytes() + 4),
                              0});
}

void emit_list(GpuProgram& program, const BufferRef& cells, const BufferRef& owners, const BufferRef& neighbours,
               const BufferRef& next, const BufferRef& list, std::int64_t m, std::int64_t destinations) {
  if (m == 0) return;
  const std::int64_t shared = destinations * 12;
  if (shared > 48 * 1024)
    throw Error(Status::unsupported, fmt::format("points of a GPU go to {} ranks at most", 48 * 1024 / 24));
  const int at =
      add(program,
          slab_kernel("slab_list", 1,
                      fmt::format("#define NUFFT_DESTINATIONS {}\n#define NUFFT_ITEMS {}\n", destinations, kListed),
                      shared));
  program.launches.push_back(
      {at, {blocks(m, 256 * kListed), 1, 1}, {cells, owners, neighbours, next, list, m}, "move points", m * 8, 0});
}

void emit_packing(GpuProgram& program, const BufferRef& from, const BufferRef& list, const BufferRef& to,
                  std::int64_t n, Precision precision, bool complex, bool packs) {
  if (n == 0) return;
  const std::string item = item_type(precision, complex);
  const int at = add(program, slab_kernel(fmt::format("slab_{}_{}", packs ? "pack" : "unpack", item), packs ? 2 : 3,
                                          fmt::format("typedef {} item;\n", item), 0));
  const std::int64_t bytes = ::fourtune::real_bytes(precision) * (complex ? 2 : 1);
  program.launches.push_back({at,
                              {std::min(blocks(n, 1024), static_cast<std::uint32_t>(kMostBlocks)), 1, 1},
                              {from, list, to, n},
                              "move values",
                              n * (2 * bytes + 4),
                              0});
}

namespace {

struct PiecesKernel {
  const char* name;
  int pass;
  std::int64_t blocks;  // at most; 0: kMostBlocks
};

void emit_pieces(GpuProgram& program, const BufferRef& array, const BufferRef& list,
                 std::span<const ListedPiece> pieces, const PiecesKernel& of, Precision precision, bool complex) {
  const std::int64_t bytes = ::fourtune::real_bytes(precision) * (complex ? 2 : 1);
  for (; !pieces.empty(); pieces = pieces.subspan(std::min(pieces.size(), kMostPieces))) {
    const auto now = pieces.first(std::min(pieces.size(), kMostPieces));
    const std::string item = item_type(precision, complex);
    const int at =
        add(program, slab_kernel(fmt::format("slab_{}{}_{}", of.name, now.size(), item), of.pass,
                                 fmt::format("#define NUFFT_PIECES {}\ntypedef {} item;\n", now.size(), item), 0));
    ArgumentStruct all;
    std::int64_t longest = 1, items = 0;
    for (const ListedPiece& piece : now) {
      all.members.insert(all.members.end(), {piece.at, piece.begin, piece.count});
      longest = std::max(longest, piece.count);
      items += piece.count;
    }
    const auto count = static_cast<std::uint32_t>(now.size());
    const auto most = static_cast<std::uint32_t>(of.blocks > 0 ? of.blocks : kMostBlocks);
    const std::uint32_t each = std::min(blocks(longest, 1024), std::max(1u, most / count));
    program.launches.push_back(
        {at, {each * count, 1, 1}, {array, list, all}, "move values", items * (2 * bytes + 4), 0});
  }
}

}  // namespace

void emit_sending(GpuProgram& program, const BufferRef& from, const BufferRef& list,
                  std::span<const ListedPiece> pieces, Precision precision, bool complex, std::int64_t blocks) {
  emit_pieces(program, from, list, pieces, {"send", 4, blocks}, precision, complex);
}
void emit_fetching(GpuProgram& program, std::span<const ListedPiece> pieces, const BufferRef& list, const BufferRef& to,
                   Precision precision, bool complex, std::int64_t blocks) {
  emit_pieces(program, to, list, pieces, {"fetch", 5, blocks}, precision, complex);
}

}  // namespace fourtune::generator::nufft
