// Converts the numbers of tile, thread and register to offsets.
#include "generator/codegen/fft/emit/index_text.h"
#include "generator/codegen/fft/emit/pass_writer.h"

namespace fourtune::generator::fft {

std::int64_t PassWriter::product(const std::vector<int>& atoms) const {
  std::int64_t p = 1;
  for (const int atom : atoms) p *= size(atom);
  return p;
}

std::int64_t PassWriter::threads_needed(const Round& round) const {
  std::int64_t needed = 1;
  for (const int atom : round.threads) needed *= size_in(pass_, round, atom);
  return needed;
}

std::string PassWriter::grid_text(const Index& index, bool wide) const {
  std::vector<Piece> pieces;
  std::int64_t divisor = 1;
  for (const int atom : pass_.grid_order) {
    pieces.push_back({divisor, size(atom), weight_of(index, atom)});
    divisor *= size(atom);
  }
  return pieces_text(pieces, "tile", divisor, wide);
}

std::string PassWriter::thread_text(const Index& index, const Round& round, std::int64_t group, bool wide) const {
  std::vector<Piece> pieces;
  std::int64_t divisor = 1;
  for (const int atom : round.threads) {
    pieces.push_back({divisor, size_in(pass_, round, atom), weight_of(index, atom)});
    divisor *= size_in(pass_, round, atom);
  }
  std::vector<Piece> block_pieces;
  std::int64_t block_divisor = 1;
  for (const int atom : round.blocks) {
    block_pieces.push_back({block_divisor, size(atom), weight_of(index, atom)});
    block_divisor *= size(atom);
  }
  const std::string by_block = pieces_text(block_pieces, "rank", block_divisor, wide);
  const bool below = groups(round) == 1 || pairs(round);  // what a thread's number is below
  const std::string by_thread = pieces_text(pieces, thread_number(round, group),
                                            below ? divisor : std::max(divisor, groups(round) * pass_.threads), wide);
  return by_thread.empty() ? by_block : by_block.empty() ? by_thread : by_thread + " + " + by_block;
}

std::string PassWriter::sum_text(const std::string& a, const std::string& b) {
  if (a.empty()) return b.empty() ? "0" : b;
  return b.empty() ? a : a + " + " + b;
}

std::int64_t PassWriter::register_part(const Index& index, const Round& round, std::int64_t e) const {
  std::int64_t value = 0;
  for (const int atom : round.registers) {
    value += e % size(atom) * weight_of(index, atom);
    e /= size(atom);
  }
  return value;
}

Index PassWriter::layout_index(const std::vector<std::int64_t>& stride) {
  Index index;
  for (std::size_t i = 0; i < stride.size(); ++i)
    if (stride[i]) index.push_back({static_cast<int>(i), stride[i]});
  return index;
}

Index PassWriter::block_index(const Round& round) const {
  Index index;
  std::int64_t weight = 1;
  for (const int atom : round.blocks) index.push_back({atom, weight}), weight *= size(atom);
  return index;
}

std::string PassWriter::plus(const std::string& base, std::int64_t constant) {
  return constant == 0 ? base : fmt::format("{} + {}", base, number_text(constant));
}

std::string PassWriter::thread_number(const Round& round, std::int64_t group) const {
  if (pairs(round)) return fmt::format("d{}", group);
  return groups(round) == 1 || group == 0 ? "t" : fmt::format("(t + {})", group * pass_.threads);
}

}  // namespace fourtune::generator::fft
