// Tiles copied ahead of time: persistent blocks iterate over tiles, and while a block processes one tile, the next ones
// arrive in landing buffers. Bulk copies transfer whole runs of a tile, with one mbarrier per buffer. With cp.async,
// each thread copies the values that it will hold itself, so only that thread must wait for them.
#include <algorithm>

#include "fourtune/status.h"
#include "generator/codegen/fft/emit/index_text.h"
#include "generator/codegen/fft/emit/pass_writer.h"

namespace fourtune::generator::fft {

void PassWriter::write_bulk_fetch() {
  const Landing land = landing_of(pass_);
  line("// Starts the copies of one tile: {} runs of {} values, by the threads of a warp.", land.rows, land.run);
  line(
      "FT_DEVICE void {}_fetch(const real2* __restrict__ in, real2* landing, unsigned long long* arrived, unsigned "
      "tile, "
      "unsigned lane) {{",
      entry_);
  indent_ = 2;
  write_port_pointer("from", "in", pass_.load, true);
  line("if (lane == 0) dev_mbarrier_expect(arrived, {});", tile_values(pass_) * 2 * real_size());
  line("__syncwarp();");
  std::vector<Piece> pieces;
  std::int64_t divisor = 1;
  for (std::size_t i = land.run_atoms; i < land.order.size(); ++i) {
    pieces.push_back({divisor, size(land.order[i]), weight_of(pass_.load.address, land.order[i])});
    divisor *= size(land.order[i]);
  }
  const std::string row = pieces_text(pieces, "row", divisor, pass_.wide);
  line("for (unsigned row = lane; row < {}; row += 32)", land.rows);
  line("  dev_bulk_load(landing + row * {}, from + ({}), {}, arrived);", land.run, row.empty() ? "0" : row,
       land.run * 2 * real_size());
  indent_ = 0;
  line("}}");
}

// Statement after the use of a landing buffer: advances to the next one.
void PassWriter::write_next_slot() {
  if (pass_.pipeline == 1) {
    if (pass_.load_by == Load::bulk) line("parity ^= 1;");
  } else if (pass_.load_by == Load::bulk) {
    line("if (++slot == {}) slot = 0, parity ^= 1;", pass_.pipeline);
  } else {
    line("if (++slot == {}) slot = 0;", pass_.pipeline);
  }
}

void PassWriter::write_bulk_loop() {
  const int depth = pass_.pipeline;
  const std::int64_t tiles = tile_count(pass_), values = tile_values(pass_);
  const std::string slot = depth > 1 ? fmt::format(" + slot * {}", values) : "", turn = depth > 1 ? " + slot" : "";
  line("real2* const landing = reinterpret_cast<real2*>(reinterpret_cast<char*>(shared) + {});",
       memory_.landing_offset);
  line("unsigned long long* const arrived = reinterpret_cast<unsigned long long*>(landing + {});", values * depth);
  line("unsigned parity = 0;");
  if (depth > 1) line("unsigned slot = 0;");
  line("if (t < {}) dev_mbarrier_init(arrived{});", depth, depth > 1 ? " + t" : "");
  line("__syncthreads();");
  for (int s = 0; s < depth; ++s) {
    const std::string tile = s == 0 ? "blockIdx.x" : fmt::format("blockIdx.x + {} * gridDim.x", s);
    line("if (t < 32 && {} < {}) {}_fetch(in, landing{}, arrived{}, {}, t);", tile, tiles, entry_,
         s ? fmt::format(" + {}", s * values) : "", s ? fmt::format(" + {}", s) : "", tile);
  }
  line("for (unsigned tile = blockIdx.x; tile < {}; tile += gridDim.x) {{", tiles);
  indent_ += 2;
  line("dev_mbarrier_wait(arrived{}, parity);", turn);
  const Index index = layout_index(landing_of(pass_).stride);
  const Round& round = pass_.rounds.front();
  for_groups(round, [&](std::int64_t group, std::int64_t first) {
    Access access;
    define_factors(access, pass_.load, round, group);
    line("const real2* p = landing{} + ({});", slot, sum_text(thread_text(index, round, group), ""));
    for (std::int64_t e = 0; e < product(round.registers); ++e)
      line("{{ const real2 v = p[{}]; x[{}] = v.x; y[{}] = v.y; }}", register_part(index, round, e), first + e,
           first + e);
    write_loaded(access, round, first);
  });
  line("__syncthreads();");
  const std::string next = depth > 1 ? fmt::format("tile + {} * gridDim.x", depth) : "tile + gridDim.x";
  line("if (t < 32 && {} < {}) {{", next, tiles);
  line("  dev_fence_bulk();");
  line("  {}_fetch(in, landing{}, arrived{}, {}, t);", entry_, slot, turn, next);
  line("}}");
  write_next_slot();
}

void PassWriter::write_async_fetch() {
  const Round& round = pass_.rounds.front();
  const Port& port = pass_.load;
  line("// Starts the copies of this thread's values of one tile; what is not in the array is 0.");
  line("FT_DEVICE void {}_fetch(const {}* __restrict__ in, {}* landing, unsigned tile, unsigned t) {{", entry_,
       value_type(port), value_type(port));
  indent_ = 2;
  line("if (tile < {}) {{", tile_count(pass_));
  indent_ = 4;
  write_port_pointer("from", "in", port, true);
  for_groups(round, [&](std::int64_t group, std::int64_t first) {
    const Access access = begin_access(port, round, group, "from");
    for (std::int64_t e = 0; e < product(round.registers); ++e) {
      const auto [condition, value] = element(port, access, round, e);
      const std::string target = fmt::format("landing[{}]", (first + e) * pass_.threads);
      const std::string copy = fmt::format("dev_async_load(&{}, &{});", target, value);
      if (condition.empty())
        line("{}", copy);
      else
        line("if ({}) {} else {} = {};", condition, copy, target, port.values == Values::real ? "0" : "ft_make(0, 0)");
    }
  });
  indent_ = 2;
  line("}}");
  line("dev_async_commit();");
  indent_ = 0;
  line("}}");
}

void PassWriter::write_async_loop() {
  const int depth = pass_.pipeline;
  const Round& round = pass_.rounds.front();
  const Port& port = pass_.load;
  const std::int64_t values = most_registers(pass_) * pass_.threads;
  const std::string slot = depth > 1 ? fmt::format(" + slot * {}", values) : "";
  line("{0}* const landing = reinterpret_cast<{0}*>(reinterpret_cast<char*>(shared) + {1}) + t;", value_type(port),
       memory_.landing_offset);
  if (depth > 1) line("unsigned slot = 0;");
  for (int s = 0; s < depth; ++s)
    line("{}_fetch(in, landing{}, blockIdx.x{}, t);", entry_, s ? fmt::format(" + {}", s * values) : "",
         s ? fmt::format(" + {} * gridDim.x", s) : "");
  line("for (unsigned tile = blockIdx.x; tile < {}; tile += gridDim.x) {{", tile_count(pass_));
  indent_ += 2;
  line("dev_async_wait<{}>();", depth - 1);
  for_groups(round, [&](std::int64_t group, std::int64_t first) {
    Access access = begin_access(port, round, group, nullptr);
    define_factors(access, port, round, group);
    line("const {}* p = landing{};", value_type(port), slot);
    for (std::int64_t e = 0; e < product(round.registers); ++e) {
      const std::int64_t i = first + e, offset = i * pass_.threads;
      if (port.values == Values::real)
        line("x[{0}] = p[{1}]; y[{0}] = 0;", i, offset);
      else
        line("{{ const real2 v = p[{0}]; x[{1}] = v.x; y[{1}] = v.y; }}", offset, i);
    }
    write_loaded(access, round, first);
  });
  line("{}_fetch(in, landing{}, tile + {} * gridDim.x, t);", entry_, slot, depth);
  write_next_slot();
  shared_read_ = true;  // the previous tile's values
}

}  // namespace fourtune::generator::fft
