#include "generator/codegen/fft/lower/arrange.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "fourtune/status.h"
#include "generator/codegen/at.h"

namespace fourtune::generator::fft {
namespace {

bool contains(const std::vector<int>& list, int atom) {
  return std::find(list.begin(), list.end(), atom) != list.end();
}

class Arranger {
 public:
  Arranger(PassSpec& pass, std::vector<Dft> transforms) : pass_(pass), transforms_(std::move(transforms)) {}

  std::string run() {
    const std::int64_t values = tile_values(pass_);
    per_thread_ = std::max<std::int64_t>(1, values / pass_.threads / pass_.cluster);
    const bool even = values % (pass_.threads * pass_.cluster) == 0 && !pass_.resident;
    if (!even && pass_.cluster > 1)
      return bad_cluster(
          fmt::format("the tile's {} values are no multiple of its {} blocks of {} threads; other threads", values,
                      pass_.cluster, pass_.threads));
    if (even) split_all();
    for (std::size_t i = 0; i < transforms_.size();) {
      Round round;
      std::int64_t used = 0;
      while (i < transforms_.size()) {
        const bool there = contains(round.registers, transforms_[i].digits.front());
        const std::int64_t radix = there ? 1 : product(transforms_[i].digits);
        if (used && !there && (!even || used * radix > per_thread_)) break;
        used = (used ? used : 1) * radix;
        if (!there)
          round.registers.insert(round.registers.end(), transforms_[i].digits.begin(), transforms_[i].digits.end());
        round.transforms.push_back(transforms_[i++]);
      }
      pass_.rounds.push_back(round);
    }
    transforms_.clear();  // the rounds contain them now
    if (pass_.rounds.empty()) pass_.rounds.emplace_back();
    if (!pass_.resident) add_rounds(even);
    if (pass_.cluster > 1)
      if (std::string refusal = choose_blocks(); !refusal.empty()) return refusal;
    for (std::size_t r = 0; r < pass_.rounds.size(); ++r) fill(r, even);
    join();
    leave_out();
    return {};
  }

 private:
  std::int64_t size(int atom) const { return pass_.atoms[at(atom)].size; }
  std::int64_t product(const std::vector<int>& atoms) const {
    std::int64_t p = 1;
    for (const int atom : atoms) p *= size(atom);
    return p;
  }

  // ---- splitting ----
  void for_indices(const std::function<void(Index&)>& use) {
    for (Port* port : {&pass_.load, &pass_.store}) {
      use(port->address), use(port->mirror.index);
      for (auto& pruning : port->prunings) use(pruning.index);
      for (auto& turned : port->turned) use(turned.index);
      for (auto& factor : port->factors) use(factor.index);
      for (auto& bound : port->bounds) use(bound.index);
    }
    const auto use_transform = [&](Dft& transform) {
      use(transform.index);
      for (auto& factor : transform.before) use(factor.index);
    };
    for (auto& transform : transforms_) use_transform(transform);
    for (auto& round : pass_.rounds)
      for (auto& transform : round.transforms) use_transform(transform);
  }
  // Splits the factor `low` off the atom; the rest becomes a new atom above it.
  void split(int atom, std::int64_t low) {
    const int high = static_cast<int>(pass_.atoms.size());
    Atom upper = pass_.atoms[at(atom)];
    upper.size /= low;
    pass_.atoms[at(atom)].size = low;
    pass_.atoms.push_back(upper);
    for_indices([&](Index& index) {
      if (const std::int64_t weight = weight_of(index, atom)) index.push_back({high, weight * low});
    });
    for (auto& transform : transforms_) {
      const auto it = std::find(transform.digits.begin(), transform.digits.end(), atom);
      if (it != transform.digits.end()) transform.digits.insert(it + 1, high);
    }
  }
  void split_all() {
    for (std::size_t i = 0; i < pass_.atoms.size(); ++i) {
      if (!pass_.atoms[i].in_tile) continue;
      for (std::int64_t p = 2; p < pass_.atoms[i].size; ++p)
        if (pass_.atoms[i].size % p == 0) {
          split(static_cast<int>(i), p);
          break;
        }
    }
  }

  // ---- rounds without transforms, for neighbours in memory ----
  // Whether one thread would hold the tile's nearest neighbours of a port.
  bool holds_neighbours(const Round& round, const Index& address) const {
    int nearest = -1;
    for (std::size_t i = 0; i < pass_.atoms.size(); ++i) {
      const int atom = static_cast<int>(i);
      if (pass_.atoms[i].in_tile && pass_.atoms[i].size > 1 &&
          (nearest < 0 || weight_of(address, atom) < weight_of(address, nearest)))
        nearest = atom;
    }
    return contains(round.registers, nearest);
  }
  void add_rounds(bool even) {
    using Coalesced = PassSpec::Coalesced;
    auto& rounds = pass_.rounds;
    const auto wanted = [&](Coalesced how, const Round& round, const Index& address) {
      return how == Coalesced::always || (how == Coalesced::where_held && even && holds_neighbours(round, address));
    };
    const bool before = wanted(pass_.coalesced_load, rounds.front(), pass_.load.address);
    const bool behind = wanted(pass_.coalesced_store, rounds.back(), pass_.store.address);
    if (before) rounds.emplace(rounds.begin());
    if (behind) rounds.emplace_back();
  }

  // ---- clusters ----
  std::string bad_cluster(const std::string& what) const {
    return fmt::format("rule cluster: {}: cluster={}: {}", pass_.title, pass_.cluster, what);
  }
  // Values move to other blocks between the first two rounds. An atom that the second round needs in registers is
  // distributed over the blocks in the first round; in exchange, an atom that the first round has in registers is
  // distributed over the blocks from then on.
  std::string choose_blocks() {
    if (pass_.rounds.size() < 2)
      return bad_cluster(
          "values cross its blocks between two rounds, and a thread's registers hold all at once; more threads");
    const auto later = [&](int atom, std::size_t from) {
      for (std::size_t r = from; r < pass_.rounds.size(); ++r)
        if (contains(pass_.rounds[r].registers, atom)) return true;
      return false;
    };
    const auto pick = [&](const std::vector<int>& candidates, const Index& address, const auto& allowed) {
      std::vector<int> sorted = candidates, picked;
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](int a, int b) { return weight_of(address, a) > weight_of(address, b); });
      for (const int atom : sorted)
        if (allowed(atom) && pass_.cluster % (product(picked) * size(atom)) == 0) picked.push_back(atom);
      return picked;
    };
    first_blocks_ = pick(pass_.rounds[1].registers, pass_.load.address, [](int) { return true; });
    later_blocks_ = pick(pass_.rounds[0].registers, pass_.store.address, [&](int atom) { return !later(atom, 1); });
    if (product(first_blocks_) != pass_.cluster || product(later_blocks_) != pass_.cluster)
      return bad_cluster("it does not divide the DFTs of the first two rounds; a smaller one");
    return {};
  }

  // ---- registers and threads of a round ----
  bool transformed(int atom) const {
    for (const Round& round : pass_.rounds)
      for (const Dft& transform : round.transforms)
        if (contains(transform.digits, atom)) return true;
    return false;
  }
  // Shuffles: the atoms that number the warps in every round, which are the carried values that are furthest apart in
  // memory.
  std::vector<int> warp_atoms() const {
    std::vector<int> carried, picked;
    for (std::size_t i = 0; i < pass_.atoms.size(); ++i)
      if (pass_.atoms[i].in_tile && !transformed(static_cast<int>(i))) carried.push_back(static_cast<int>(i));
    std::stable_sort(carried.begin(), carried.end(),
                     [&](int a, int b) { return weight_of(pass_.load.address, a) > weight_of(pass_.load.address, b); });
    for (const int atom : carried)
      if (pass_.threads / 32 % (product(picked) * size(atom)) == 0) picked.insert(picked.begin(), atom);
    return picked;
  }
  void fill(std::size_t r, bool even) {
    Round& round = pass_.rounds[r];
    const bool last = r + 1 == pass_.rounds.size();
    const Index& address = last && r > 0 ? pass_.store.address : pass_.load.address;
    round.blocks = r == 0 ? first_blocks_ : later_blocks_;
    std::vector<int> rest;
    for (std::size_t i = 0; i < pass_.atoms.size(); ++i)
      if (pass_.atoms[i].in_tile && !contains(round.registers, static_cast<int>(i)) &&
          !contains(round.blocks, static_cast<int>(i)))
        rest.push_back(static_cast<int>(i));
    // Atoms that do not appear in the addresses (pruned dimensions) are ranked by their position in the array.
    const auto key = [&](int atom) {
      std::int64_t weight = weight_of(address, atom);
      const Port& port = last && r > 0 ? pass_.store : pass_.load;
      for (const auto& pruning : port.prunings) weight += weight_of(pruning.index, atom) * pruning.stride;
      if (mirrors(port)) weight += weight_of(port.mirror.index, atom) * port.mirror.stride;
      for (const auto& turned : port.turned) weight += weight_of(turned.index, atom) * turned.stride;
      return weight;
    };
    std::stable_sort(rest.begin(), rest.end(), [&](int a, int b) { return key(a) < key(b); });
    const std::vector<int> warps = pass_.exchange == Exchange::shuffle ? warp_atoms() : std::vector<int>();
    std::erase_if(rest, [&](int atom) { return contains(warps, atom); });
    if (even) {
      // A round that was asked for leaves a warp's neighbours in memory to its threads.
      using enum PassSpec::Coalesced;
      const bool asked = pass_.coalesced_load == always || pass_.coalesced_store == always;
      const std::int64_t lanes = asked && round.transforms.empty() ? 32 : 1;
      while (product(round.registers) < per_thread_) {  // the furthest apart in memory that fits
        auto pick = rest.rend();
        for (auto it = rest.rbegin(); it != rest.rend() && pick == rest.rend(); ++it)
          if (per_thread_ % (product(round.registers) * size(*it)) == 0) pick = it;
        if (pick == rest.rend() || product({rest.begin(), std::prev(pick.base())}) < lanes) break;
        round.registers.push_back(*pick);
        rest.erase(std::next(pick).base());
      }
    }
    round.threads = rest;
    round.threads.insert(round.threads.end(), warps.begin(), warps.end());
  }

  // ---- joining ----
  bool follows_everywhere(int a, int b) const {
    const auto list_ok = [&](const std::vector<int>& list) {
      const auto i = std::find(list.begin(), list.end(), a), k = std::find(list.begin(), list.end(), b);
      if (i == list.end() && k == list.end()) return true;
      return i != list.end() && k != list.end() && k == i + 1;
    };
    for (const auto& round : pass_.rounds) {
      if (!list_ok(round.registers) || !list_ok(round.threads) || !list_ok(round.blocks)) return false;
      for (const auto& transform : round.transforms)
        if (!list_ok(transform.digits)) return false;
    }
    return true;
  }
  void join() {
    for (std::size_t a = 0; a < pass_.atoms.size(); ++a)
      for (std::size_t b = 0; b < pass_.atoms.size(); ++b) {
        const int low = static_cast<int>(a), high = static_cast<int>(b);
        if (a == b || !pass_.atoms[a].in_tile || !pass_.atoms[b].in_tile || !follows_everywhere(low, high)) continue;
        bool continues = true;
        for_indices([&](Index& index) {
          continues = continues && weight_of(index, high) == weight_of(index, low) * size(low);
        });
        if (!continues) continue;
        merge(low, high);
        return join();
      }
  }
  void merge(int low, int high) {
    pass_.atoms[at(low)].size *= size(high);
    const auto renamed = [&](int atom) { return atom > high ? atom - 1 : atom; };
    const auto fix = [&](std::vector<int>& list) {
      std::erase(list, high);
      for (int& atom : list) atom = renamed(atom);
    };
    for_indices([&](Index& index) {
      std::erase_if(index, [&](const IndexTerm& term) { return term.atom == high; });
      for (auto& term : index) term.atom = renamed(term.atom);
    });
    for (auto& round : pass_.rounds) {
      fix(round.registers), fix(round.threads), fix(round.blocks);
      for (auto& transform : round.transforms) fix(transform.digits);
    }
    fix(pass_.grid_order);
    pass_.atoms.erase(pass_.atoms.begin() + high);
    transforms_.clear();
  }

  // Of half spectra, rounds that only load or store move half of the values.
  void leave_out() {
    if (pass_.rounds.size() < 2 || pass_.banks == Banks::swizzle || pass_.cluster > 1) return;
    const auto cut = [&](Round& round, const Round& beside, const Pruning& pruning, std::int64_t kept) {
      if (!round.transforms.empty() || pruning.index.size() != 1) return;
      const auto [atom, weight] = pruning.index.front();
      if (weight == 1 && size(atom) == pruning.n && contains(round.threads, atom) && contains(beside.registers, atom))
        round.cut = atom, round.kept = kept;
    };
    auto& rounds = pass_.rounds;
    for (const Pruning& pruning : pass_.store.prunings)
      if (pruning.kind == Pruning::Kind::head) cut(rounds.back(), rounds[rounds.size() - 2], pruning, pruning.kept);
    const Port& load = pass_.load;
    if (load.values == Values::hermitian && load.factors.empty() && load.turned.empty() && pass_.load_by == Load::plain)
      cut(rounds.front(), rounds[1], load.mirror, load.mirror.n / 2 + 1);
  }

  PassSpec& pass_;
  std::vector<Dft> transforms_;
  std::int64_t per_thread_ = 1;
  std::vector<int> first_blocks_, later_blocks_;  // distributed over the blocks in the first round, and later
};

}  // namespace

std::string arrange(PassSpec& pass, const std::vector<Dft>& transforms) { return Arranger(pass, transforms).run(); }

void assert_arranged(PassSpec& pass, const std::vector<Dft>& transforms) {
  if (const std::string refusal = arrange(pass, transforms); !refusal.empty()) throw Error(Status::internal, refusal);
}

}  // namespace fourtune::generator::fft
