// Correct kernels pass under every order of threads and blocks, and the faults of wrong kernels are found and named.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "tests/runtime/emulated_support.h"

namespace fourtune::runtime::emulated::testing {
namespace {

std::span<const float> floats(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / 4};
}

// A kernel with its arrays and its expected result.
struct Case {
  std::string name;
  GpuProgram program;
  std::vector<float> first, second, expected;

  std::string wrong(std::span<const std::byte> got) const {
    const auto values = floats(got);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!(std::abs(values[i] - expected[i]) <= 1e-4f * (1 + std::abs(expected[i]))))
        return "element " + std::to_string(i) + " is " + std::to_string(values[i]) + " and should be " +
               std::to_string(expected[i]);
    return {};
  }
  Case with_text(const std::string& text) const {
    Case other = *this;
    other.program.kernels[0].text = text;
    return other;
  }
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Case transposition_case() {
  Case c{"Transposition", transposition_program(), ramp(96 * 96), std::vector<float>(96 * 96), {}};
  for (int j = 0; j < 96; ++j)
    for (int i = 0; i < 96; ++i) c.expected.push_back(c.first[i * 96 + j]);
  return c;
}

Case reduction_case() {
  Case c{"Reduction", program_of(reduction(), 3), ramp(768), std::vector<float>(768), {}};
  for (int b = 0; b < 3; ++b) {
    const float sum = std::accumulate(c.first.begin() + b * 256, c.first.begin() + b * 256 + 256, 0.0f);
    for (int t = 0; t < 256; ++t) c.expected.push_back(sum + 1000.0f * static_cast<float>(256 - t));
  }
  return c;
}

Case exchange_case() {
  Case c{"Exchange", program_of(exchange(), 2), std::vector<float>(2 * 8 * 64), std::vector<float>(2 * 8 * 64), {}};
  for (std::size_t i = 0; i < c.first.size(); ++i) c.first[i] = std::sin(static_cast<float>(i * i % 97));
  c.expected.resize(c.first.size());
  for (int line = 0; line < 8; ++line)
    for (int k = 0; k < 64; ++k) {
      std::complex<double> sum = 0;
      for (int j = 0; j < 64; ++j)
        sum += std::complex<double>(c.first[2 * (line * 64 + j)], c.first[2 * (line * 64 + j) + 1]) *
               std::polar(1.0, -2 * std::numbers::pi * j * k / 64);
      c.expected[2 * (line * 64 + k)] = static_cast<float>(sum.real());
      c.expected[2 * (line * 64 + k) + 1] = static_cast<float>(sum.imag());
    }
  return c;
}

Case pipeline_case() {
  Case c{"Pipeline", program_of(pipeline(), 2, {5}), ramp(2 * 5 * 128), std::vector<float>(2 * 5 * 128), {}};
  for (const float value : c.first) c.expected.push_back(value + 1);
  return c;
}

Case bulk_case() {
  Case c{"BulkPipeline", program_of(bulk_pipeline(), 2, {5}), ramp(2 * 5 * 128), std::vector<float>(2 * 5 * 128), {}};
  for (int tile = 0; tile < 10; ++tile)
    for (int j = 0; j < 128; ++j) c.expected.push_back(c.first[tile * 128 + 127 - j]);
  return c;
}

std::vector<Case> all_cases() {
  return {transposition_case(), reduction_case(), exchange_case(), pipeline_case(), bulk_case()};
}

// What a plain run in some order reveals: a fault or a wrong result; empty if nothing.
std::string seen(const Case& c, const RunOptions& options) {
  try {
    std::vector<float> first = c.first, second = c.second;
    run_program(c.program, bytes_of(first), bytes_of(second), options);
    return c.wrong(std::as_bytes(std::span(second)));
  } catch (const KernelFault& fault) {
    return fault.what();
  }
}

std::string seen_in_some_order(const Case& c) {
  for (const ExecutionOrder order : {ExecutionOrder::forward, ExecutionOrder::reverse, ExecutionOrder::random})
    for (const CopyTiming landing : {CopyTiming::late, CopyTiming::random}) {
      RunOptions options;
      options.threads = order;
      options.copies = landing;
      std::string what = seen(c, options);
      if (!what.empty()) return what;
    }
  return {};
}

std::optional<KernelFault> instrumented_fault(const Case& c) {
  RunOptions options;
  options.instrumented = true;
  return fault_of(c.program, c.first, c.second, options);
}

class EveryKernel : public ::testing::TestWithParam<Case> {};

TEST_P(EveryKernel, IsRightInEveryOrderAndClean) {
  const Case& c = GetParam();
  const int runs = run_all_ways(c.program, std::as_bytes(std::span(c.first)), std::as_bytes(std::span(c.second)),
                                [&](auto, auto second) { return c.wrong(second); });
  EXPECT_GE(runs, 6);
}

TEST_P(EveryKernel, WithoutAnyOneBarrierIsFoundBothWays) {
  const Case& c = GetParam();
  int removed = 0;
  for (int which = 0;; ++which) {
    const std::string text = without(c.program.kernels[0].text, "__syncthreads();", which);
    if (text.empty()) break;
    ++removed;
    const Case broken = c.with_text(text);
    // In the pipeline's last tile no thread gets so far ahead that an order could show the barrier at its end.
    const std::string plain = seen_in_some_order(broken);
    EXPECT_NE(plain, "") << c.name << ": barrier " << which << " is not missed in any order";
    const auto fault = instrumented_fault(broken);
    ASSERT_TRUE(fault) << c.name << ": barrier " << which << " is not missed by the race checker";
    EXPECT_TRUE(fault->kind() == FaultKind::race || fault->kind() == FaultKind::uninitialised ||
                fault->kind() == FaultKind::early_read || fault->kind() == FaultKind::bad_mbarrier)
        << fault->what();
    EXPECT_GT(fault->place().line, 1) << fault->what();
  }
  EXPECT_GT(removed, 0);
}

TEST_P(EveryKernel, WithoutAnyOneWaitIsFound) {
  const Case& c = GetParam();
  for (const char* wait :
       {"fourtune_async_wait(1);", "fourtune_async_wait(0);", "fourtune_mbarrier_wait(full + i % 2, (int)(i / 2) & 1);",
        "if (i >= 2) fourtune_mbarrier_wait(empty + i % 2, (int)(i / 2 - 1) & 1);"}) {
    const std::string text = without(c.program.kernels[0].text, wait, 0);
    if (text.empty()) continue;
    EXPECT_NE(seen_in_some_order(c.with_text(text)), "") << wait;
    EXPECT_TRUE(instrumented_fault(c.with_text(text))) << wait;
  }
}

TEST_P(EveryKernel, WithSharedMemoryTooSmallIsFound) {
  Case c = GetParam();
  c.program.kernels[0].shared_bytes -= 32;
  RunOptions options;
  const auto fault = fault_of(c.program, c.first, c.second, options);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind(), FaultKind::out_of_bounds);
  EXPECT_NE(std::string(fault->what()).find("shared memory"), std::string::npos) << fault->what();
}

TEST_P(EveryKernel, PastTheEndOfAnArrayIsFound) {
  for (const bool which : {false, true}) {
    Case c = GetParam();
    std::vector<float>& array = which ? c.first : c.second;
    // Instrumented kernels know the end to the byte, others only to the widest access of a thread.
    array.pop_back();
    const auto exact = instrumented_fault(c);
    ASSERT_TRUE(exact);
    array.resize(array.size() - 3);
    const auto fault = fault_of(c.program, c.first, c.second, {});
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind(), FaultKind::out_of_bounds);
    EXPECT_NE(std::string(fault->what()).find(which ? "first array" : "second array"), std::string::npos)
        << fault->what();
    EXPECT_GT(fault->place().line, 1) << fault->what();
    EXPECT_EQ(exact->kind(), FaultKind::out_of_bounds);
    EXPECT_GT(exact->place().line, 1) << exact->what();
  }
}

INSTANTIATE_TEST_SUITE_P(Emulated, EveryKernel, ::testing::ValuesIn(all_cases()),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace fourtune::runtime::emulated::testing
