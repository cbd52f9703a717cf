// Turns a PassSpec into the text of one kernel: the parts of the kernel in order.
#include <algorithm>

#include "fourtune/status.h"
#include "generator/codegen/fft/emit/pass_writer.h"

namespace fourtune::generator::fft {

PassText PassWriter::run(bool text) {
  PassText out;
  out.entry = fmt::format("ft_{}_{}", pass_.name, pass_.precision == Precision::f32 ? "f32" : "f64");
  entry_ = out.entry;
  if (text) write_kernel();
  out.text = text_;
  out.shared_bytes = static_cast<std::uint32_t>(memory_.bytes);
  out.codelets.assign(codelets_.begin(), codelets_.end());
  for (const auto& layout : memory_.layouts) out.conflicts = std::max(out.conflicts, layout.conflicts);
  return out;
}

void PassWriter::write_signature() {
  line("// {}", pass_.title);
  std::string parameters =
      fmt::format("const {}* __restrict__ in, {}* __restrict__ out", value_type(pass_.load), value_type(pass_.store));
  for (std::size_t i = 0; i < pass_.tables.size(); ++i)
    parameters += fmt::format(", const real2* __restrict__ turns{}", i);
  for (int i = 0; i < pass_.extra_tables; ++i)
    parameters += fmt::format(", const {}* __restrict__ table{}", table_is_complex(i) ? "real2" : "real", i);
  if (pass_.load.ranks || pass_.store.ranks) parameters += ", const long long* __restrict__ ranks";
  line("extern \"C\" __global__ void __launch_bounds__({}, {}) {}({}) {{", pass_.threads,
       pass_.blocks_per_multiprocessor, entry_, parameters);
}

void PassWriter::write_kernel() {
  const std::int64_t count = most_registers(pass_);
  if (pass_.load_by == Load::bulk) write_bulk_fetch();
  if (pass_.load_by == Load::async) write_async_fetch();
  if (pass_.load.ranks) write_rank_function("from", pass_.load);
  if (pass_.store.ranks) write_rank_function("to", pass_.store);
  write_signature();
  indent_ = 2;
  line("const unsigned t = threadIdx.x;");
  line("dev_follow();");
  if (memory_.bytes) line("FT_SHARED({}, shared);", pass_.apart ? "real" : "real2");
  line("real x[{}], y[{}];", count, count);
  if (pass_.load_by == Load::bulk) {
    write_bulk_loop();
  } else if (pass_.load_by == Load::async) {
    write_async_loop();
  } else {
    if (pass_.cluster > 1) {
      line("const unsigned rank = dev_cluster_rank();");
      line("const unsigned tile = blockIdx.x / {};", pass_.cluster);
      line("dev_cluster_arrive();");
    } else {
      // With a single tile, nothing depends on its number.
      line("{}const unsigned tile = blockIdx.x;", tile_count(pass_) == 1 ? "[[maybe_unused]] " : "");
    }
    write_port_pointer("from", "in", pass_.load, true);
    const Round& round = pass_.rounds.front();
    if (pass_.paired)
      write_paired_loads();
    else if (!pass_.resident)
      for_groups(round, [&](std::int64_t group, std::int64_t first) { load_group(round, group, first); });
    if (pass_.folds_inside) write_folding();
  }
  pass_.resident ? write_resident_rounds() : write_rounds();
  if (landed()) {
    indent_ = 2;
    line("}}");
  }
  indent_ = 0;
  line("}}");
}

void PassWriter::write_rounds() {
  for (std::size_t r = 0; r < pass_.rounds.size(); ++r) {
    line("// ---- round {} of {}", r + 1, pass_.rounds.size());
    write_transforms(pass_.rounds[r]);
    if (r + 1 < pass_.rounds.size()) write_exchange(r);
  }
  write_port_pointer("to", "out", pass_.store, false);
  const Round& round = pass_.rounds.back();
  if (pass_.store.values == Values::unfolded) {
    if (shared_read_) line("__syncthreads();");
    for_groups(round, [&](std::int64_t group, std::int64_t first) { put_for_unfolding(round, group, first); });
    line("__syncthreads();");
  }
  for_groups(round, [&](std::int64_t group, std::int64_t first) { store_group(round, group, first); });
}

// In each round, the same thread reads a place and then writes it, so one barrier after each round is enough.
void PassWriter::write_resident_rounds() {
  write_port_pointer("to", "out", pass_.store, false);
  const bool unfolds = pass_.store.values == Values::unfolded;
  for (std::size_t r = 0; r < pass_.rounds.size(); ++r) {
    const Round& round = pass_.rounds[r];
    const bool last = r + 1 == pass_.rounds.size();
    if (r > 0) line("__syncthreads();");
    line("// ---- round {} of {}", r + 1, pass_.rounds.size());
    for_groups(round, [&](std::int64_t group, std::int64_t first) {
      // Separate braces for the names of the loads, of the DFTs and of the stores.
      line("{{"), r == 0 ? load_group(round, group, first) : get_group(memory_.layouts[0], round, group, first, '2'),
          line("}}");
      transform_group(round, group, first);
      line("{{");
      if (last && unfolds)
        put_for_unfolding(round, group, first);
      else
        last ? store_group(round, group, first) : put_group(memory_.layouts[0], round, group, first, '2', nullptr);
      line("}}");
    });
  }
  if (!unfolds) return;
  line("__syncthreads();");
  const Round& round = pass_.rounds.back();
  for_groups(round, [&](std::int64_t group, std::int64_t first) {
    line("{{"), get_group(memory_.layouts[0], round, group, first, '2'), line("}}");
    unfold_group(round, group, first);
  });
}

bool PassWriter::table_is_complex(int table) const {
  bool complex = false;
  const auto look = [&](const std::vector<Factor>& factors) {
    for (const auto& factor : factors) complex = complex || (factor.table == table && factor.complex);
  };
  look(pass_.load.factors), look(pass_.store.factors);
  for (const Round& round : pass_.rounds)
    for (const Transform& transform : round.transforms) look(transform.before);
  return complex;
}

std::int64_t groups_of(const PassSpec& pass, const Round& round) {
  std::int64_t needed = 1;
  for (const int atom : round.threads) needed *= size_in(pass, round, atom);
  const auto shares = [&](std::int64_t count) { return (count + pass.threads - 1) / pass.threads; };
  return pass.paired && &round == pass.rounds.data() ? 2 * shares(needed / 2) : shares(needed);
}

std::int64_t tile_count(const PassSpec& pass) {
  std::int64_t count = 1;
  for (const Atom& atom : pass.atoms)
    if (!atom.in_tile) count *= atom.size;
  return count;
}

std::int64_t tile_values(const PassSpec& pass) {
  std::int64_t count = 1;
  for (const Atom& atom : pass.atoms)
    if (atom.in_tile) count *= atom.size;
  return count;
}

PassText emit_pass(const PassSpec& pass, bool text) {
  if (const std::string why = broken_rule(pass); !why.empty()) throw Error(Status::invalid_plan, why);
  return PassWriter(pass).run(text);
}

}  // namespace fourtune::generator::fft
