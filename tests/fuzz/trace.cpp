// Tells libFuzzer what an input reaches in code of GCC. clang's code has a counter for each block and a table of the
// blocks' addresses. GCC's calls a function in each block (-fsanitize-coverage=trace-pc), which the linker replaces by
// this one (--wrap). It counts by the caller's place in the program; two blocks may share a counter.
#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are those of the sanitizers and of the linker.
extern "C" {
void __sanitizer_cov_8bit_counters_init(std::uint8_t* first, std::uint8_t* last);
void __sanitizer_cov_pcs_init(const std::uintptr_t* first, const std::uintptr_t* last);
void __wrap___sanitizer_cov_trace_pc();
void __sanitizer_cov_trace_cmpf(float a, float b);
void __sanitizer_cov_trace_cmpd(double a, double b);
}

namespace {

constexpr std::size_t kCounters = std::size_t{1} << 18;  // the targets have about 100 000 blocks
std::uint8_t counters[kCounters];
std::uintptr_t blocks[2 * kCounters];  // an address and flags, none of which is set

__attribute__((constructor)) void announce() {
  for (std::size_t i = 0; i < kCounters; ++i) blocks[2 * i] = i + 1;
  __sanitizer_cov_8bit_counters_init(counters, counters + kCounters);
  __sanitizer_cov_pcs_init(blocks, blocks + 2 * kCounters);
}

}  // namespace

// Where the program lies in memory differs from run to run, the distance between two of its places does not.
__attribute__((no_sanitize("address", "undefined"))) void __wrap___sanitizer_cov_trace_pc() {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const std::uintptr_t place = caller - reinterpret_cast<std::uintptr_t>(&__wrap___sanitizer_cov_trace_pc);
  ++counters[(place ^ place >> 18) % kCounters];
}

// libFuzzer learns from comparisons of integers; GCC reports others too.
void __sanitizer_cov_trace_cmpf(float /*a*/, float /*b*/) {}
void __sanitizer_cov_trace_cmpd(double /*a*/, double /*b*/) {}
// NOLINTEND(bugprone-reserved-identifier)
