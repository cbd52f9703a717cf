// The parser of plan text. It checks only the grammar; the rules are in fft/rules.cpp. It reads the canonical text and
// the notation as printed in the paper.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "generator/plan/fft/notation.h"
#include "generator/plan/fft/notation_keys.h"

namespace fourtune::generator::fft {
namespace {

// The text without blanks and typography, and the original position of every character.
struct Cleaned {
  std::string text;
  std::vector<std::size_t> at;
};

Cleaned clean(std::string_view text) {
  struct Typography {
    std::string_view bytes;
    char plain;  // 0: dropped
  };
  static constexpr Typography typography[] = {{" ", 0},
                                              {"\t", 0},
                                              {"\n", 0},
                                              {"\r", 0},
                                              {"\xe2\x80\xa2", 0} /* bullet */,
                                              {"\xc2\xa0", 0} /* hard blank */,
                                              {"\xe2\x88\x92", '-'} /* minus */,
                                              {"\xe2\x80\x93", '-'} /* en dash */,
                                              {"\xe2\x80\x90", '-'} /* hyphen */};
  Cleaned out;
  for (std::size_t i = 0; i < text.size();) {
    const auto* found = std::find_if(std::begin(typography), std::end(typography),
                                     [&](const Typography& t) { return text.substr(i, t.bytes.size()) == t.bytes; });
    const bool plain = found == std::end(typography);
    const char c = plain ? text[i] : found->plain;
    if (c != 0) {
      out.text += c;
      out.at.push_back(i);
    }
    i += plain ? 1 : found->bytes.size();
  }
  out.at.push_back(text.size());
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : clean_(clean(text)) {}

  FftPlan plan() {
    FftPlan out;
    while (!at_end() && peek() != ':') {
      if (out.kernels.size() == most_kernels) fail(fmt::format("at most {} kernels", most_kernels));
      out.kernels.push_back(kernel());
      if (peek() == ';' || peek() == ',') ++pos_;
    }
    if (out.kernels.empty()) fail("a plan begins with a kernel, { and its sub-FFTs");
    if (accept(':')) plan_parameters(out);
    if (!at_end()) fail("the plan ends before this");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    const std::size_t at = clean_.at[std::min(pos_, clean_.text.size())];
    std::string near;  // a message quotes only the printable characters of the text
    for (const char c : std::string_view(clean_.text).substr(std::min(pos_, clean_.text.size()), 16))
      near += c >= ' ' && c <= '~' ? c : '?';
    throw Error(Status::invalid_plan, fmt::format("syntax: at character {}{}: {}", at + 1,
                                                  near.empty() ? " (the end)" : " ('" + near + "')", expected));
  }
  bool at_end() const { return pos_ >= clean_.text.size(); }
  char peek() const { return at_end() ? '\0' : clean_.text[pos_]; }
  bool accept(char c) {
    if (peek() != c || at_end()) return false;
    ++pos_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!accept(c)) fail(fmt::format("expected '{}' {}", c, what));
  }

  std::int64_t integer(const char* what, std::int64_t most) {
    const std::size_t begin = pos_;
    while (peek() >= '0' && peek() <= '9') ++pos_;
    const auto digits = std::string_view(clean_.text).substr(begin, pos_ - begin);
    const auto value = text::number<std::int64_t>(digits);
    if (!value || *value < 1 || *value > most || digits[0] == '0') {
      pos_ = begin;
      fail(fmt::format("{} is a whole number from 1 to {}, without leading zeros", what, most));
    }
    return *value;
  }
  std::string_view word() {
    const std::size_t begin = pos_;
    while (!at_end() && ((peek() >= 'a' && peek() <= 'z') || (peek() >= '0' && peek() <= '9') || peek() == '-')) ++pos_;
    return std::string_view(clean_.text).substr(begin, pos_ - begin);
  }

  std::optional<Dim> dimension(char c) const {
    switch (c) {
      case 'X':
        return Dim::x;
      case 'Y':
        return Dim::y;
      case 'Z':
        return Dim::z;
      case 'W':
        return Dim::w;
      default:
        return std::nullopt;
    }
  }

  SubFft sub() {
    const auto dim = dimension(peek());
    if (!dim) fail("expected a sub-FFT: X, Y, Z or W and (count,radix,stride,n,tw or no-tw)");
    ++pos_;
    SubFft out;
    out.dim = *dim;
    expect('(', "after the dimension");
    out.count = integer("count", most_length);
    expect(',', "after count");
    out.radix = static_cast<int>(integer("radix", 1 << 30));
    expect(',', "after radix");
    out.stride = integer("stride", most_length);
    expect(',', "after stride");
    out.n = integer("n", most_length);
    expect(',', "after n");
    const std::size_t begin = pos_;
    const auto twiddle = word();
    if (twiddle != "tw" && twiddle != "no-tw") {
      pos_ = begin;
      fail("expected tw or no-tw");
    }
    out.twiddle = twiddle == "tw";
    expect(')', "after tw or no-tw");
    return out;
  }

  Kernel kernel() {
    Kernel out;
    if (!accept('{')) {  // without braces the sub-FFT is a separate kernel
      out.subs.push_back(sub());
      return out;
    }
    do {
      if (out.subs.size() == most_subs) fail(fmt::format("at most {} sub-FFTs in a kernel", most_subs));
      out.subs.push_back(sub());
    } while (accept(','));
    expect('}', "or ',' after a sub-FFT");
    out.with.exchange = default_exchange(out);
    if (accept('[')) {
      pairs([&](std::string_view key) { return kernel_parameter(key, out); });
      expect(']', "or ',' after a parameter");
    }
    return out;
  }

  // Reads key=value,...: `one` reads the value. Keys come in any order, each at most once.
  template <class One>
  void pairs(One one) {
    std::vector<std::string_view> seen;
    do {
      const std::size_t begin = pos_;
      const auto key = word();
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        pos_ = begin;
        fail("this parameter is given twice");
      }
      seen.push_back(key);
      expect('=', "after the name of a parameter");
      if (!one(key)) {
        pos_ = begin;
        fail(
            "no such parameter here; a kernel has threads, tile, exchange, parts, banks, twiddle, store, to, load, "
            "pipeline, cache, coalesce, cluster, blocks, registers, a plan order, from, prec, place");
      }
    } while (accept(','));
  }

  template <class Enum, std::size_t N>
  void named(const Spelling<Enum> (&table)[N], Enum& value) {
    const std::size_t begin = pos_;
    const auto name = word();
    std::string names;
    for (const auto& entry : table) {
      if (name == entry.name) {
        value = entry.value;
        return;
      }
      names += (names.empty() ? "" : ", ") + std::string(entry.name);
    }
    pos_ = begin;
    fail("allowed are " + names);
  }

  bool kernel_parameter(std::string_view key, Kernel& kernel) {
    KernelParameters& with = kernel.with;
    const auto small = [&](int& value) { value = static_cast<int>(integer("this", 1 << 20)); };
    if (key == "threads")
      small(with.threads);
    else if (key == "tile")
      tile(with.tile);
    else if (key == "exchange")
      named(exchanges, with.exchange);
    else if (key == "parts")
      named(parts_names, with.parts);
    else if (key == "banks")
      named(banks_names, with.banks);
    else if (key == "twiddle")
      named(twiddles, with.twiddle);
    else if (key == "store")
      named(stores, with.store);
    else if (key == "to")
      named(targets, with.to);
    else if (key == "load")
      named(loads, with.load);
    else if (key == "pipeline")
      small(with.pipeline);
    else if (key == "cache")
      named(caches, with.cache);
    else if (key == "coalesce")
      named(coalesces, with.coalesce);
    else if (key == "cluster")
      small(with.cluster);
    else if (key == "blocks")
      blocks(with.blocks);
    else if (key == "registers")
      small(with.registers);
    else
      return false;
    return true;
  }

  void tile(Tile& value) {
    value = {1};
    std::size_t i = 0;
    do {
      if (i == value.size()) fail("a tile has at most five numbers: x, y, z, w, batch");
      value[i++] = static_cast<int>(integer("a tile's extent", 1 << 20));
    } while (accept('x'));
  }

  void blocks(BlockOrder& value) {
    constexpr std::string_view all = "xyzw";
    const std::size_t begin = pos_;
    std::string letters(word());
    if (letters.size() == 3) letters += 'w';  // w is the slowest where it is not named
    if (!std::is_permutation(letters.begin(), letters.end(), all.begin(), all.end())) {
      pos_ = begin;
      fail("blocks is an order of x, y and z, or of x, y, z and w, the fastest first: xyz, yxz, wxyz, ...");
    }
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<Dim>(all.find(letters[i]));
  }

  void plan_parameters(FftPlan& plan) {
    pairs([&](std::string_view key) {
      if (key == "order")
        named(orders, plan.order);
      else if (key == "from")
        named(input_orders, plan.from);
      else if (key == "prec")
        named(precisions, plan.precision);
      else if (key == "place")
        named(places, plan.place);
      else
        return false;
      return true;
    });
  }

  Cleaned clean_;
  std::size_t pos_ = 0;
};

}  // namespace

FftPlan parse_notation(std::string_view text) {
  if (text.size() > most_text)
    throw Error(Status::invalid_plan, fmt::format("syntax: a plan's text has at most {} bytes", most_text));
  return Parser(text).plan();
}

FftPlan parse_fft_plan(std::string_view text) {
  FftPlan plan = parse_notation(text);
  if (const auto violations = check(plan); !violations.empty())
    throw Error(Status::invalid_plan, violations.front().message);
  return plan;
}

}  // namespace fourtune::generator::fft
