// The kernels of Bluestein's algorithm. A line of m values has digits a_0, a_1, ... with radices r_0, r_1, ...:
// position j = sum a_i in_i with in_i = m / (r_0 .. r_i), frequency k = sum a_i done_i with done_i = r_0 .. r_(i-1).
// Between kernels, a transformed digit lies at its place in k, below the digits that are not yet transformed: place =
// k_first * m_second + rest.
#include <fmt/format.h>

#include <algorithm>

#include "fourtune/status.h"
#include "generator/codegen/at.h"
#include "generator/codegen/fft/any_length/bluestein.h"
#include "generator/codegen/fft/lower/arrange.h"
#include "generator/codegen/fft/lower/tables.h"

namespace fourtune::generator::fft {
namespace {

using Complex = std::complex<long double>;

// Adjacent lines: `n` of them at constant distances in all arrays.
struct Beside {
  std::int64_t n = 1, load = 0, store = 0, between = 0;
};
// The nearest lines first; dimensions that continue each other are merged.
std::vector<Beside> beside(const Lines& lines, int d) {
  std::vector<Beside> out;
  for (int other = 0; other <= batch_axis; ++other) {
    if (other == d || lines.n[at(other)] == 1) continue;
    const Beside next{lines.n[at(other)], lines.load[at(other)], lines.store[at(other)], 0};
    if (!out.empty() && next.load == out.back().n * out.back().load && next.store == out.back().n * out.back().store)
      out.back().n *= next.n;
    else
      out.push_back(next);
  }
  return out;
}

enum class Role { all, first, middle, last };

class Convolver {
 public:
  Convolver(const EmitOptions& options, int d, const Lines& lines, const ConvolutionShape& shape)
      : options_(options), d_(d), lines_(lines), shape_(shape), beside_(beside(lines, d)), n_(lines.n[at(d)]) {
    radices_ = shape.first;
    radices_.insert(radices_.end(), shape.second.begin(), shape.second.end());
    for (const int r : radices_) done_.push_back(m_), m_ *= r;
    std::int64_t left = m_;
    for (const int r : radices_) left /= r, in_.push_back(left);
    if (m_ != shape.length || m_ < 2 * n_ - 1)
      throw Error(Status::invalid_plan, fmt::format("a convolution of length {} for {} values", m_, n_));
    second_ = shape.second.empty() ? 1 : in_[shape.first.size() - 1];
    // Between kernels, lines are stored as in the arrays: one after the other, or the nearest ones interleaved.
    contiguous_ = convolution_arrays(lines, d, options.precision).contiguous;
    stride_ = contiguous_ ? 1 : beside_.front().n;
    std::int64_t size = contiguous_ ? m_ : 1;
    for (Beside& one : beside_) {
      one.between = size, size *= one.n;
      if (!contiguous_ && &one == &beside_.front()) size *= m_;
    }
    work_values_ = size;
  }

  Convolution run() {
    Convolution out;
    if (shape_.second.empty()) {
      out.passes.push_back(pass(Role::all));
      return out;
    }
    for (const Role part : {Role::first, Role::middle, Role::last}) out.passes.push_back(pass(part));
    out.work_values = work_values_;
    return out;
  }

 private:
  bool loads_input(Role part) const { return part == Role::all || part == Role::first; }
  bool stores_output(Role part) const { return part == Role::all || part == Role::last; }

  PlannedPass pass(Role part) {
    PlannedPass out;
    PassSpec& spec = out.spec;
    begin_ = part == Role::middle ? shape_.first.size() : 0;
    end_ = part == Role::middle ? radices_.size() : shape_.first.size();
    const ConvolutionShape::Tile& tile = part == Role::middle ? shape_.middle : shape_.ends;
    constexpr const char* names[] = {"", "_first", "_middle", "_last"};
    spec.precision = options_.precision, spec.sign = options_.sign, spec.twiddles = Twiddles::computed;
    spec.name =
        fmt::format("bluestein{}{}{}{}", n_, "xyzw"[d_], options_.sign < 0 ? "f" : "b", names[static_cast<int>(part)]);
    spec.title = fmt::format("DFTs of {} values along {} by convolutions of length {}", n_, "xyzw"[d_], m_);
    add_atoms(spec, tile.along);
    std::vector<Dft> transforms;
    if (part != Role::last) forward(transforms);
    if (part != Role::first) {
      const std::size_t from = transforms.size();
      backward(transforms);
      if (part != Role::last) {
        transforms[from].before = {Factor{filter_index(), spec.extra_tables++, true}};
        out.tables.push_back(filter_table());
      }
    }
    finish_ports(out, part);
    add_twiddle_tables(out, transforms);
    add_lines(spec, part, tile.lines);
    finish(spec, part, tile);
    assert_arranged(spec, transforms);
    return out;
  }

  void finish(PassSpec& spec, Role part, const ConvolutionShape::Tile& tile) const {
    std::int64_t others = 1, last = 0;
    for (const Beside& one : beside_) {
      others *= one.n;
      last += (one.n - 1) * std::max({one.load, one.store, shape_.second.empty() ? 0 : one.between});
    }
    last += std::max(n_ * std::max(lines_.load[at(d_)], lines_.store[at(d_)]),
                     shape_.second.empty() ? 0 : (m_ - 1) * stride_);
    const std::int64_t loaded = lines_.loaded == Values::hermitian ? n_ / 2 + 1
                                : lines_.loaded == Values::folded  ? n_ + 1
                                                                   : n_;
    const std::int64_t stored = lines_.stored == Values::unfolded ? n_ + 1 : lines_.kept;
    spec.loaded = others * (loads_input(part) ? loaded : m_);
    spec.stored = others * (stores_output(part) ? stored : m_);
    spec.wide = last > 0x7fffffff;
    spec.threads = tile.threads, spec.blocks_per_multiprocessor = tile.blocks;
    spec.resident = tile.resident;
    spec.apart = !tile.resident && tile_values(spec) > 4096;
  }

  // ---- atoms: the digits that the kernel transforms, then the other digits as one number
  void add_atoms(PassSpec& spec, std::int64_t along) {
    digit_.assign(radices_.size(), -1);
    for (std::size_t i = begin_; i < end_; ++i) {
      digit_[i] = static_cast<int>(spec.atoms.size());
      spec.atoms.push_back({fmt::format("k{}", i), radices_[i], true});
    }
    rest_.clear();
    const std::int64_t others = begin_ > 0 ? m_ / second_ : second_;
    if (along > 1)
      rest_.push_back({static_cast<int>(spec.atoms.size()), 1}), spec.atoms.push_back({"near", along, true});
    if (others / along > 1) {
      rest_.push_back({static_cast<int>(spec.atoms.size()), along});
      spec.atoms.push_back({"rest", others / along, false});
    }
  }
  void add_rest(Index& index, std::int64_t weight) const {
    for (const IndexTerm& term : rest_) index.push_back({term.atom, term.weight * weight});
  }
  // The position j, for the kernels that transform the first digits.
  Index position() const {
    Index index;
    for (std::size_t i = begin_; i < end_; ++i) index.push_back({digit_[i], in_[i]});
    add_rest(index, 1);
    return index;
  }
  // The place of a value between kernels.
  Index place() const {
    Index index;
    for (std::size_t i = begin_; i < end_; ++i) index.push_back({digit_[i], begin_ > 0 ? in_[i] : done_[i] * second_});
    add_rest(index, begin_ > 0 ? second_ : 1);
    return index;
  }

  // ---- transforms
  void forward(std::vector<Dft>& transforms) const {
    for (std::size_t i = begin_; i < end_; ++i) {
      Dft t;
      t.sign = -1, t.digits = {digit_[i]};
      if (i + 1 < radices_.size()) t.period = in_[i] * radices_[i];
      for (std::size_t later = i + 1; later < end_; ++later) t.index.push_back({digit_[later], in_[later]});
      if (begin_ == 0) add_rest(t.index, 1);
      transforms.push_back(t);
    }
  }
  void backward(std::vector<Dft>& transforms) const {
    for (std::size_t i = end_; i-- > begin_;) {
      Dft t;
      t.sign = 1, t.digits = {digit_[i]};
      if (i > 0) t.period = done_[i] * radices_[i];
      for (std::size_t earlier = begin_; earlier < i; ++earlier) t.index.push_back({digit_[earlier], done_[earlier]});
      if (begin_ > 0) add_rest(t.index, 1);
      transforms.push_back(t);
    }
  }

  // ---- the filter, in the order in which the threads of the last forward round hold its frequencies
  Index filter_index() const {
    Index index;
    const std::int64_t last = radices_.back(), own = begin_ > 0 ? second_ : m_;
    for (std::size_t i = begin_; i + 1 < end_; ++i) index.push_back({digit_[i], in_[i] / last});
    index.push_back({digit_[end_ - 1], own / last});
    if (begin_ > 0) add_rest(index, own);
    return index;
  }
  std::vector<std::byte> filter_table() const {
    if (!options_.tables) return zero_table(m_, options_.precision);
    const std::vector<Complex> natural = filter(n_, m_, options_.sign);
    std::vector<Complex> table;
    table.reserve(natural.size());
    const std::int64_t before = begin_ > 0 ? m_ / second_ : 1;
    for (std::int64_t first = 0; first < before; ++first)
      for (std::int64_t last = 0; last < radices_.back(); ++last)
        for (std::int64_t q = 0; q < m_ / before / radices_.back(); ++q) {
          std::int64_t k = first + last * done_.back();
          for (std::size_t i = begin_; i + 1 < end_; ++i) k += q / (in_[i] / radices_.back()) % radices_[i] * done_[i];
          table.push_back(natural[at(k)]);
        }
    return complex_table(table, options_.precision);
  }

  // A division and a sine and cosine for each DFT took a third of the operations in f64: 307 values x 26058 202 us on
  // an H200, 154 with first factors from tables, in f32 x 54648 180 and 162; all factors from tables 222. A power of
  // two divides exactly, and there tables are slower (127 values as 256: 110 and 144 us). Tables of both signs lie
  // before the other ones.
  void add_twiddle_tables(PlannedPass& out, std::vector<Dft>& transforms) const {
    if (!shape_.second.empty() || is_power_of_two(m_)) return;
    out.spec.twiddles = Twiddles::powers;
    out.spec.tables = {m_, m_};
    for (Dft& transform : transforms)
      transform.table = is_power_of_two(transform.period) ? -1 : transform.sign < 0 ? 0 : 1;
    for (const int sign : {1, -1})
      out.tables.insert(out.tables.begin(), options_.tables ? unit_table(m_, sign, options_.precision)
                                                            : zero_table(m_, options_.precision));
  }
  static bool is_power_of_two(std::int64_t n) { return (n & (n - 1)) == 0; }

  // ---- ports
  std::vector<std::byte> turns(const std::vector<double>& factors) const {
    if (!options_.tables) return zero_table(m_, options_.precision);
    std::vector<Complex> values = chirps(n_, options_.sign);
    for (std::size_t i = 0; i < factors.size(); ++i) values[i] *= static_cast<long double>(factors[i]);
    values.resize(at(m_));
    return complex_table(values, options_.precision);
  }
  void finish_ports(PlannedPass& out, Role part) {
    const DimensionHooks& hooks = options_.hooks[at(d_)];
    PassSpec& spec = out.spec;
    for (Port* port : {&spec.load, &spec.store}) {
      const bool loads = port == &spec.load, outside = loads ? loads_input(part) : stores_output(part);
      if (!outside) {
        for (const IndexTerm& term : place()) port->address.push_back({term.atom, term.weight * stride_});
        continue;
      }
      const std::int64_t stride = (loads ? lines_.load : lines_.store)[at(d_)];
      port->values = loads ? lines_.loaded : lines_.stored;
      port->pair = lines_.pair;
      if (port->values == Values::hermitian)
        port->mirror = {Pruning::Kind::head, position(), n_, n_ / 2 + 1, stride};
      else if (mirrors(*port))
        port->mirror = {Pruning::Kind::head, position(), n_, n_ + 1, stride};
      else
        for (const auto& term : position()) port->address.push_back({term.atom, term.weight * stride});
      port->bounds.push_back({position(), loads ? n_ : lines_.kept});
      std::vector<std::byte> table = turns(loads ? hooks.input_factors : hooks.output_factors);
      const auto known = std::find(out.tables.begin(), out.tables.end(), table);
      port->factors.push_back({position(), static_cast<int>(known - out.tables.begin()), true});
      if (known == out.tables.end()) out.tables.push_back(std::move(table)), ++spec.extra_tables;
    }
  }
  void add_lines(PassSpec& spec, Role part, std::int64_t tile) const {
    if (contiguous_) add_rest_to_grid(spec);
    for (const Beside& one : beside_) {
      const std::int64_t in = &one == &beside_.front() ? std::min(tile, one.n) : 1;
      const auto add = [&](std::int64_t size, std::int64_t weight, bool in_tile) {
        const int atom = static_cast<int>(spec.atoms.size());
        spec.atoms.push_back({fmt::format("line{}", atom), size, in_tile});
        spec.load.address.push_back({atom, (loads_input(part) ? one.load : one.between) * weight});
        spec.store.address.push_back({atom, (stores_output(part) ? one.store : one.between) * weight});
        if (!in_tile) spec.grid_order.push_back(atom);
        return atom;
      };
      Index index;
      if (in > 1) index.push_back({add(in, 1, true), 1});
      index.push_back({add((one.n + in - 1) / in, in, false), in});
      if (one.n % in) spec.load.bounds.push_back({index, one.n}), spec.store.bounds.push_back({index, one.n});
      if (&one == &beside_.front() && !contiguous_) add_rest_to_grid(spec);
    }
  }
  void add_rest_to_grid(PassSpec& spec) const {
    if (!rest_.empty() && !spec.atoms[at(rest_.back().atom)].in_tile) spec.grid_order.push_back(rest_.back().atom);
  }

  const EmitOptions& options_;
  int d_;
  const Lines& lines_;
  const ConvolutionShape& shape_;
  std::vector<Beside> beside_;
  std::int64_t n_, m_ = 1, second_ = 1, stride_ = 1, work_values_ = 0;
  bool contiguous_ = false;
  std::vector<int> radices_;
  std::vector<std::int64_t> in_, done_;
  // State of the kernel under construction: its digits and their atoms; the other digits as one number.
  std::size_t begin_ = 0, end_ = 0;
  std::vector<int> digit_;
  Index rest_;
};

}  // namespace

ConvolutionArrays convolution_arrays(const Lines& lines, int d, Precision precision) {
  ConvolutionArrays out;
  out.precision = precision;
  const std::vector<Beside> others = beside(lines, d);
  out.contiguous = others.empty() || lines.load[at(d)] < others.front().load;
  for (const Beside& one : others) (&one == &others.front() ? out.neighbours : out.others) *= one.n;
  return out;
}

Convolution convolution(const EmitOptions& options, int d, const Lines& lines, const ConvolutionShape& shape) {
  return Convolver(options, d, lines, shape).run();
}

}  // namespace fourtune::generator::fft
