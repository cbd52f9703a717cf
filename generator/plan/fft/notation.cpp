// Canonical text of plans, and the names of the rules. The grammar is in notation.h, the parser in notation_parse.cpp.
#include "generator/plan/fft/notation.h"

#include <fmt/format.h>

#include "generator/plan/fft/notation_keys.h"

namespace fourtune::generator::fft {
namespace {

std::string tile_text(const Tile& tile) {
  std::size_t last = tile.size();
  while (last > 1 && tile[last - 1] == 1) --last;
  std::string out = fmt::format("{}", tile[0]);
  for (std::size_t i = 1; i < last; ++i) out += fmt::format("x{}", tile[i]);
  return out;
}

class Pairs {
 public:
  void add(const char* key, const std::string& value) {
    text_ += fmt::format("{}{}={}", text_.empty() ? "" : ",", key, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string parameters_text(const Kernel& kernel) {
  const KernelParameters& with = kernel.with;
  const KernelParameters defaults;
  Pairs pairs;
  if (with.threads != 0) pairs.add("threads", fmt::format("{}", with.threads));
  if (with.tile[0] != 0) pairs.add("tile", tile_text(with.tile));
  if (with.exchange != default_exchange(kernel)) pairs.add("exchange", name_of(exchanges, with.exchange));
  if (with.parts != defaults.parts) pairs.add("parts", name_of(parts_names, with.parts));
  if (with.banks != defaults.banks) pairs.add("banks", name_of(banks_names, with.banks));
  if (with.twiddle != defaults.twiddle) pairs.add("twiddle", name_of(twiddles, with.twiddle));
  if (with.store != defaults.store) pairs.add("store", name_of(stores, with.store));
  if (with.to != defaults.to) pairs.add("to", name_of(targets, with.to));
  if (with.load != defaults.load) pairs.add("load", name_of(loads, with.load));
  if (with.pipeline != defaults.pipeline) pairs.add("pipeline", fmt::format("{}", with.pipeline));
  if (with.cache != defaults.cache) pairs.add("cache", name_of(caches, with.cache));
  if (with.coalesce != defaults.coalesce) pairs.add("coalesce", name_of(coalesces, with.coalesce));
  if (with.cluster != defaults.cluster) pairs.add("cluster", fmt::format("{}", with.cluster));
  if (with.blocks != defaults.blocks) {
    std::string letters;
    for (const Dim dim : with.blocks) letters += letter(dim);
    if (letters.back() == 'w') letters.pop_back();  // most plans have no w
    pairs.add("blocks", letters);
  }
  if (with.registers != defaults.registers) pairs.add("registers", fmt::format("{}", with.registers));
  return pairs.text();
}

struct RuleWords {
  Rule rule;
  const char* name;
  const char* text;
};
constexpr RuleWords rule_words[] = {
    {Rule::dimensions, "dimensions", "a plan has X, or X and Y, and so on to X, Y, Z and W"},
    {Rule::radix, "radix", "a radix is between 2 and 64"},
    {Rule::first_n, "first-n", "n of a dimension's first sub-FFT is the dimension's length"},
    {Rule::product, "product", "the radices of a dimension multiply to its length"},
    {Rule::stride, "stride", "the stride of a sub-FFT is its n divided by its radix"},
    {Rule::chain, "chain", "n of a sub-FFT is the stride of the one before it along the same dimension"},
    {Rule::last, "last", "the last sub-FFT of a dimension has stride 1 and no-tw, every other one has tw"},
    {Rule::finished, "finished", "nothing follows the last sub-FFT of a dimension"},
    {Rule::count, "count", "count times radix is the dimension's length"},
    {Rule::length, "length", "the plan's lengths are those of the problem"},
    {Rule::order, "order",
     "where an order is by prime factors, the factors of a dimension's radices ascend with order=primes, descend with "
     "from=primes, and every kernel stores in place"},
    {Rule::problem, "problem", "precision, place and order are those of the problem"},
    {Rule::threads, "threads", "a block has a multiple of 32 threads, at most 1024"},
    {Rule::tile, "tile", "a tile carries whole runs of neighbours, no more than there are"},
    {Rule::exchange, "exchange", "a kernel of several sub-FFTs exchanges values through shared memory or shuffles"},
    {Rule::parts, "parts", "parts and banks belong to an exchange"},
    {Rule::banks, "banks", "exchange=shared has banks; swizzles are for powers of two"},
    {Rule::twiddle, "twiddle", "fast twiddles are for f32"},
    {Rule::load, "load", "asynchronous and bulk loads have 1 to 4 landing buffers, plain ones none"},
    {Rule::coalesce, "coalesce", "rounds that only move values need exchange=shared, and no cluster"},
    {Rule::cluster, "cluster",
     "a cluster is 1, 2, 4, 8 or 16 blocks that divide the tile and exchange through shared memory"},
    {Rule::blocks, "blocks", "the block order names each of the plan's dimensions once"},
    {Rule::registers, "registers", "a register bound is between 16 and 255"},
    {Rule::target, "target",
     "the last kernel writes out, and a kernel that writes what it reads keeps every tile in its place"},
    {Rule::shared_memory, "shared-memory", "a block's shared memory fits the device"},
    {Rule::register_file, "register-file", "a thread's registers fit, and a block's fit the multiprocessor"},
    {Rule::resident, "resident", "a multiprocessor holds at least one block"},
    {Rule::capability, "capability", "the device can do the loads and clusters that the plan asks for"},
};

}  // namespace

std::string to_text(const SubFft& sub) {
  return fmt::format("{}({},{},{},{},{})", letter_upper(sub.dim), sub.count, sub.radix, sub.stride, sub.n,
                     sub.twiddle ? "tw" : "no-tw");
}

std::string to_text(const Kernel& kernel) {
  std::string out = "{";
  for (std::size_t i = 0; i < kernel.subs.size(); ++i) out += (i == 0 ? "" : ",") + to_text(kernel.subs[i]);
  out += "}";
  if (const auto pairs = parameters_text(kernel); !pairs.empty()) out += "[" + pairs + "]";
  return out;
}

std::string to_text(const FftPlan& plan) {
  std::string out;
  for (const Kernel& kernel : plan.kernels) out += to_text(kernel);
  const FftPlan defaults;
  Pairs pairs;
  if (plan.order != defaults.order) pairs.add("order", name_of(orders, plan.order));
  if (plan.from != defaults.from) pairs.add("from", name_of(input_orders, plan.from));
  if (plan.precision != defaults.precision) pairs.add("prec", to_string(plan.precision));
  if (plan.place != defaults.place) pairs.add("place", to_string(plan.place));
  if (!pairs.text().empty()) out += ":" + pairs.text();
  return out;
}

const char* rule_name(Rule rule) noexcept {
  for (const auto& words : rule_words)
    if (words.rule == rule) return words.name;
  return "?";
}
const char* rule_text(Rule rule) noexcept {
  for (const auto& words : rule_words)
    if (words.rule == rule) return words.text;
  return "?";
}

}  // namespace fourtune::generator::fft
