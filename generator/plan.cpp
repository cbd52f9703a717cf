// Plan text: printing, and parsing with range checks. The grammar is in plan.h.
#include "generator/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "runtime/base/text.h"

namespace fourtune::generator {
namespace {

[[noreturn]] void bad(const std::string& message) { throw Error(Status::invalid_plan, message); }

template <class Enum>
struct Spelling {
  Enum value;
  const char* name;
};
constexpr Spelling<Rigor> rigors[] = {
    {Rigor::estimate, "estimate"}, {Rigor::measure, "measure"}, {Rigor::patient, "patient"}};
constexpr Spelling<FftFamily> fft_families[] = {
    {FftFamily::fftw, "fftw"}, {FftFamily::rows, "rows"}, {FftFamily::pruned, "pruned"}};
constexpr Spelling<SortFamily> sorts[] = {{SortFamily::none, "none"}, {SortFamily::tiles, "tiles"}};
constexpr Spelling<SpreadFamily> spreads[] = {{SpreadFamily::atomic, "atomic"},
                                              {SpreadFamily::colour_index, "colour_index"},
                                              {SpreadFamily::colour_list, "colour_list"},
                                              {SpreadFamily::subgrid, "subgrid"}};
constexpr Spelling<AddRule> adds[] = {{AddRule::lock, "lock"}, {AddRule::colour, "colour"}};
constexpr Spelling<InterpFamily> interps[] = {{InterpFamily::direct, "direct"}, {InterpFamily::tile, "tile"}};
constexpr Spelling<WindowKind> windows[] = {{WindowKind::exp_semicircle, "es"},
                                            {WindowKind::kaiser_bessel, "kb"},
                                            {WindowKind::pswf, "pswf"},
                                            {WindowKind::gaussian, "gaussian"}};

template <class Enum, std::size_t N>
const char* name_of(const Spelling<Enum> (&table)[N], Enum value) {
  for (const auto& entry : table)
    if (entry.value == value) return entry.name;
  return "?";
}
template <class Enum, std::size_t N>
Enum value_of(const Spelling<Enum> (&table)[N], std::string_view stage, std::string_view name) {
  std::string names;
  for (const auto& entry : table) {
    if (name == entry.name) return entry.value;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  bad(fmt::format("{}={}: allowed are {}", stage, name, names));
}

template <class N>
std::string sizes_text(const std::array<N, 3>& sizes, int dim) {
  std::string out = fmt::format("{}", sizes[0]);
  for (int d = 1; d < dim; ++d) out += fmt::format("x{}", sizes[d]);
  return out;
}

// ---- one stage of a plan text: stage=family(key=value,...) --------------------------------------------------------
class StageText {
 public:
  explicit StageText(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos)
      bad(fmt::format("'{}': a stage is written stage=family(key=value,...)", text));
    stage_ = text.substr(0, equals);
    auto rest = text.substr(equals + 1);
    const auto open = rest.find('(');
    family_ = rest.substr(0, open);
    if (open == std::string_view::npos) return;
    if (rest.back() != ')') bad(fmt::format("{}: the closing ) is missing", stage_));
    rest = rest.substr(open + 1, rest.size() - open - 2);
    for (const auto pair : text::split(rest, ',')) {
      const auto at = pair.find('=');
      if (at == std::string_view::npos) bad(fmt::format("{}: parameter '{}' has no value", stage_, pair));
      if (!parameters_.emplace(pair.substr(0, at), pair.substr(at + 1)).second)
        bad(fmt::format("{}: parameter '{}' is given twice", stage_, pair.substr(0, at)));
    }
  }
  const std::string& stage() const { return stage_; }
  const std::string& family() const { return family_; }

  std::optional<std::string> take(const std::string& key) {
    const auto found = parameters_.find(key);
    if (found == parameters_.end()) return std::nullopt;
    std::string value = found->second;
    parameters_.erase(found);
    return value;
  }
  template <class N>
  N number(const std::string& key, N least, N most, std::optional<N> fallback = std::nullopt) {
    const auto value = take(key);
    if (!value && fallback) return *fallback;
    if (!value) bad(fmt::format("{}={}: parameter '{}' is missing", stage_, family_, key));
    const auto parsed = text::number<N>(*value);
    if (!parsed || !(*parsed >= least && *parsed <= most))
      bad(fmt::format("{}={}({}={}): a number from {} to {} is needed", stage_, family_, key, *value, least, most));
    return *parsed;
  }
  template <class N>
  std::array<N, 3> sizes(const std::string& key, int dim, N least, N most) {
    const auto value = take(key);
    if (!value) bad(fmt::format("{}={}: parameter '{}' is missing", stage_, family_, key));
    const auto parts = text::split(*value, 'x');
    if (static_cast<int>(parts.size()) != dim)
      bad(fmt::format("{}={}({}={}): {} numbers joined by x are needed", stage_, family_, key, *value, dim));
    std::array<N, 3> out{1, 1, 1};
    for (int d = 0; d < dim; ++d) {
      const auto parsed = text::number<N>(parts[d]);
      if (!parsed || *parsed < least || *parsed > most)
        bad(fmt::format("{}={}({}={}): numbers from {} to {} are needed", stage_, family_, key, *value, least, most));
      out[d] = *parsed;
    }
    return out;
  }
  void finish() const {
    if (!parameters_.empty())
      bad(fmt::format("{}={}: parameter '{}' is unknown", stage_, family_, parameters_.begin()->first));
  }

 private:
  std::string stage_, family_;
  std::map<std::string, std::string> parameters_;
};

// ---- stages -------------------------------------------------------------------------------------------------------
std::string print_fft(const FftChoice& fft) {
  std::string out = fmt::format("fft={}(rigor={}", name_of(fft_families, fft.family), name_of(rigors, fft.rigor));
  if (fft.family != FftFamily::fftw) out += fmt::format(",block={}", fft.block);
  return out + ")";
}
FftChoice parse_fft(StageText& text, const Problem& problem) {
  FftChoice fft;
  fft.family = value_of(fft_families, "fft", text.family());
  if (problem.kind == Kind::fft && fft.family == FftFamily::pruned)
    bad("fft=pruned: only a nufft has lines to skip; allowed are fftw, rows");
  if (problem.kind == Kind::nufft && fft.family == FftFamily::rows) bad("fft=rows: a nufft takes pruned (or fftw)");
  if (const auto rigor = text.take("rigor")) fft.rigor = value_of(rigors, "fft: rigor", *rigor);
  if (fft.family != FftFamily::fftw) fft.block = text.number<int>("block", 1, 4096, 64);
  return fft;
}

bool points_decide_grid(const Problem& problem) { return problem.type == 3; }

std::string print_window(const char* stage, const WindowChoice& window, const Problem& problem) {
  std::string out = fmt::format("{}={}(sigma={},width={}", stage, name_of(windows, window.kind),
                                text::shortest(window.sigma), window.width);
  if (!points_decide_grid(problem)) out += ",fine=" + sizes_text(window.fine, problem.dim);
  if (window.table) out += fmt::format(",table={}", window.table);
  return out + ")";
}
WindowChoice parse_window(StageText& text, const Problem& problem, int widest) {
  WindowChoice window;
  window.kind = value_of(windows, text.stage(), text.family());
  window.sigma = text.number<double>("sigma", 1.0, 4.0);
  if (!(window.sigma > 1)) bad(fmt::format("{}: sigma={} is not above 1", text.stage(), window.sigma));
  window.width = text.number<int>("width", kMinWidth, widest);
  window.table = text.number<int>("table", 0, 1 << 20, 0);
  if (points_decide_grid(problem)) {
    window.fine = {0, 0, 0};
  } else {
    window.fine = text.sizes<std::int64_t>("fine", problem.dim, 1, std::int64_t{1} << 40);
    for (int d = 0; d < problem.dim; ++d)
      if (window.fine[d] < problem.n[d])
        bad(fmt::format("{}: fine={} is smaller than the {} modes of dimension {}", text.stage(), window.fine[d],
                        problem.n[d], "xyz"[d]));
  }
  return window;
}

std::string print_sort(const SortChoice& sort, const Problem& problem) {
  if (sort.family == SortFamily::none) return "sort=none";
  return fmt::format("sort=tiles(tile={}{}{})", sizes_text(sort.tile, problem.dim), sort.copy ? "" : ",copy=0",
                     sort.local ? ",local=1" : "");
}
SortChoice parse_sort(StageText& text, const Problem& problem) {
  SortChoice sort;
  sort.family = value_of(sorts, "sort", text.family());
  if (sort.family == SortFamily::none) return sort;
  sort.tile = text.sizes<int>("tile", problem.dim, 1, 1 << 20);
  sort.copy = text.number<int>("copy", 0, 1, 1) == 1;
  sort.local = text.number<int>("local", 0, 1, 0) == 1;
  return sort;
}

std::string print_spread(const SpreadChoice& spread) {
  if (spread.family != SpreadFamily::subgrid) return fmt::format("spread={}", name_of(spreads, spread.family));
  return fmt::format("spread=subgrid(cap={},add={})", spread.cap, name_of(adds, spread.add));
}
SpreadChoice parse_spread(StageText& text) {
  SpreadChoice spread;
  spread.family = value_of(spreads, "spread", text.family());
  if (spread.family != SpreadFamily::subgrid) return spread;
  spread.cap = text.number<int>("cap", 1, 1 << 30);
  if (const auto add = text.take("add")) spread.add = value_of(adds, "spread: add", *add);
  return spread;
}

std::string print_interp(const InterpChoice& interp) {
  if (interp.family == InterpFamily::direct) return "interp=direct";
  return fmt::format("interp=tile(cap={})", interp.cap);
}
InterpChoice parse_interp(StageText& text) {
  InterpChoice interp;
  interp.family = value_of(interps, "interp", text.family());
  if (interp.family == InterpFamily::tile) interp.cap = text.number<int>("cap", 1, 1 << 30);
  return interp;
}

// Every stage that plans of this problem have, in printing order.
std::vector<std::string> stages_of(const Problem& problem) {
  if (problem.kind == Kind::fft) return {"fft"};
  std::vector<std::string> stages = {"window"};
  if (problem.type == 3) stages = {"type3", "window", "inner"};
  stages.push_back("sort");
  stages.push_back("spread");
  stages.push_back("interp");
  stages.push_back("fft");
  stages.push_back("chunk");
  return stages;
}

void check_families(const Plan& plan) {
  const bool blocks = plan.spread.family == SpreadFamily::colour_index ||
                      plan.spread.family == SpreadFamily::colour_list || plan.spread.family == SpreadFamily::subgrid;
  if (blocks && plan.sort.family == SortFamily::none)
    bad(fmt::format("spread={}: works on blocks of points, so sort=tiles(...) is needed",
                    name_of(spreads, plan.spread.family)));
  if (plan.interp.family == InterpFamily::tile && plan.sort.family == SortFamily::none)
    bad("interp=tile: works on tiles of points, so sort=tiles(...) is needed");
}

}  // namespace

std::string to_text(const Plan& plan, const Problem& problem) {
  std::string out = fmt::format("{};threads={}", plan.backend, plan.threads);
  for (const std::string& stage : stages_of(problem)) {
    if (stage == "fft") out += ";" + print_fft(plan.fft);
    if (stage == "type3")
      out += plan.type3 == Type3Rule::compose ? ";type3=compose"
                                              : ";type3=gaussian(r=" + text::shortest(plan.gaussian_r) + ")";
    if (plan.type3 == Type3Rule::gaussian && problem.type == 3 && (stage == "window" || stage == "inner")) continue;
    if (stage == "window") out += ";" + print_window("window", plan.window, problem);
    if (stage == "inner") out += ";" + print_window("inner", plan.inner, problem);
    if (stage == "sort") out += ";" + print_sort(plan.sort, problem);
    if (stage == "spread") out += ";" + print_spread(plan.spread);
    if (stage == "interp") out += ";" + print_interp(plan.interp);
    if (stage == "chunk" && problem.batch > 1) out += fmt::format(";chunk={}", plan.chunk);
  }
  return out;
}

Plan parse_plan(std::string_view plan_text, const Problem& problem) {
  if (plan_text.size() > 4096) bad("the text is longer than 4096 characters");
  auto parts = text::split(plan_text, ';');
  Plan plan;
  plan.backend = std::string(parts.front());
  if (plan.backend.empty() || plan.backend.find('=') != std::string::npos)
    bad(fmt::format("'{}': a plan starts with its backend, for example cpu;threads=2;...", parts.front()));
  const auto known = stages_of(problem);
  std::set<std::string> seen;
  for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
    StageText text(*part);
    const std::string& stage = text.stage();
    if (stage != "threads" && std::find(known.begin(), known.end(), stage) == known.end())
      bad(fmt::format("stage '{}' is not one of this problem; its stages are threads, {}", stage,
                      fmt::join(known, ", ")));
    if (!seen.insert(stage).second) bad(fmt::format("stage '{}' is given twice", stage));
    const auto plain_number = [&](int least, int most) {
      const auto value = text::number<int>(text.family());
      if (!value || *value < least || *value > most)
        bad(fmt::format("{}={}: a whole number from {} to {} is needed", stage, text.family(), least, most));
      return *value;
    };
    if (stage == "threads") plan.threads = plain_number(1, 4096);
    if (stage == "chunk") plan.chunk = plain_number(1, 1 << 20);
    if (stage == "fft") plan.fft = parse_fft(text, problem);
    if (stage == "window") plan.window = parse_window(text, problem, kMaxWidth);
    if (stage == "inner") plan.inner = parse_window(text, problem, kMaxWidth);
    if (stage == "sort") plan.sort = parse_sort(text, problem);
    if (stage == "spread") plan.spread = parse_spread(text);
    if (stage == "interp") plan.interp = parse_interp(text);
    if (stage == "type3") {
      if (text.family() != "compose" && text.family() != "gaussian")
        bad(fmt::format("type3={}: allowed are compose, gaussian", text.family()));
      plan.type3 = text.family() == "compose" ? Type3Rule::compose : Type3Rule::gaussian;
      if (plan.type3 == Type3Rule::gaussian) {
        plan.gaussian_r = text.number<double>("r", 2.0, 8.0);
        if (!(plan.gaussian_r > 2)) bad("type3=gaussian: r must be strictly above 2");
      }
    }
    text.finish();
  }
  const bool gaussian = problem.kind == Kind::nufft && problem.type == 3 && plan.type3 == Type3Rule::gaussian;
  for (const std::string& stage : known) {
    const bool optional = stage == "chunk" || stage == "type3" || (gaussian && (stage == "window" || stage == "inner"));
    if (!optional && !seen.contains(stage)) bad(fmt::format("stage '{}' is missing", stage));
    if (gaussian && (stage == "window" || stage == "inner") && seen.contains(stage))
      bad(fmt::format("type3=gaussian fixes its windows; leave stage '{}' out", stage));
  }
  if (problem.kind == Kind::nufft) check_families(plan);
  return plan;
}

}  // namespace fourtune::generator
