// The places of values in shared memory between two rounds. Mixed-radix addresses with padding are found by counting
// the bank conflicts of every candidate; a thread computes one address, and its values lie at constant offsets from it.
// Swizzled addresses (powers of two) need no padding and have no conflicts, but each value costs an exclusive or.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "generator/codegen/at.h"
#include "generator/codegen/fft/emit/pass_memory.h"

namespace fourtune::generator::fft {
namespace {

using Strides = std::vector<std::int64_t>;

// What an access of one round costs: shared-memory passes relative to the minimum, averaged over the first warps. Only
// the banks of the lanes decide, so layouts whose strides agree modulo the number of banks are counted once.
class Conflicts {
 public:
  // `distinct`: lanes have the same address only if they differ in nothing but atoms of stride 0.
  Conflicts(const PassSpec& pass, const Round& round, int word, bool distinct)
      : group_(std::min(128 / word, 32)), words_(word / 4), distinct_(distinct) {
    std::int64_t threads = 1;
    for (const int atom : round.threads) threads *= size_in(pass, round, atom);
    lanes_ = std::min<std::int64_t>({threads, pass.threads, most_lanes});
    std::int64_t done = 1;
    for (const int atom : round.threads) {
      const std::int64_t size = size_in(pass, round, atom);
      if (done < lanes_ && size > 1) axes_.push_back({at(atom), size});
      done *= size;
      // Each of the groups is the first one, moved by a constant.
      if (done == group_ && lanes_ % group_ == 0) lanes_ = group_;
    }
  }

  double of(const Strides& stride) {
    if (!distinct_) return counted(stride);
    std::uint64_t banks = 0;
    for (const Axis& axis : axes_) banks = banks * 32 + static_cast<std::uint64_t>(stride[axis.atom] * words_ % 32);
    const auto [known, first] = known_.try_emplace(banks, 0);
    if (first) known->second = counted(stride);
    return known->second;
  }

 private:
  static constexpr std::int64_t most_lanes = 128;  // so that no more than seven atoms number them
  struct Axis {
    std::size_t atom;
    std::int64_t size;
  };

  double counted(const Strides& stride) const {
    std::array<std::int64_t, most_lanes> address{};  // the first atom varies fastest
    bool shared = !distinct_;                        // whether two lanes may have the same address
    std::int64_t done = 1;
    for (const Axis& axis : axes_) {
      for (std::int64_t lane = done; lane < std::min(lanes_, done * axis.size); ++lane)
        address[at(lane)] = address[at(lane - done)] + stride[axis.atom];
      done *= axis.size;
      shared = shared || stride[axis.atom] == 0;
    }
    std::int64_t passes = 0, groups = 0;
    for (std::int64_t first = 0; first < lanes_; first += group_) {
      std::array<int, 32> load{};
      int most = 0;
      const auto *begin = &address[at(first)], *end = begin + std::min(lanes_ - first, group_);
      for (const auto* value = begin; value != end; ++value)
        if (!shared || std::find(begin, value, *value) == value)
          most = std::max(most, ++load[at(*value * words_ % 32)]);
      passes += most;
      ++groups;
    }
    return groups ? static_cast<double>(passes) / static_cast<double>(groups) : 1;
  }

  std::int64_t group_, words_;  // threads per pass; banks per value
  std::int64_t lanes_ = 1;
  bool distinct_;
  std::vector<Axis> axes_;  // that number the lanes
  std::unordered_map<std::uint64_t, double> known_;
};

struct Candidate {
  Strides stride;
  std::int64_t values = 0;
  double conflicts = 1e9;
  bool better_than(const Candidate& other) const {
    return conflicts < other.conflicts - 1e-9 || (conflicts <= other.conflicts + 1e-9 && values < other.values);
  }
};

// Rounds that write or read a layout.
using Users = std::vector<const Round*>;

// The search for one layout. Every order that is searched has the same atoms.
class Search {
 public:
  Search(const PassSpec& pass, const Users& users, int word) : pass_(pass), users_(static_cast<double>(users.size())) {
    bool distinct = true;  // else a round that has values beyond what the other one cuts may put two at one place
    for (std::size_t i = 0; i < pass.atoms.size(); ++i) {
      size_.push_back(pass.atoms[i].size);
      for (const Round* user : users) size_[i] = std::min(size_[i], size_in(pass, *user, static_cast<int>(i)));
      distinct = distinct && size_[i] == pass.atoms[i].size;
    }
    for (const Round* user : users) conflicts_.emplace_back(pass, *user, word, distinct);
  }

  // Tries no padding, then one padded place, then two, then one more at a time as long as it helps.
  Candidate best_of(const std::vector<int>& order) {
    constexpr std::array<std::int64_t, 7> pads{1, 2, 4, 8, 16, 3, 12};
    std::vector<std::int64_t> pad(order.size(), 0);
    Candidate best, candidate;
    evaluate(best, order, pad, Candidate{}.conflicts);
    std::vector<std::int64_t> best_pad = pad;
    if (pass_.banks == Banks::plain) return best;
    const auto consider = [&] {
      evaluate(candidate, order, pad, best.conflicts);
      if (candidate.better_than(best)) best = candidate, best_pad = pad;
    };
    for (std::size_t i = 0; i + 1 < order.size() && best.conflicts > 1; ++i)
      for (const auto p : pads) pad[i] = p, consider(), pad[i] = 0;
    for (std::size_t i = 0; i + 1 < order.size() && best.conflicts > 1; ++i)
      for (std::size_t k = i + 1; k + 1 < order.size(); ++k)
        for (const auto p : pads)
          for (const auto q : pads) pad[i] = p, pad[k] = q, consider(), pad[i] = pad[k] = 0;
    for (double before = 0; best.conflicts > 1 && before != best.conflicts;) {
      before = best.conflicts;
      const std::vector<std::int64_t> start(best_pad.begin(), best_pad.end());  // `consider` changes best_pad
      for (std::size_t i = 0; i + 1 < order.size(); ++i)
        for (const auto p : pads) pad = start, pad[i] = p, consider();
    }
    return best;
  }

 private:
  // Stops counting when the conflicts exceed `limit`.
  void evaluate(Candidate& out, const std::vector<int>& order, const std::vector<std::int64_t>& pad, double limit) {
    out.conflicts = Candidate{}.conflicts;
    out.stride.assign(pass_.atoms.size(), 0);
    std::int64_t next = 1, last = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::int64_t size = size_[at(order[i])];
      out.stride[at(order[i])] = next;
      last += (size - 1) * next;
      next = next * size + pad[i];
    }
    out.values = last + 1;
    // Heavy padding of a large tile: taking shared memory from other blocks costs more than conflicts do.
    const bool large = out.values > 8192 && out.values > tile_values(pass_) / pass_.cluster * 9 / 8;
    double sum = large ? 100 * users_ : 0, left = users_;
    for (Conflicts& user : conflicts_) {
      if ((sum + left) / users_ > limit + 1e-9) return;
      sum += user.of(out.stride), --left;
    }
    out.conflicts = sum / users_;
  }

  const PassSpec& pass_;
  double users_;
  std::vector<std::int64_t> size_;    // by atom: of the values that every round works on
  std::vector<Conflicts> conflicts_;  // of each round
};

// Whether the same atoms, from lane 32 upwards, number the warps in both rounds; false if an atom straddles that
// border.
bool same_warps(const PassSpec& pass, const Round& from, const Round& to) {
  const auto warp_atoms = [&](const Round& round, std::vector<int>& atoms, std::int64_t& lanes) {
    std::int64_t count = 1;
    for (const int atom : round.threads) {
      if (count >= 32) atoms.push_back(atom);
      count *= pass.atoms[at(atom)].size;
      if (count > 32 && atoms.empty()) return false;
    }
    lanes = count;
    return count <= pass.threads;
  };
  std::vector<int> a, b;
  std::int64_t lanes_a = 1, lanes_b = 1;
  return warp_atoms(from, a, lanes_a) && warp_atoms(to, b, lanes_b) && a == b && lanes_a == lanes_b;
}

bool contains(const std::vector<int>& list, int atom) {
  return std::find(list.begin(), list.end(), atom) != list.end();
}

// Atoms of both rounds in the order of `lists`, without those that choose the reader's block.
std::vector<int> order_of(const std::vector<std::vector<int>>& lists, const Round& to) {
  std::vector<int> order;
  for (const auto& list : lists)
    for (const int atom : list)
      if (!contains(order, atom) && !contains(to.blocks, atom)) order.push_back(atom);
  return order;
}

// Addresses in the writer's order, with one exception: a bit that numbers lanes of the reader toggles, in addition to
// its place, one of the lowest bits that only the writer's lanes have. The lanes of both sides then differ in the
// lowest bits, so no two of them use the same bank.
SharedLayout swizzled(const PassSpec& pass, const Round& from, const Round& to, int word) {
  std::vector<int> order = order_of({from.threads, from.registers, to.threads, to.registers}, to);
  const std::vector<AtomBit> place = bits_of(pass, order), reader = bits_of(pass, to.threads);
  const std::size_t low = std::min<std::size_t>(word == 4 ? 5 : word == 8 ? 4 : 3, place.size());
  const auto lane_of_reader = [&](const AtomBit& bit) {
    const auto end = reader.begin() + static_cast<std::ptrdiff_t>(std::min(low, reader.size()));
    return std::find(reader.begin(), end, bit) != end;
  };
  SharedLayout out;
  out.stride.assign(pass.atoms.size(), 0);
  out.bits.resize(pass.atoms.size());
  std::vector<std::int64_t> free;
  for (std::size_t i = 0; i < low; ++i)
    if (!lane_of_reader(place[i])) free.push_back(std::int64_t{1} << i);
  for (std::size_t i = 0; i < place.size(); ++i) {
    std::int64_t address = std::int64_t{1} << i;
    if (i >= low && lane_of_reader(place[i])) address |= free.back(), free.pop_back();
    auto& bits = out.bits[at(place[i].atom)];
    bits.resize(std::max(bits.size(), at(place[i].bit) + 1));
    bits[at(place[i].bit)] = address;
  }
  out.values = std::int64_t{1} << place.size();
  return out;
}

SharedLayout affine(const PassSpec& pass, const Round& from, const Round& to, int word) {
  const std::vector<std::vector<int>> all{from.threads, to.threads, from.registers, to.registers};
  std::vector<int> write = order_of({from.threads, from.registers, to.threads, to.registers}, to);
  Search search(pass, {&from, &to}, word);
  Candidate best;
  for (const auto& order :
       {write, order_of({to.threads, to.registers, from.threads, from.registers}, to), order_of(all, to)}) {
    const Candidate candidate = search.best_of(order);
    if (candidate.better_than(best)) best = candidate;
    if (best.conflicts <= 1) break;
  }
  std::sort(write.begin(), write.end());
  while (best.conflicts > 1 && write.size() <= 5 && std::next_permutation(write.begin(), write.end())) {
    const Candidate candidate = search.best_of(write);
    if (candidate.better_than(best)) best = candidate;
  }
  return {best.stride, best.values, {}, best.conflicts, false};
}

}  // namespace

SharedLayout resident_layout(const PassSpec& pass, int word) {
  Users users;
  for (const Round& round : pass.rounds) users.push_back(&round);
  Search search(pass, users, word);
  Candidate best;
  for (const Round* round : users) {
    const Candidate candidate = search.best_of(order_of({round->threads, round->registers}, *round));
    if (candidate.better_than(best)) best = candidate;
    if (best.conflicts <= 1) break;
  }
  return {best.stride, best.values, {}, best.conflicts, false};
}

SharedLayout shared_layout(const PassSpec& pass, const Round& from, const Round& to, int word) {
  SharedLayout out = pass.banks == Banks::swizzle ? swizzled(pass, from, to, word) : affine(pass, from, to, word);
  // Threads are numbered by all that they hold.
  const bool numbered = (!pass.paired || &from != pass.rounds.data()) && to.cut < 0;
  out.within_warp = numbered && from.blocks == to.blocks && same_warps(pass, from, to);
  return out;
}

}  // namespace fourtune::generator::fft
