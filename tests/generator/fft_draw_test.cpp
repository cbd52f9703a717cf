// Drawings and reports of plans are well-formed and complete, and contain the numbers of the geometry.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "base/known_devices.h"
#include "generator/planner/gpu_fft/draw.h"
#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/gpu_fft/published_plans.h"
#include "tests/support/fft_plans.h"
#include "tests/support/golden.h"

namespace fourtune::generator::fft {
namespace {

// Every element is closed, in order, and no text needs escaping.
void expect_well_formed(const std::string& svg) {
  static const std::regex tag("<(/?)([a-z]+)([^<>]*?)(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator at(svg.begin(), svg.end(), tag), end; at != end; ++at) {
    if ((*at)[4].length() != 0) continue;
    if ((*at)[1].length() == 0) {
      open.push_back((*at)[2]);
      continue;
    }
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(open.back(), (*at)[2]);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(svg.find('&'), std::string::npos);
  EXPECT_EQ(svg.rfind("<svg ", 0), 0U);
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Header "3 h200": number of a paper's plan, and a device. Both texts whole, as digests.
std::string drawn(const std::string& header) {
  const auto space = header.find(' ');
  const auto device = *known_device(header.substr(space + 1));
  const FftPlan given = parse_fft_plan(corrected(published_plans().at(std::stoul(header.substr(0, space)))));
  const FftPlan plan = bind(given, device);
  std::string text = header;
  for (const std::string& one :
       {to_svg(plan), to_svg(plan, &device), to_svg(given), report(plan), report(plan, &device)}) {
    test::Digest digest;
    digest.add(one);
    text += "\n  " + digest.text();
  }
  return text + "\n";
}

TEST(FftDrawing, IsAsRecorded) { test::GoldenFile("drawings.txt", drawn).compare(0, 1); }

TEST(FftDrawing, ShowsEveryKernelItsDigitsAndTheBytes) {
  const auto device = *known_device("h200");
  for (const auto& paper : published_plans()) {
    const auto plan = bind(parse_fft_plan(corrected(paper)), device);
    const auto svg = to_svg(plan, &device);
    expect_well_formed(svg);
    std::size_t subs = 0;
    for (const Kernel& kernel : plan.kernels) {
      subs += kernel.subs.size();
      for (const SubFft& sub : kernel.subs) EXPECT_NE(svg.find(to_text(sub)), std::string::npos);
    }
    const auto coloured = occurrences(svg, "#3b7dd8") + occurrences(svg, "#d9822b") + occurrences(svg, "#3a9e5f");
    EXPECT_EQ(coloured, subs) << paper.section;  // each digit is processed once
    EXPECT_EQ(occurrences(svg, ">kernel "), plan.kernels.size());
    const double megabytes = 16e-6 * static_cast<double>(paper.lengths[0] * paper.lengths[1] *
                                                         paper.lengths[2]);  // a kernel reads and writes all values
    EXPECT_EQ(occurrences(svg, fmt::format(">{:.4g} MB<", megabytes)) +
                  occurrences(svg, fmt::format(">{:.4g} GB<", megabytes / 1e3)),
              plan.kernels.size());
    EXPECT_NE(svg.find("NVIDIA H200"), std::string::npos);
  }
}

TEST(FftDrawing, RandomPlansAreDrawnAndReported) {
  std::mt19937 random(99);
  for (int i = 0; i < 100; ++i) {
    const auto plan = test::random_plan(random, {.dims = 3, .elements = 1 << 16, .bound = i % 2 == 0});
    expect_well_formed(to_svg(plan));
    EXPECT_EQ(report(plan).rfind(to_text(plan) + "\n", 0), 0U);
  }
}

TEST(FftReport, HasTheNumbersOfTheTwoPassPlan) {
  const auto plan = parse_fft_plan(
      "{X(16,16,16,256,tw),X(16,16,1,16,no-tw),Y(32,8,32,256,tw),Y(32,8,4,32,tw)}"
      "[threads=512,tile=1,parts=apart,banks=swizzle,store=sorted]"
      "{Y(64,4,1,4,no-tw),Z(16,16,16,256,tw),Z(16,16,1,16,no-tw)}"
      "[threads=512,tile=16,parts=apart,banks=swizzle,load=bulk,pipeline=1]:order=natural");
  const auto device = *known_device("h200");
  const auto text = report(plan, &device);
  for (const char* words : {
           "256x256x256 f32, natural order, place=out, 2 passes\n",
           "kernel 1: input -> output, 268.4 MB",
           "kernel 2: output -> output, 268.4 MB",
           "Y(32,8,4,32,tw): 32 DFTs of 8 along Y, 4 apart, twiddles of 32\n",
           "tile 256x64x1 (131.1 kB), 512 threads x 32 values, 65.54 kB shared",
           "runs of 2.048 kB read, 131.1 kB written\n",
           "tile 16x4x256 (131.1 kB), 512 threads x 32 values, 196.6 kB shared",
           "runs of 128 B read, 128 B written\n",
           "loads bulk, landing buffers 1",
           "floor on NVIDIA H200: 125.9 us (bytes 124.3 us",
       })
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  const auto small = *known_device("t4");
  EXPECT_NE(report(plan, &small).find("does not fit: rule capability: kernel 2"), std::string::npos);
}

}  // namespace
}  // namespace fourtune::generator::fft
