// Tokens as people type them. What is clear is read as it is meant: keys in any order, blanks, capitals, n=64,64,
// m=1e6, n=2^20. What is wrong but resembles a token is refused, and the nearest right token is named.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/spelling.h"
#include "base/text.h"
#include "base/token_keys.h"
#include "fourtune/problem.h"

namespace fourtune {
namespace {

using Words = std::vector<std::string>;
using Synonyms = std::vector<std::pair<const char*, Words>>;  // the right word, and others for it

constexpr std::size_t kLongestToken = 4096;  // bytes; nobody types longer ones

struct Field {
  std::string key, value;
  bool has_value = true;
};
struct Typed {
  std::string kind;  // what stands before the colon; empty: there is no colon
  std::vector<Field> fields;

  Field* find(std::string_view key) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& one) { return one.key == key; });
    return found == fields.end() ? nullptr : &*found;
  }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_one_of(std::string_view word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
Words keys_of(std::string_view kind) { return token_keys(kind == "fft" ? Kind::fft : Kind::nufft); }

// ---- what is clear
std::string without_blanks_in_lower_case(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return plain;
}

// A comma before a number continues a list: n=64,64.
Typed split(std::string_view text) {
  const std::string plain = without_blanks_in_lower_case(text);
  Typed typed;
  const auto colon = plain.find(':');
  if (colon != std::string::npos) typed.kind = plain.substr(0, colon);
  for (const std::string_view part : text::split(std::string_view(plain).substr(colon + 1), ',')) {
    if (part.empty()) continue;
    const auto equals = part.find('=');
    const bool continues = equals == part.npos && is_digit(part[0]) && !typed.fields.empty() &&
                           is_one_of(typed.fields.back().key, {"n", "extent", "size", "sizes", "shape", "modes"});
    if (continues)
      typed.fields.back().value += 'x' + std::string(part);
    else if (equals == part.npos)
      typed.fields.push_back({std::string(part), {}, false});
    else
      typed.fields.push_back({std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))});
  }
  return typed;
}

// 1e6, 2.5e3, 2^20 and 1_000 as digits; anything else stays as it is.
std::string whole_number(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  double value = 0;
  if (const auto power = digits.find('^'); power != std::string::npos) {
    const auto base = text::number<double>(std::string_view(digits).substr(0, power));
    const auto exponent = text::number<int>(std::string_view(digits).substr(power + 1));
    if (!base || !exponent) return std::string(text);
    value = std::pow(*base, *exponent);
  } else if (digits.find_first_of(".e") != std::string::npos) {
    value = text::number<double>(digits).value_or(-1);
  } else {
    return digits;
  }
  constexpr double kExact = 9007199254740992;  // 2^53
  if (!(value >= 0 && value <= kExact && value == std::floor(value))) return std::string(text);
  return fmt::format("{:.0f}", value);
}

std::string whole_numbers(std::string value) {
  std::replace(value.begin(), value.end(), '*', 'x');
  std::string out;
  for (const std::string_view part : text::split(value, 'x')) out += (out.empty() ? "" : "x") + whole_number(part);
  return out;
}

void read_numbers(Typed& typed) {
  for (Field& field : typed.fields)
    if (is_one_of(field.key, {"n", "m", "k", "batch"})) field.value = whole_numbers(field.value);
}

// Unknown keys come last.
std::string joined(Typed typed) {
  const Words order = keys_of(typed.kind);
  std::stable_sort(typed.fields.begin(), typed.fields.end(), [&](const Field& a, const Field& b) {
    return std::find(order.begin(), order.end(), a.key) < std::find(order.begin(), order.end(), b.key);
  });
  std::string out = typed.kind.empty() ? std::string() : typed.kind + ":";
  for (const Field& field : typed.fields) {
    if (&field != &typed.fields.front()) out += ',';
    out += field.key;
    if (field.has_value) out += '=' + field.value;
  }
  return out;
}

// ---- what is only likely
const Synonyms& key_synonyms() {
  static const Synonyms all{{"tol", {"eps", "epsilon", "tolerance", "accuracy", "rtol"}},
                            {"prec", {"precision", "dtype"}},
                            {"batch", {"ntrans", "ntransf", "n_trans", "howmany", "batches", "count"}},
                            {"sign", {"isign", "iflag", "direction"}},
                            {"n", {"size", "sizes", "shape", "modes", "n_modes", "ms", "length"}},
                            {"m", {"npoints", "nj", "num_points", "samples"}},
                            {"k", {"nk", "targets"}},
                            {"dim", {"dims", "ndim", "dimension", "dimensions", "rank"}},
                            {"place", {"inplace", "in_place", "in-place"}},
                            {"layout", {"stride", "strides"}},
                            {"order", {"ordering", "spectrum", "permutation"}},
                            {"points", {"distribution", "trajectory"}}};
  return all;
}

const Synonyms& value_synonyms(std::string_view key) {
  static const Synonyms none,
      prec{{"f32", {"single", "float", "float32", "fp32", "32", "s", "c64", "complex64"}},
           {"f64", {"double", "float64", "fp64", "64", "d", "c128", "complex128"}}},
      type{{"c2c", {"dft", "c", "complex", "z2z"}}, {"r2c", {"r", "real", "rfft", "d2z"}}, {"c2r", {"irfft", "z2d"}}},
      place{{"in", {"inplace", "in-place", "in_place", "true", "1", "yes"}}, {"out", {"false", "0", "no", "outplace"}}},
      order{{"reversed", {"bitreversed", "bit-reversed", "bit_reversed", "digitreversed", "digit-reversed"}},
            {"transposed", {"transpose", "transposed_out"}},
            {"untransposed", {"transposed_in"}}},
      sign{{"-1", {"forward", "-"}}, {"1", {"+1", "+", "backward", "inverse"}}};
  return key == "prec"    ? prec
         : key == "type"  ? type
         : key == "place" ? place
         : key == "sign"  ? sign
         : key == "order" ? order
                          : none;
}

// The words that a key may have, as far as they are few.
Words words_of(std::string_view kind, std::string_view key) {
  if (key == "prec") return {"f32", "f64"};
  if (key == "type") return kind == "fft" ? Words{"c2c", "r2c", "c2r"} : Words{"1", "2", "3"};
  if (key == "place") return {"in", "out"};
  if (key == "order") return {"natural", "reversed", "unreversed", "transposed", "untransposed"};
  if (key == "points") return {"uniform", "cluster", "radial", "spiral", "stack", "ewald", "recorded"};
  return {};
}

std::string meant(const std::string& word, const Words& words, const Synonyms& synonyms) {
  if (is_one_of(word, words)) return word;
  for (const auto& [right, others] : synonyms)
    if (is_one_of(word, others)) return right;
  const std::string near = nearest_word(word, words);
  return near.empty() ? word : near;
}

void guess_kind(Typed& typed) {
  const Words kinds{"fft", "nufft"};
  if (is_one_of(typed.kind, kinds)) return;
  if (const std::string near = nearest_word(typed.kind, kinds); !near.empty()) {
    typed.kind = near;
    return;
  }
  const Words nonuniform{"m", "k", "tol", "eps", "tolerance", "points", "extent", "dim"};
  typed.kind = std::any_of(typed.fields.begin(), typed.fields.end(),
                           [&](const Field& field) { return is_one_of(field.key, nonuniform); })
                   ? "nufft"
                   : "fft";
}

// Words without a key, such as c2c, f64 and 64x64.
void guess_key(Field& field, std::string_view kind) {
  if (field.has_value || is_one_of(field.key, keys_of(kind))) return;
  for (const char* key : {"type", "prec", "place", "order", "points"}) {
    const std::string word = meant(field.key, {}, value_synonyms(key));
    if (!is_one_of(word, words_of(kind, key))) continue;
    field = {key, word};
    return;
  }
  if (is_digit(field.key[0])) field = {"n", field.key};
}

void add_missing(Typed& typed) {
  const auto add = [&](const char* key, const char* value) {
    if (!typed.find(key)) typed.fields.push_back({key, value});
  };
  add("type", typed.kind == "fft" ? "c2c" : "1");
  add("prec", "f64");
  if (typed.kind == "nufft") add("tol", typed.find("prec")->value == "f32" ? "1e-5" : "1e-6");
}

// The nearest right token, or an empty text.
std::string nearest_token(Typed typed) try {
  guess_kind(typed);
  const Words known = keys_of(typed.kind);
  for (Field& field : typed.fields) {
    guess_key(field, typed.kind);
    field.key = meant(field.key, known, key_synonyms());
    field.value = meant(field.value, words_of(typed.kind, field.key), value_synonyms(field.key));
    field.has_value = true;
  }
  add_missing(typed);
  read_numbers(typed);
  return to_token(parse_problem(joined(typed)));
} catch (const Error&) {
  return {};
}

}  // namespace

Problem parse_typed_problem(std::string_view text) {
  try {
    return parse_problem(text);
  } catch (const Error&) {
    if (text.size() > kLongestToken) throw;
  }
  Typed typed = split(text);
  read_numbers(typed);
  try {
    return parse_problem(joined(typed));
  } catch (const Error& error) {
    const std::string near = nearest_token(typed);
    if (near.empty() || error.status() != Status::invalid_problem) throw;
    throw Error(error.status(), fmt::format("{}; did you mean {}?", error.what(), near));
  }
}

}  // namespace fourtune
