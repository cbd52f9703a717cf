// Writes the text of one kernel; private to emit_pass. Each source file has one part: emit_pass.cpp (the kernel as a
// whole), emit_index.cpp (offsets from the numbers of tile and thread), emit_ports.cpp (global memory),
// emit_landing.cpp (copies ahead of time), emit_rounds.cpp (DFTs, twiddle factors), emit_exchange.cpp (shared memory),
// emit_shuffle.cpp (inside warps), emit_halves.cpp (half spectra).
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator/codegen/at.h"
#include "generator/codegen/fft/emit/emit_pass.h"
#include "generator/codegen/fft/emit/pass_memory.h"

namespace fourtune::generator::fft {

class PassWriter {
 public:
  explicit PassWriter(const PassSpec& pass) : pass_(pass), memory_(pass_memory(pass)) {}
  PassText run();

 private:
  // ---- sizes
  std::int64_t size(int atom) const { return pass_.atoms[at(atom)].size; }
  std::int64_t product(const std::vector<int>& atoms) const;
  std::int64_t threads_needed(const Round& round) const;
  // Groups of `registers` values that one thread holds.
  std::int64_t groups(const Round& round) const { return groups_of(pass_, round); }
  // Whether a thread makes opposite DFTs (PassSpec::paired).
  bool pairs(const Round& round) const { return pass_.paired && &round == pass_.rounds.data(); }
  int real_size() const { return pass_.precision == Precision::f32 ? 4 : 8; }
  bool shuffled() const { return pass_.exchange == Exchange::shuffle; }
  bool landed() const { return pass_.load_by != Load::plain; }

  // ---- offsets: the contributions of the grid's atoms and of a thread's atoms to an index; "" if there are none
  std::string grid_text(const Index& index, bool wide = false) const;
  std::string thread_text(const Index& index, const Round& round, std::int64_t group, bool wide = false) const;
  std::string thread_number(const Round& round, std::int64_t group) const;
  static std::string sum_text(const std::string& a, const std::string& b);
  static std::string plus(const std::string& base, std::int64_t constant);
  // Contribution of register number e of a group.
  std::int64_t register_part(const Index& index, const Round& round, std::int64_t e) const;
  static Index layout_index(const std::vector<std::int64_t>& stride);
  Index block_index(const Round& round) const;  // the block that holds a value in this round

  // ---- text
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += std::string(at(indent_), ' ') + fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }
  // Writes `body` for every group of values of a thread, in braces, with a guard if some threads have no values. The
  // second argument of body is the group's first register.
  template <class Body>
  void for_groups(const Round& round, Body body) {
    const std::int64_t in_turn = pairs(round) ? 2 : 1;  // groups of the same thread number
    const std::int64_t needed = threads_needed(round) / in_turn, count = groups(round);
    for (std::int64_t g = 0; g < count; ++g) {
      const std::int64_t before = g / in_turn * pass_.threads;
      const bool guard = before + pass_.threads > needed;
      line("{}{{", guard ? fmt::format("if ({} < {}) ", plus("t", before), needed) : "");
      indent_ += 2;
      body(g, pass_.resident ? 0 : g * product(round.registers));
      indent_ -= 2;
      line("}}");
    }
  }
  std::string value_type(const Port& port) const { return in_reals(port) ? "real" : "real2"; }
  void write_kernel();
  void write_rounds();
  void write_resident_rounds();
  void write_signature();
  bool table_is_complex(int table) const;

  // ---- global memory
  // Names that a port's guards and positions need; then the condition ("" if always true) and the element for each
  // value.
  struct Access {
    std::vector<std::string> bound, pruning, factor, turned;
    std::string base, mirror;
  };
  void write_rank_function(const char* side, const Port& port);
  void write_port_pointer(const char* name, const char* base, const Port& port, bool load);
  Access begin_access(const Port& port, const Round& round, std::int64_t group, const char* pointer);
  void define_factors(Access& access, const Port& port, const Round& round, std::int64_t group);
  std::pair<std::string, std::string> element(const Port& port, const Access& access, const Round& round,
                                              std::int64_t e) const;
  // The largest contribution of grid and threads to a value's index, and whether a bound excludes register e regardless
  // of that contribution.
  std::int64_t most_elsewhere(const Index& index, const Round& round) const;
  bool never_there(const Port& port, const Round& round, std::int64_t e) const;
  void write_factors(const std::vector<Factor>& factors, const std::vector<std::string>& names, const Round& round,
                     std::int64_t e, std::int64_t i);
  void write_scale(const Port& port, std::int64_t i);
  void load_group(const Round& round, std::int64_t group, std::int64_t first);
  void write_loaded(const Access& access, const Round& round, std::int64_t first);
  void store_group(const Round& round, std::int64_t group, std::int64_t first);
  std::string stored(std::int64_t i) const;
  // A load from a place, and the statement that stores a value there, in the caches that the pass asks for.
  std::string load_text(const std::string& place) const;
  std::string store_text(const std::string& place, const std::string& value) const;

  // ---- real lines as complex ones of half the length (Values::pairs, folded, unfolded)
  bool pairs_at_once(const Port& port, const Round& round) const;
  std::string load_pair_text(const std::string& place, const Round& round, std::int64_t i) const;
  std::string store_pair_text(const std::string& place, const Round& round, std::int64_t i) const;
  std::string half_turn_text(const Port& port, const std::string& position) const;
  std::string half_turn_text(const Port& port, std::int64_t steps) const;
  std::string load_halves_text(const Access& access, const Round& round, std::int64_t e, std::int64_t i) const;
  // A thread's results are put where its block reads the opposite ones: before the last barrier and after it.
  void put_for_unfolding(const Round& round, std::int64_t group, std::int64_t first);
  void unfold_group(const Round& round, std::int64_t group, std::int64_t first);
  // Of half spectra (Values::folded) every value is loaded once.
  bool loads_once() const { return pass_.folds_inside || pass_.paired; }
  // The other way round (PassSpec::folds_inside): value n of each line goes there as it is loaded, then the others do.
  void begin_half_values(const Access& access);
  std::string half_value_text(const Round& round, std::int64_t e) const;
  void load_ends(const Access& access, const Round& round, std::int64_t group);
  void fold_group(const Round& round, std::int64_t group, std::int64_t first);
  void write_folding();
  // Opposite DFTs of a thread (PassSpec::paired): value n of each line is held apart.
  void write_paired_loads();
  void load_end(const Access& access, const Round& round, std::int64_t pair);
  void fold_pair(const Round& round, std::int64_t pair);
  void fold_opposite(std::int64_t one, std::int64_t other, std::int64_t steps);
  static Index beside(const SharedLayout& layout, const Pruning& halved);
  std::string opposite_text(const SharedLayout& layout, const std::string& position) const;

  // ---- landing buffers
  void write_bulk_fetch();
  void write_async_fetch();
  void write_bulk_loop();
  void write_async_loop();
  void write_next_slot();

  // ---- DFTs
  void write_transforms(const Round& round);
  void transform_group(const Round& round, std::int64_t group, std::int64_t first);
  void write_products(const Round& round, const std::vector<Factor>& factors, std::int64_t group, std::int64_t first);
  void write_transform(const Round& round, const Dft& transform, std::int64_t group, std::int64_t first);
  static Index digit_index(const Dft& transform);
  void write_twiddles(const Round& round, const Dft& transform, std::int64_t group, std::int64_t first,
                      std::int64_t radix, std::int64_t step, const std::vector<std::int64_t>& starts, int sign);
  std::string twiddle_text(const Dft& transform, std::int64_t k, std::int64_t scale, int sign) const;

  // ---- exchange
  void write_exchange(std::size_t r);
  void write_part(std::size_t r, char part, bool cross, const char* barrier);
  void put_group(const SharedLayout& layout, const Round& round, std::int64_t group, std::int64_t first, char part,
                 const Round* across);
  void get_group(const SharedLayout& layout, const Round& round, std::int64_t group, std::int64_t first, char part);
  void conjugate(const Round& round, std::int64_t e, std::int64_t first, char part);
  // Writes a statement that defines the thread's place in the exchange buffer, and returns the element of register e
  // there.
  void write_place(const SharedLayout& layout, const Round& round, std::int64_t group, bool read, char part);
  std::string place_text(const SharedLayout& layout, const Round& round, std::int64_t group) const;
  std::string shared_element(const SharedLayout& layout, const Round& round, std::int64_t group, std::int64_t e,
                             const std::string& pointer) const;
  void write_shuffle(std::size_t r);

  const PassSpec& pass_;
  std::string entry_, text_;
  int indent_ = 0;
  const PassMemory memory_;
  bool shared_read_ = false;  // some thread may still be reading from the exchange buffer
  std::set<int> codelets_;
};

}  // namespace fourtune::generator::fft
