#include "generator/planner/gpu_fft/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "generator/plan/fft/geometry.h"
#include "generator/plan/fft/notation_keys.h"
#include "generator/planner/gpu_fft/plan_cost.h"

namespace fourtune::generator::fft {
namespace {

// Formats a value with four significant digits and a unit: "268.4 MB", "62.14 us". Units are decimal, as for
// bandwidths.
std::string scaled(double value, const std::vector<std::pair<double, const char*>>& units) {
  for (const auto& [unit, name] : units)
    if (value >= unit || &name == &units.back().second) {
      const double number = value / unit;
      const int digits = std::max(0, 3 - (number >= 1 ? static_cast<int>(std::log10(number)) : 0));
      const double rounded = std::round(number * std::pow(10, digits)) / std::pow(10, digits);
      return text::shortest(rounded) + " " + name;
    }
  return {};
}
std::string bytes_text(double bytes) {
  return scaled(bytes, {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}});
}
std::string time_text(double seconds) { return scaled(seconds, {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}}); }
std::string flops_text(double flops) {
  return scaled(flops, {{1e12, "Tflop"}, {1e9, "Gflop"}, {1e6, "Mflop"}, {1e3, "kflop"}, {1, "flop"}});
}

std::string array_name(const FftPlan& plan, int after) {
  if (after == 0) return plan.place == Place::in ? "data" : "input";
  if (plan.kernels[static_cast<std::size_t>(after - 1)].with.to == Target::work) return "workspace";
  return plan.place == Place::in ? "data" : "output";
}

std::string lengths_text(const FftPlan& plan) {
  const auto n = lengths(plan);
  std::string out = fmt::format("{}", n[0]);
  for (int d = 1; d < rank(plan); ++d) out += fmt::format("x{}", n[static_cast<std::size_t>(d)]);
  return out;
}

double complex_bytes(const FftPlan& plan) { return static_cast<double>(2 * real_bytes(plan.precision)); }

// Describes a tile of the kernel in words.
std::string tile_words(const FftPlan& plan, int k) {
  const auto g = geometry(plan, k);
  const auto& with = plan.kernels[static_cast<std::size_t>(k)].with;
  std::string extent;
  for (int d = 0; d < rank(plan); ++d) {
    const auto& dim = g.dims[static_cast<std::size_t>(d)];
    extent += fmt::format("{}{}", extent.empty() ? "" : "x", dim.transformed * dim.carried);
  }
  if (g.batch_carried > 1) extent += fmt::format(", {} transforms", g.batch_carried);
  return fmt::format("tile {} ({}), {} threads x {} values, {} shared{}", extent,
                     bytes_text(static_cast<double>(g.tile_elements) * complex_bytes(plan)), with.threads,
                     g.elements_per_thread, bytes_text(static_cast<double>(shared_bytes(plan, k))),
                     with.cluster > 1 ? fmt::format(", clusters of {}", with.cluster) : "");
}

std::string runs_words(const FftPlan& plan, int k) {
  const auto g = geometry(plan, k);
  return fmt::format("runs of {} read, {} written", bytes_text(g.read_run * complex_bytes(plan)),
                     bytes_text(g.write_run * complex_bytes(plan)));
}

// ---- the drawing ---------------------------------------------------------------------------------------------------
constexpr int width = 960, margin = 150, row = 150, bar = 22, gap = 28, top = 64;
constexpr const char* colours[] = {"#3b7dd8", "#d9822b", "#3a9e5f", "#8e5bb5"};  // x, y, z, w

class Drawing {
 public:
  Drawing(const FftPlan& plan, const DeviceTraits* device) : plan_(plan), device_(device) {}

  std::string make() {
    const int kernels = static_cast<int>(plan_.kernels.size());
    const int height = top + kernels * row + 50;
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        width, height);
    words(16, 26, 16,
          fmt::format("FFT {} {} {} order, {} {}", lengths_text(plan_), to_string(plan_.precision),
                      name_of(orders, plan_.order), kernels, kernels == 1 ? "pass" : "passes"));
    words(16, 46, 12, summary());
    for (int k = 0; k < kernels; ++k) kernel_row(k, top + k * row);
    array(kernels, top + kernels * row);
    return out_ + "</svg>\n";
  }

 private:
  void words(int x, int y, int size, const std::string& what, const char* anchor = "start",
             const char* colour = "#222") {
    out_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y,
                        size, anchor, colour, what);
  }

  std::string summary() const {
    const double kernels = static_cast<double>(plan_.kernels.size());
    std::string out = fmt::format("moves {}", bytes_text(kernels * static_cast<double>(kernel_bytes(plan_))));
    if (uses_workspace(plan_))
      out += fmt::format(", workspace {}", bytes_text(static_cast<double>(kernel_bytes(plan_)) / 2));
    if (device_ != nullptr)
      out += fmt::format(", floor {} on {}", time_text(floors(plan_, *device_).total), device_->name);
    return out;
  }

  void array(int after, int y) {
    const double bytes = static_cast<double>(kernel_bytes(plan_)) / 2;
    out_ += fmt::format("<rect x=\"16\" y=\"{}\" width=\"{}\" height=\"20\" rx=\"4\" fill=\"#eee\" stroke=\"#999\"/>\n",
                        y, width - 32);
    words(26, y + 14, 12, fmt::format("{}, {}", array_name(plan_, after), bytes_text(bytes)));
  }

  void kernel_row(int k, int y) {
    array(k, y);
    const Kernel& kernel = plan_.kernels[static_cast<std::size_t>(k)];
    words(16, y + 44, 13, fmt::format("kernel {}", k + 1));
    words(16, y + 62, 11, bytes_text(static_cast<double>(kernel_bytes(plan_))), "start", "#555");
    words(16, y + 78, 11, flops_text(kernel_flops(plan_, k)), "start", "#555");
    const int dims = rank(plan_);
    const int each = (width - margin - 16 - (dims - 1) * gap) / dims;
    for (int d = 0; d < dims; ++d) digits(k, d, margin + d * (each + gap), y + 34, each);
    int line = y + 34 + bar + 20;
    std::string subs;
    for (std::size_t i = 0; i < kernel.subs.size(); ++i) {
      subs += (subs.empty() ? "" : ", ") + to_text(kernel.subs[i]);
      if (subs.size() < 110 && i + 1 < kernel.subs.size()) continue;
      words(margin, line, 11, subs);
      subs.clear();
      line += 16;
    }
    if (kernel.with.threads != 0 && kernel.with.tile[0] != 0)
      words(margin, line, 11, tile_words(plan_, k) + "; " + runs_words(plan_, k), "start", "#555");
    out_ += fmt::format("<path d=\"M{0} {1} v{2} m-4 -6 l4 6 l4 -6\" fill=\"none\" stroke=\"#999\"/>\n", width / 2,
                        y + 122, 22);
  }

  // Draws the digits of one dimension, each as wide as its number of bits.
  void digits(int k, int d, int x, int y, int each) {
    const double all = std::log2(static_cast<double>(lengths(plan_)[static_cast<std::size_t>(d)]));
    double at = x;
    for (int other = 0; other < static_cast<int>(plan_.kernels.size()); ++other)
      for (const SubFft& sub : plan_.kernels[static_cast<std::size_t>(other)].subs) {
        if (index(sub.dim) != d) continue;
        const double wide = each * std::log2(static_cast<double>(sub.radix)) / all;
        const char* fill = other == k ? colours[d] : other < k ? "#cccccc" : "#ffffff";
        out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#777\"/>\n",
                            text::shortest(std::round(at * 10) / 10), y, text::shortest(std::round(wide * 10) / 10),
                            bar, fill);
        words(static_cast<int>(at + wide / 2), y + 15, 11, fmt::format("{}{}", letter_upper(sub.dim), sub.radix),
              "middle", other == k ? "#fff" : "#444");
        at += wide;
      }
  }

  const FftPlan& plan_;
  const DeviceTraits* device_;
  std::string out_;
};

std::string kernel_report(const FftPlan& plan, int k, const DeviceTraits* device) {
  const Kernel& kernel = plan.kernels[static_cast<std::size_t>(k)];
  std::string out = fmt::format("kernel {}: {} -> {}, {}, {}\n", k + 1, array_name(plan, k), array_name(plan, k + 1),
                                bytes_text(static_cast<double>(kernel_bytes(plan))), flops_text(kernel_flops(plan, k)));
  for (const SubFft& sub : kernel.subs)
    out += fmt::format("  {}: {} DFTs of {} along {}, {} apart{}\n", to_text(sub), sub.count, sub.radix,
                       letter_upper(sub.dim), sub.stride, sub.twiddle ? fmt::format(", twiddles of {}", sub.n) : "");
  if (kernel.with.threads == 0 || kernel.with.tile[0] == 0) return out;
  out += fmt::format("  {}; {}\n", tile_words(plan, k), runs_words(plan, k));
  out += fmt::format(
      "  exchange {}, {}, banks {}; twiddles {}; loads {}{}{}; about {} registers per thread\n",
      name_of(exchanges, kernel.with.exchange), name_of(parts_names, kernel.with.parts),
      name_of(banks_names, kernel.with.banks), name_of(twiddles, kernel.with.twiddle), name_of(loads, kernel.with.load),
      kernel.with.pipeline > 0 ? fmt::format(", landing buffers {}", kernel.with.pipeline) : "",
      kernel.with.cache != Cache::all ? fmt::format(", cache {}", name_of(caches, kernel.with.cache)) : "",
      registers_estimate(plan, k));
  if (device != nullptr)
    out += fmt::format("  blocks on a multiprocessor {}, estimate {}\n", resident_blocks(plan, k, *device),
                       time_text(kernel_seconds(plan, k, *device)));
  return out;
}

}  // namespace

std::string to_svg(const FftPlan& plan, const DeviceTraits* device) { return Drawing(plan, device).make(); }

std::string report(const FftPlan& plan, const DeviceTraits* device) {
  std::string out = fmt::format(
      "{}\n{} {}, {} order, place={}, {} {}{}\n", to_text(plan), lengths_text(plan), to_string(plan.precision),
      name_of(orders, plan.order), to_string(plan.place), plan.kernels.size(),
      plan.kernels.size() == 1 ? "pass" : "passes",
      uses_workspace(plan) ? fmt::format(", workspace {}", bytes_text(static_cast<double>(kernel_bytes(plan)) / 2))
                           : "");
  for (int k = 0; k < static_cast<int>(plan.kernels.size()); ++k) out += kernel_report(plan, k, device);
  if (device == nullptr) return out;
  const auto floor = floors(plan, *device);
  out += fmt::format("floor on {}: {} (bytes {}, flops {}, launches {})", device->name, time_text(floor.total),
                     time_text(floor.bytes), time_text(floor.flops), time_text(floor.launches));
  if (bound(plan)) out += fmt::format("; estimate {}", time_text(plan_seconds(plan, *device)));
  out += "\n";
  if (bound(plan))
    for (const auto& violation : check_device(plan, *device)) out += "does not fit: " + violation.message + "\n";
  return out;
}

}  // namespace fourtune::generator::fft
