// Plan text: printing, and parsing with range checks. The grammar is in plan.h.
#include "generator/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generator/plan/along.h"
#include "generator/plan/plan_text.h"

namespace fourtune::generator {
using namespace plan_text;
namespace {

constexpr Spelling<Rigor> rigors[] = {
    {Rigor::estimate, "estimate"}, {Rigor::measure, "measure"}, {Rigor::patient, "patient"}};
constexpr Spelling<FftFamily> fft_families[] = {
    {FftFamily::fftw, "fftw"}, {FftFamily::rows, "rows"}, {FftFamily::pruned, "pruned"}, {FftFamily::along, "along"}};
constexpr Spelling<SortFamily> sorts[] = {{SortFamily::none, "none"}, {SortFamily::tiles, "tiles"}};
constexpr Spelling<AddRule> adds[] = {{AddRule::lock, "lock"}, {AddRule::colour, "colour"}};
constexpr Spelling<InterpFamily> interps[] = {{InterpFamily::direct, "direct"}, {InterpFamily::tile, "tile"}};
// ---- stages -------------------------------------------------------------------------------------------------------
std::string print_fft(const FftChoice& fft) {
  if (fft.family == FftFamily::along) return "fft=along";
  std::string out = fmt::format("fft={}(rigor={}", name_of(fft_families, fft.family), name_of(rigors, fft.rigor));
  if (fft.family != FftFamily::fftw) out += fmt::format(",block={}", fft.block);
  return out + ")";
}
FftChoice parse_fft(StageText& text, const Problem& problem) {
  FftChoice fft;
  fft.family = value_of(fft_families, "fft", text.family());
  if (problem.kind == Kind::fft && fft.family == FftFamily::pruned)
    bad("fft=pruned: only a nufft has lines to skip; allowed are fftw, rows, along");
  if (fft.family == FftFamily::along) {
    if (along_length(problem) == 0)
      bad("fft=along: takes lines without gaps in one dimension, of up to 65536 values and factors up to 16 (of real lines "
          "half as many, in pairs)");
    return fft;
  }
  if (problem.kind == Kind::nufft && fft.family == FftFamily::rows) bad("fft=rows: a nufft takes pruned (or fftw)");
  if (const auto rigor = text.take("rigor")) fft.rigor = value_of(rigors, "fft: rigor", *rigor);
  if (fft.family != FftFamily::fftw) fft.block = text.number<int>("block", 1, 4096, 64);
  return fft;
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

// Reads a prefetch distance; nothing if it is the usual one.
std::optional<int> parse_prefetch(StageText& text, int usual) {
  const int distance = text.number<int>("prefetch", 0, kMostPrefetch, usual);
  return distance == usual ? std::nullopt : std::optional(distance);
}

std::string print_spread(const SpreadChoice& spread) {
  const Spreader& is = spreader_of(spread.family);
  std::string out = fmt::format("spread={}", is.name), with;
  if (is.private_tiles) with = fmt::format("cap={},add={}", spread.cap, name_of(adds, spread.add));
  if (spread.prefetch) with += fmt::format("{}prefetch={}", with.empty() ? "" : ",", *spread.prefetch);
  return with.empty() ? out : fmt::format("{}({})", out, with);
}
SpreadChoice parse_spread(StageText& text) {
  SpreadChoice spread;
  Spelling<SpreadFamily> spreads[kSpreadFamilies];
  for (int f = 0; f < kSpreadFamilies; ++f) spreads[f] = {static_cast<SpreadFamily>(f), kSpreaders[f].name};
  spread.family = value_of(spreads, "spread", text.family());
  if (may_prefetch(spread.family)) spread.prefetch = parse_prefetch(text, usual_prefetch(spread.family));
  if (!spreader_of(spread.family).private_tiles) return spread;
  spread.cap = text.number<int>("cap", 1, 1 << 30);
  if (const auto add = text.take("add")) spread.add = value_of(adds, "spread: add", *add);
  return spread;
}

std::string print_interp(const InterpChoice& interp) {
  const std::string with = interp.prefetch ? fmt::format("prefetch={}", *interp.prefetch) : std::string();
  if (interp.family == InterpFamily::direct)
    return with.empty() ? "interp=direct" : fmt::format("interp=direct({})", with);
  return fmt::format("interp=tile(cap={}{}{})", interp.cap, with.empty() ? "" : ",", with);
}
InterpChoice parse_interp(StageText& text) {
  InterpChoice interp;
  interp.family = value_of(interps, "interp", text.family());
  if (interp.family == InterpFamily::tile) interp.cap = text.number<int>("cap", 1, 1 << 30);
  interp.prefetch = parse_prefetch(text, kUsualPrefetch);
  return interp;
}

// Returns every stage that plans of this problem have, in printing order.
std::vector<std::string> cpu_stages_of(const Problem& problem) {
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

void check_families(const CpuStages& stages) {
  const bool sorted = stages.sort.family != SortFamily::none;
  const Spreader& spreader = spreader_of(stages.spread.family);
  if (!spreader.unsorted && !sorted)
    bad(fmt::format("spread={}: works on blocks of points, so sort=tiles(...) is needed", spreader.name));
  if (stages.interp.family == InterpFamily::tile && !sorted)
    bad("interp=tile: works on tiles of points, so sort=tiles(...) is needed");
  if (stages.interp.prefetch && !sorted)
    bad("interp: prefetch: points in the caller's order need none; leave it out, or sort=tiles(...)");
}

}  // namespace

Window window_of(const WindowChoice& choice) {
  if (choice.beta > 0) return Window(choice.kind, choice.width, choice.sigma, choice.beta);
  return Window(choice.kind, choice.width, choice.sigma);
}

double semicircle_of(const WindowChoice& choice) {
  if (choice.kind != WindowKind::exp_semicircle) return 0;
  return choice.beta > 0 ? choice.beta : beta_rule(choice.kind, choice.width, choice.sigma);
}

void set_prefetch(SpreadChoice& spread, InterpChoice& interp, bool sorted, int distance) {
  spread.prefetch.reset(), interp.prefetch.reset();
  if (may_prefetch(spread.family) && distance != usual_prefetch(spread.family)) spread.prefetch = distance;
  if (sorted && distance != kUsualPrefetch) interp.prefetch = distance;
}

Plan plan_for(std::string_view backend) {
  Plan plan;
  plan.backend = backend;
  if (is_gpu(backend)) plan.stages = GpuStages{};
  return plan;
}

std::string to_text(const Plan& plan, const Problem& problem) {
  if (is_gpu(plan.backend)) return gpu_to_text(plan, problem);
  const CpuStages& stages = plan.cpu();
  std::string out = fmt::format("{};threads={}", plan.backend, stages.threads);
  for (const std::string& stage : cpu_stages_of(problem)) {
    if (stage == "fft") out += ";" + print_fft(stages.fft);
    if (stage == "type3") out += ";" + print_type3(plan);
    if (plan.type3 == Type3Rule::gaussian && problem.type == 3 && (stage == "window" || stage == "inner")) continue;
    if (stage == "window") out += ";" + print_window("window", plan.window, problem);
    if (stage == "inner") out += ";" + print_window("inner", plan.inner, problem);
    if (stage == "sort") out += ";" + print_sort(stages.sort, problem);
    if (stage == "spread") out += ";" + print_spread(stages.spread);
    if (stage == "interp") out += ";" + print_interp(stages.interp);
    if (stage == "chunk" && problem.batch > 1) out += fmt::format(";chunk={}", plan.chunk);
  }
  return out;
}

Plan parse_plan(std::string_view plan_text, const Problem& problem) {
  if (plan_text.size() > 4096) bad("the text is longer than 4096 characters");
  if (is_gpu(plan_text.substr(0, plan_text.find(';')))) return parse_gpu_plan(plan_text, problem);
  Plan plan;
  CpuStages& stages = plan.cpu();
  auto known = cpu_stages_of(problem);
  known.insert(known.begin(), "threads");
  std::set<std::string> seen;
  plan.backend = for_each_stage(plan_text, known, seen, [&](StageText& text) {
    const std::string& stage = text.stage();
    if (stage == "threads") stages.threads = plain_number(text, 1, 4096);
    if (stage == "chunk") plan.chunk = plain_number(text, 1, 1 << 20);
    if (stage == "fft") stages.fft = parse_fft(text, problem);
    if (stage == "window") plan.window = parse_window(text, problem);
    if (stage == "inner") plan.inner = parse_window(text, problem);
    if (stage == "sort") stages.sort = parse_sort(text, problem);
    if (stage == "spread") stages.spread = parse_spread(text);
    if (stage == "interp") stages.interp = parse_interp(text);
    if (stage == "type3") parse_type3(text, plan);
  });
  check_stages(plan, problem, cpu_stages_of(problem), seen);
  if (problem.kind == Kind::nufft) check_families(stages);
  return plan;
}

}  // namespace fourtune::generator
