// Text of the stages that only plans for GPU backends have (gpu_plan.h).
#include <algorithm>

#include "generator/plan/plan_text.h"

namespace fourtune::generator::plan_text {
namespace {

constexpr std::string_view kNotation = "interleaved";
constexpr Spelling<nufft::RecordOrder> orders[] = {
    {nufft::RecordOrder::caller, "caller"}, {nufft::RecordOrder::bins, "bins"}, {nufft::RecordOrder::slide, "slide"}};
constexpr Spelling<nufft::Placement> placements[] = {{nufft::Placement::scatter, "scatter"},
                                                     {nufft::Placement::fetch, "fetch"},
                                                     {nufft::Placement::staged, "staged"},
                                                     {nufft::Placement::two_level, "two_level"},
                                                     {nufft::Placement::index, "index"}};

template <class Family, std::size_t N>
Family family_of(const nufft::FamilyTraits (&table)[N], const std::string& stage, const std::string& name) {
  Spelling<Family> spellings[N];
  for (std::size_t f = 0; f < N; ++f) spellings[f] = {static_cast<Family>(f), table[f].name};
  return value_of(spellings, stage, name);
}

std::string print_fft(const GpuFftChoice& fft) {
  switch (fft.family) {
    case GpuFftFamily::cufft:
      return "fft=cufft";
    case GpuFftFamily::plain:
      return "fft=plain";
    case GpuFftFamily::interleaved:
      break;
  }
  return fmt::format("fft={}{}", kNotation, fft::to_text(fft.plan));
}

// The transform that a plan in the notation must fit: the problem itself, or that of a nufft's fine grid.
Problem transform_of(const Problem& problem, const WindowChoice& window) {
  if (problem.kind == Kind::fft) return problem;
  Problem fine;
  fine.kind = Kind::fft;
  fine.dim = problem.dim;
  fine.n = window.fine;
  fine.precision = problem.precision;
  fine.place = Place::in;
  return fine;
}

GpuFftChoice parse_fft(StageText& text) {
  GpuFftChoice fft;
  const std::string& family = text.family();
  if (family == "cufft") {
    fft.family = GpuFftFamily::cufft;
  } else if (family == "plain") {
    fft.family = GpuFftFamily::plain;
  } else if (family.starts_with(std::string(kNotation) + "{")) {
    fft.family = GpuFftFamily::interleaved;
    fft.plan = fft::parse_notation(std::string_view(family).substr(kNotation.size()));
  } else {
    bad(fmt::format("fft={}: allowed are cufft, plain, {}{{X(...),...}}[...]...", text::shown(family), kNotation));
  }
  return fft;
}

void check_fft(const GpuFftChoice& fft, const Problem& transform) {
  if (fft.family == GpuFftFamily::cufft && transform.order != SpectrumOrder::natural)
    bad(fmt::format("fft=cufft: cuFFT knows the natural order only, the problem asks for order={}",
                    to_string(transform.order)));
  if (fft.family != GpuFftFamily::interleaved) return;
  if (const auto wrong = fft::check(fft.plan, transform); !wrong.empty()) bad("fft: " + wrong.front().message);
  if (!fft::bound(fft.plan)) bad("fft: every kernel needs threads and a tile, as {...}[threads=256,tile=16]");
}

// Prints the keys of a sort; `stage` is "sort", or "targets" in type 3.
std::string print_sort(const char* stage, const nufft::Parameters& with, const Problem& problem) {
  if (with.order == nufft::RecordOrder::caller) return fmt::format("{}=none", stage);
  std::string out = fmt::format("{}=bins(bin={},order={},placement={},cap={}", stage, sizes_text(with.bin, problem.dim),
                                name_of(orders, with.order), name_of(placements, with.placement), with.cap);
  if (with.segment) out += fmt::format(",segment={}", with.segment);
  if (with.slice) out += fmt::format(",slice={}", with.slice);
  return out + ")";
}
void parse_sort(StageText& text, nufft::Parameters& with, const Problem& problem) {
  with.bin = {1, 1, 1};
  if (text.family() == "none") {
    with.order = nufft::RecordOrder::caller;
    return;
  }
  if (text.family() != "bins")
    bad(fmt::format("{}={}: allowed are none, bins", text.stage(), text::shown(text.family())));
  with.bin = text.sizes<int>("bin", problem.dim, 1, 4096);
  with.order = nufft::RecordOrder::bins;
  if (const auto order = text.take("order")) with.order = value_of(orders, text.stage() + ": order", *order);
  if (with.order == nufft::RecordOrder::caller)
    bad(text.stage() + ": order=caller is written " + text.stage() + "=none");
  if (const auto placement = text.take("placement"))
    with.placement = value_of(placements, text.stage() + ": placement", *placement);
  with.cap = text.number<int>("cap", nufft::kLeastCap, nufft::kMostCap, with.cap);
  with.segment = text.number<int>("segment", 0, 16384, 0);
  with.slice = text.number<int>("slice", 0, 1 << 30, 0);
}

std::string print_kernel(const char* stage, const char* family, const nufft::Parameters& with) {
  return fmt::format(
      "{}={}(lanes={},warps={},unroll={},run={},split={},blocks={}{}{})", stage, family, with.lanes, with.warps,
      with.unroll, with.run, with.split, with.min_blocks, with.fold ? ",fold=1" : "",
      with.group > 1 ? fmt::format(",group={}{}", with.group, with.interleave ? ",interleave=1" : "") : "");
}
// The published methods have one parameter.
std::string print_published(const char* stage, const char* family, const nufft::Parameters& with) {
  return fmt::format("{}={}(warps={})", stage, family, with.warps);
}
void parse_published(StageText& text, nufft::Parameters& with) {
  with.lanes = 1;
  with.warps = text.number<int>("warps", 1, 16, nufft::kPublishedWarps);
}
void parse_kernel(StageText& text, nufft::Parameters& with) {
  const nufft::Parameters usual;
  with.lanes = text.number<int>("lanes", 1, 32, usual.lanes);
  with.warps = text.number<int>("warps", 1, 32, usual.warps);
  with.unroll = text.number<int>("unroll", 1, 16, usual.unroll);
  with.run = text.number<int>("run", 1, 2, usual.run);
  with.split = text.number<int>("split", 1, 2, usual.split);
  with.fold = text.number<int>("fold", 0, 1, 0) == 1;
  with.min_blocks = text.number<int>("blocks", 0, 32, usual.min_blocks);
  with.group = text.number<int>("group", 1, 32, usual.group);
  with.interleave = text.number<int>("interleave", 0, 1, 0) == 1;
  if (with.interleave && with.group == 1) bad(text.stage() + ": interleave=1 is for groups, as group=8");
}

std::vector<std::string> gpu_stages_of(const Problem& problem) {
  if (problem.kind == Kind::fft) return {"fft"};
  if (problem.type == 3) return {"type3", "window", "inner", "sort", "targets", "spread", "interp", "fft", "chunk"};
  return {"window", "sort", "spread", "interp", "fft", "chunk"};
}

}  // namespace

std::string gpu_to_text(const Plan& plan, const Problem& problem) {
  std::string out = plan.backend;
  const auto& [fft, points] = plan.gpu();
  const bool gaussian = plan.type3 == Type3Rule::gaussian && problem.type == 3;
  for (const std::string& stage : gpu_stages_of(problem)) {
    if (stage == "fft") out += ";" + print_fft(fft);
    if (stage == "type3") out += ";" + print_type3(plan);
    if (stage == "window" && !gaussian) out += ";" + print_window("window", plan.window, problem);
    if (stage == "inner" && !gaussian) out += ";" + print_window("inner", plan.inner, problem);
    if (stage == "sort") out += ";" + print_sort("sort", points.spread_with, problem);
    if (stage == "targets") out += ";" + print_sort("targets", points.interp_with, problem);
    if (stage == "spread")
      out += ";" + (nufft::is_published(points.spread) ? print_published : print_kernel)(
                       "spread", traits_of(points.spread).name, points.spread_with);
    if (stage == "interp")
      out += ";" + (nufft::is_published(points.interp) ? print_published : print_kernel)(
                       "interp", traits_of(points.interp).name, points.interp_with);
    if (stage == "chunk" && problem.batch > 1) out += fmt::format(";chunk={}", plan.chunk);
  }
  return out;
}

Plan parse_gpu_plan(std::string_view plan_text, const Problem& problem) {
  Plan plan;
  GpuStages& stages = plan.stages.emplace<GpuStages>();
  GpuPointsChoice& points = stages.points;
  const auto known = gpu_stages_of(problem);
  std::set<std::string> seen;
  plan.backend = for_each_stage(plan_text, known, seen, [&](StageText& text) {
    const std::string& stage = text.stage();
    if (stage == "fft") stages.fft = parse_fft(text);
    if (stage == "type3") parse_type3(text, plan);
    if (stage == "window") plan.window = parse_window(text, problem);
    if (stage == "inner") plan.inner = parse_window(text, problem);
    if (stage == "sort") parse_sort(text, points.spread_with, problem);
    if (stage == "targets") parse_sort(text, points.interp_with, problem);
    if (stage == "spread") {
      points.spread = family_of<nufft::Spread>(nufft::kSpreads, stage, text.family());
      (nufft::is_published(points.spread) ? parse_published : parse_kernel)(text, points.spread_with);
    }
    if (stage == "interp") {
      points.interp = family_of<nufft::Interpolate>(nufft::kInterpolates, stage, text.family());
      (nufft::is_published(points.interp) ? parse_published : parse_kernel)(text, points.interp_with);
    }
    if (stage == "chunk") plan.chunk = plain_number(text, 1, 1 << 20);
  });
  check_stages(plan, problem, known, seen);
  // Points in the caller's order have a placement for gm alone.
  if (points.spread == nufft::Spread::gm) points.spread_with.placement = nufft::Placement::index;
  if (points.interp == nufft::Interpolate::gm) points.interp_with.placement = nufft::Placement::index;
  if (problem.kind == Kind::nufft && problem.type == 3 &&
      std::max(points.spread_with.group, points.interp_with.group) > 1)
    bad("group: type 3 takes one transform at a time; choose group=1");
  if (problem.kind == Kind::nufft && problem.type != 3) {
    const nufft::Parameters& sort = points.spread_with;
    points.interp_with.order = sort.order;
    points.interp_with.bin = sort.bin;
    points.interp_with.cap = sort.cap;
    points.interp_with.placement = sort.placement;
    points.interp_with.segment = sort.segment;
    points.interp_with.slice = sort.slice;
  }
  // The grid of a type 3 is known only once the points are set, so there the backend checks the notation.
  if (problem.kind == Kind::fft || problem.type != 3) check_fft(stages.fft, transform_of(problem, plan.window));
  return plan;
}

}  // namespace fourtune::generator::plan_text
