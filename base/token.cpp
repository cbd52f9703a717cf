// The problem token: one table of keys drives parsing, printing and error texts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/layout.h"
#include "base/text.h"
#include "base/token_keys.h"
#include "fourtune/problem.h"

namespace fourtune {
namespace {

[[noreturn]] void bad(std::string_view key, std::string_view value, std::string_view allowed) {
  throw Error(Status::invalid_problem, value.empty()
                                           ? fmt::format("{}= has no value: {}", text::shown(key), allowed)
                                           : fmt::format("{}={}: {}", text::shown(key), text::shown(value), allowed));
}

std::int64_t parse_count(std::string_view key, std::string_view value, std::int64_t least) {
  const auto count = text::number<std::int64_t>(value);
  if (!count || *count < least) bad(key, value, fmt::format("a whole number from {} to 2^63-1 is needed", least));
  return *count;
}

template <class Enum>
Enum parse_enum(std::string_view key, std::string_view value, std::initializer_list<Enum> all) {
  std::string names;
  for (const Enum candidate : all) {
    if (value == to_string(candidate)) return candidate;
    names += (names.empty() ? "" : ", ") + std::string(to_string(candidate));
  }
  bad(key, value, "allowed are " + names);
}

// Parses numbers such as 256x256x256, at least 1, one for each dimension that this kind may have. Returns how many
// there are.
int parse_sizes(Kind kind, std::string_view key, std::string_view value,
                std::array<std::int64_t, most_dimensions>& sizes) {
  const auto parts = text::split(value, 'x');
  if (static_cast<int>(parts.size()) > most_dimensions_of(kind))
    bad(key, value, fmt::format("one to {} numbers joined by x are needed", kind == Kind::fft ? "four" : "three"));
  for (std::size_t d = 0; d < parts.size(); ++d) {
    const auto size = text::number<std::int64_t>(parts[d]);
    if (!size || *size < 1)
      bad(key, value,
          parts.size() == 1 ? "a whole number from 1 to 2^63-1 is needed"
                            : "whole numbers from 1 to 2^63-1 joined by x are needed, as 256x64");
    sizes[d] = *size;
  }
  return static_cast<int>(parts.size());
}

// Parses layout=<sx>x<sy>x<sz>x<sw>+<distance>[/<output side>], with a stride for each dimension.
ArrayLayout parse_side(std::string_view value, std::string_view whole) {
  ArrayLayout layout;
  const auto plus = value.find('+');
  parse_sizes(Kind::fft, "layout", value.substr(0, plus), layout.stride);
  if (plus != std::string_view::npos) {
    const auto distance = text::number<std::int64_t>(value.substr(plus + 1));
    if (!distance || *distance < 1)
      bad("layout", whole, "after + comes the distance between transforms, a whole number from 1 to 2^63-1");
    layout.distance = *distance;
  }
  if (value.empty())
    bad("layout", whole, "strides of the input side come first: 1x260x67600+17576000/1x256x65536+16777216");
  return layout;
}
std::string print_side(const ArrayLayout& layout) {
  std::string out = fmt::format("{}", layout.stride[0]);
  for (int d = 1; d < most_dimensions && layout.stride[d] != 0; ++d) out += fmt::format("x{}", layout.stride[d]);
  if (layout.distance != 0) out += fmt::format("+{}", layout.distance);
  return out;
}

int default_sign(const Problem& problem) { return problem.kind == Kind::nufft && problem.type == 2 ? 1 : -1; }

struct Key {
  const char* name;
  bool fft, nufft;
  void (*parse)(Problem&, std::string_view);
  std::string (*print)(const Problem&);  // an empty text means the default, which is not printed
};

void parse_type(Problem& problem, std::string_view value) {
  if (problem.kind == Kind::fft) {
    problem.fft_type = parse_enum("type", value, {FftType::c2c, FftType::r2c, FftType::c2r});
  } else {
    if (value != "1" && value != "2" && value != "3") bad("type", value, "allowed are 1, 2, 3");
    problem.type = value[0] - '0';
  }
  problem.sign = default_sign(problem);
}
void parse_tol(Problem& problem, std::string_view value) {
  const auto tol = text::number<double>(value);
  if (!tol || !(*tol > 0 && *tol < 1)) bad("tol", value, "a number between 0 and 1 is needed, such as 1e-6");
  problem.tol = *tol;
}
void parse_extent(Problem& problem, std::string_view value) {
  const auto parts = text::split(value, 'x');
  std::array<double, 3> extent{};
  if (parts.size() > 3) bad("extent", value, "one to three numbers joined by x are needed");
  for (std::size_t d = 0; d < parts.size(); ++d) {
    const auto number = text::number<double>(parts[d]);
    if (!number || !(*number >= 0 && std::isfinite(*number)))
      bad("extent", value, "finite numbers of at least 0 are needed");
    extent[d] = *number;
  }
  if (static_cast<int>(parts.size()) != problem.dim)
    bad("extent", value, fmt::format("dim={} needs {} numbers", problem.dim, problem.dim));
  problem.extent = extent;
}
constexpr std::string_view kTransposed = "transposed", kUntransposed = "untransposed";

// order=transposed stands for the layouts of both arrays: the spectrum's, and the default one of the other array.
void parse_order(Problem& problem, std::string_view value) {
  const bool un = value == kUntransposed;
  if (value == kTransposed || un) {
    if (un && problem.fft_type != FftType::c2c)
      bad("order", value, "a real transform's order is that of its half spectrum, on either side; use transposed");
    if (problem.dim == 1) return;
    const bool input = un || problem.fft_type == FftType::c2r;
    (input ? problem.input_layout : problem.output_layout) = transposed_layout(problem);
    if (input)
      problem.output_layout = resolved_output_layout(problem);
    else
      problem.input_layout = resolved_input_layout(problem);
    return;
  }
  for (const auto order : {SpectrumOrder::natural, SpectrumOrder::reversed, SpectrumOrder::unreversed})
    if (value == to_string(order)) {
      problem.order = order;
      return;
    }
  bad("order", value, "allowed are natural, reversed, unreversed, transposed, untransposed");
}
std::string print_order(const Problem& problem) {
  if (problem.kind == Kind::fft && is_transposed(problem)) return std::string(kTransposed);
  if (problem.kind == Kind::fft && is_untransposed(problem)) return std::string(kUntransposed);
  return problem.order == SpectrumOrder::natural ? std::string() : to_string(problem.order);
}
void parse_layout(Problem& problem, std::string_view value) {
  if (problem.input_layout)
    bad("layout", value, "order=transposed and untransposed are layouts themselves; give one of the two keys");
  const auto sides = text::split(value, '/');
  if (sides.size() > 2) bad("layout", value, "at most two sides, input/output, are allowed");
  problem.input_layout = parse_side(sides[0], value);
  if (sides.size() == 2)
    problem.output_layout = parse_side(sides[1], value);
  else if (problem.place == Place::in && problem.fft_type == FftType::c2c)
    problem.output_layout = problem.input_layout;
}
std::string print_layout(const Problem& problem) {
  if ((!problem.input_layout && !problem.output_layout) || is_transposed(problem) || is_untransposed(problem))
    return "";
  const bool one_side = !problem.output_layout || (problem.place == Place::in && problem.fft_type == FftType::c2c);
  const std::string input = print_side(resolved_input_layout(problem));
  return one_side ? input : input + "/" + print_side(*problem.output_layout);
}
std::string print_count(const std::optional<std::int64_t>& count) { return count ? fmt::format("{}", *count) : ""; }
std::string print_n(const Problem& problem) {
  if (problem.kind == Kind::nufft && problem.type == 3) return "";
  std::string out = fmt::format("{}", problem.n[0]);
  for (int d = 1; d < problem.dim; ++d) out += fmt::format("x{}", problem.n[d]);
  return out;
}
std::string print_extent(const Problem& problem) {
  if (!problem.extent) return "";
  std::string out;
  for (int d = 0; d < problem.dim; ++d) {
    if (d > 0) out += 'x';
    out += text::shortest((*problem.extent)[d]);
  }
  return out;
}

const Key keys[] = {
    {"type", true, true, parse_type,
     [](const Problem& p) {
       return p.kind == Kind::fft ? std::string(to_string(p.fft_type)) : fmt::format("{}", p.type);
     }},
    {"n", true, true, [](Problem& p, std::string_view v) { p.dim = parse_sizes(p.kind, "n", v, p.n); }, print_n},
    {"dim", false, true,
     [](Problem& p, std::string_view v) {
       if (v != "1" && v != "2" && v != "3") bad("dim", v, "allowed are 1, 2, 3");
       p.dim = v[0] - '0';
     },
     [](const Problem& p) { return p.kind == Kind::nufft && p.type == 3 ? fmt::format("{}", p.dim) : std::string(); }},
    {"m", false, true, [](Problem& p, std::string_view v) { p.m = parse_count("m", v, 0); },
     [](const Problem& p) { return print_count(p.m); }},
    {"k", false, true, [](Problem& p, std::string_view v) { p.k = parse_count("k", v, 0); },
     [](const Problem& p) { return print_count(p.k); }},
    {"prec", true, true,
     [](Problem& p, std::string_view v) {
       p.precision = parse_enum("prec", v, {Precision::f32, Precision::f64});
     },
     [](const Problem& p) { return std::string(to_string(p.precision)); }},
    {"tol", false, true, parse_tol,
     [](const Problem& p) { return p.kind == Kind::nufft ? text::scientific(p.tol) : std::string(); }},
    {"batch", true, true, [](Problem& p, std::string_view v) { p.batch = parse_count("batch", v, 1); },
     [](const Problem& p) { return p.batch == 1 ? std::string() : fmt::format("{}", p.batch); }},
    {"place", true, false,
     [](Problem& p, std::string_view v) {
       p.place = parse_enum("place", v, {Place::out, Place::in});
     },
     [](const Problem& p) { return p.place == Place::out ? std::string() : std::string(to_string(p.place)); }},
    {"sign", true, true,
     [](Problem& p, std::string_view v) {
       if (v != "-1" && v != "1") bad("sign", v, "allowed are -1, 1");
       p.sign = v == "1" ? 1 : -1;
     },
     [](const Problem& p) { return p.sign == default_sign(p) ? std::string() : fmt::format("{}", p.sign); }},
    {"order", true, false, parse_order, print_order},
    {"layout", true, false, parse_layout, print_layout},
    {"extent", false, true, parse_extent, print_extent},
    {"points", false, true, [](Problem& p, std::string_view v) { p.points = point_class_from(v); },
     [](const Problem& p) {
       return !p.points || *p.points == PointClass::uniform ? std::string() : std::string(to_string(*p.points));
     }},
};

std::string known_keys(Kind kind) { return fmt::format("{}", fmt::join(token_keys(kind), ", ")); }

// The index of a key among those of this kind.
std::size_t find_key(std::string_view name, Kind kind) {
  for (std::size_t i = 0; i < std::size(keys); ++i)
    if (name == keys[i].name && (kind == Kind::fft ? keys[i].fft : keys[i].nufft)) return i;
  throw Error(Status::invalid_problem, fmt::format("key '{}' is unknown for {}; its keys, in this order, are {}",
                                                   text::shown(name), to_string(kind), known_keys(kind)));
}

void require(bool present, std::string_view key, const char* example) {
  if (!present) throw Error(Status::invalid_problem, fmt::format("key '{}' is missing, for example {}", key, example));
}

// Drops defaults that were spelled out, so that equal problems compare equal.
void normalise(Problem& problem) {
  if (problem.points == PointClass::uniform) problem.points.reset();
  // Digit reversal changes nothing where no length has two prime factors.
  if (problem.order != SpectrumOrder::natural &&
      std::all_of(problem.n.begin(), problem.n.end(), [](std::int64_t n) { return prime_factors(n).size() < 2; }))
    problem.order = SpectrumOrder::natural;
  Problem plain = problem;
  plain.input_layout.reset();
  plain.output_layout.reset();
  const auto is_default = [&](const std::optional<ArrayLayout>& given, const ArrayLayout& dense) {
    return given && given->stride == dense.stride && (given->distance == dense.distance || problem.batch == 1);
  };
  if (is_default(problem.output_layout, resolved_output_layout(plain))) problem.output_layout.reset();
  if (is_default(problem.input_layout, resolved_input_layout(plain)) && !problem.output_layout)
    problem.input_layout.reset();
  if (problem.output_layout && !problem.input_layout) problem.input_layout = resolved_input_layout(plain);
}

}  // namespace

std::vector<std::string> token_keys(Kind kind) {
  std::vector<std::string> names;
  for (const Key& key : keys)
    if (kind == Kind::fft ? key.fft : key.nufft) names.emplace_back(key.name);
  return names;
}

Problem parse_problem(std::string_view token) {
  const auto colon = token.find(':');
  const auto kind = token.substr(0, colon);
  if (colon == std::string_view::npos || (kind != "fft" && kind != "nufft"))
    throw Error(Status::invalid_problem,
                fmt::format("'{}' is not a problem token; one starts with fft: or nufft:, for example "
                            "nufft:type=1,n=128x128,m=100000,prec=f32,tol=1e-5",
                            text::shown(token, 60)));
  Problem problem;
  problem.kind = kind == "fft" ? Kind::fft : Kind::nufft;
  std::array<bool, std::size(keys)> seen{};
  std::size_t next = 0;
  for (const auto pair : text::split(token.substr(colon + 1), ',')) {
    const auto equals = pair.find('=');
    const auto name = pair.substr(0, equals);
    const std::size_t index = find_key(name, problem.kind);
    if (equals == std::string_view::npos)
      throw Error(Status::invalid_problem, fmt::format("key '{}' has no value; write {}=...", name, name));
    if (seen[index]) bad(name, pair.substr(equals + 1), "the key is given twice");
    if (index < next)
      bad(name, pair.substr(equals + 1), "the key comes too late; the order is " + known_keys(problem.kind));
    next = index + 1;
    seen[index] = true;
    keys[index].parse(problem, pair.substr(equals + 1));
  }
  const auto has = [&](std::string_view name) { return seen[find_key(name, problem.kind)]; };
  const bool type3 = problem.kind == Kind::nufft && problem.type == 3;
  require(has("type"), "type", problem.kind == Kind::fft ? "type=c2c" : "type=1");
  require(has("prec"), "prec", "prec=f32");
  require(type3 || has("n"), "n", "n=256x256");
  if (problem.kind == Kind::nufft) {
    require(has("tol"), "tol", "tol=1e-5");
    require(!type3 || has("dim"), "dim", "dim=2");
    if (type3 && has("n")) throw Error(Status::invalid_problem, "n: a type 3 problem has no modes; give dim, m and k");
    if (!type3 && has("dim"))
      throw Error(Status::invalid_problem, "dim: follows from n for types 1 and 2; leave it out");
  }
  validate(problem);
  normalise(problem);
  return problem;
}

std::string to_token(const Problem& problem) {
  std::string out = std::string(to_string(problem.kind)) + ":";
  bool first = true;
  for (const Key& key : keys) {
    if (!(problem.kind == Kind::fft ? key.fft : key.nufft)) continue;
    const std::string value = key.print(problem);
    if (value.empty()) continue;
    out += fmt::format("{}{}={}", first ? "" : ",", key.name, value);
    first = false;
  }
  return out;
}

}  // namespace fourtune
