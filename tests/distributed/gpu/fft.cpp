// FFTs by slabs whose ranks have GPUs: emulated ones, by every exchange; NCCL's part is played by fake_nccl.cpp. The
// emulated backend also checks that kernels stay within their arrays and do not race, and its copies land late.
#include <gtest/gtest.h>

#include "tests/distributed/fft_support.h"
#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

constexpr const char* kExchanges[] = {"host", "mpi", "nccl", "peer", "kernels"};

Options one_thread(const std::string& plan = "") {
  Options options = on_gpus(plan);
  options.threads = 1;
  return options;
}
// NCCL and peers take two ranks.
bool has_nccl() { return size_of(MPI_COMM_WORLD) > 1; }

// Kernels exchange whole arrays in 3D, of up to three ranks.
bool takes_kernels(const Problem& problem, const std::string& arguments) {
  if (problem.dim != 3 || !arguments.empty() || size_of(MPI_COMM_WORLD) > 3) return false;
  for (int d = 0; d < 3; ++d)
    if (problem.n[d] == 1 || problem.n[d] == 67) return false;
  return true;
}

void compare(const std::string& token, const std::string& arguments, std::size_t shift) {
  const Problem problem = parse_problem(token);
  std::vector<Options> ways;
  for (const char* exchange : kExchanges) {
    if (exchange[0] != 'h' && exchange[0] != 'm' && !has_nccl()) continue;
    if (exchange[0] == 'k' && !takes_kernels(problem, arguments)) continue;
    ways.push_back(
        one_thread("ranks=slabs(" + arguments + (arguments.empty() ? "" : ",") + "exchange=" + exchange + ")"));
  }
  compare_with_alone(token, ways, shift, 2);
}

using F = std::complex<float>;
using D = std::complex<double>;
constexpr std::size_t kInPlace = 0, kOnHost = 16;  // where arrays start: the emulated device reaches the first

TEST(DistributedGpuFft, EveryTypeAndExchange) {
  compare("fft:type=c2c,n=8x10x12,prec=f32", "", kInPlace);
  compare("fft:type=c2c,n=8x10x12,prec=f64,sign=1", "", kOnHost);
  compare("fft:type=r2c,n=8x10x12,prec=f64", "", kInPlace);
  compare("fft:type=c2r,n=8x10x12,prec=f64,sign=1", "", kInPlace);
  compare("fft:type=c2c,n=12x10,prec=f64", "", kInPlace);
  compare("fft:type=r2c,n=12x10,prec=f64", "", kOnHost);
}

TEST(DistributedGpuFft, ChunksAndBatches) {
  compare("fft:type=c2c,n=8x10x12,prec=f64", "chunks=3,cut=planes", kInPlace);
  compare("fft:type=c2r,n=8x10x12,prec=f64,batch=2,sign=1", "chunks=2,cut=columns", kInPlace);
  compare("fft:type=c2c,n=12x10,prec=f64,batch=5", "chunks=3,cut=batch", kInPlace);
  compare("fft:type=c2c,n=12x10,prec=f64,batch=3,sign=1", "chunks=1,cut=batch", kInPlace);
}

// Also a prime that needs Bluestein's algorithm, and more ranks than planes or columns.
TEST(DistributedGpuFft, OddAndPrimeAndTinySizes) {
  compare("fft:type=c2c,n=5x3x67,prec=f64", "", kInPlace);
  compare("fft:type=c2c,n=9x1,prec=f64", "", kInPlace);
  compare("fft:type=c2c,n=1x9,prec=f64", "", kInPlace);
  compare("fft:type=r2c,n=6x7x1,prec=f64", "", kInPlace);
  compare("fft:type=c2c,n=9x7x11,prec=f32", "", kOnHost);
}

// Where kernels exchange, an array serves one transform after the other.
TEST(DistributedGpuFft, BatchesOfOneArray) {
  compare("fft:type=r2c,n=8x10x12,prec=f64,batch=3", "", kInPlace);
  compare("fft:type=c2r,n=7x6x5,prec=f32,batch=2,sign=1", "", kInPlace);
}

// Rows of half a megabyte: few and long ones, packed like any.
TEST(DistributedGpuFft, LongRows) {
  if (size_of(MPI_COMM_WORLD) != 2) return;
  compare("fft:type=c2c,n=2x32768x2,prec=f64", "chunks=2,cut=planes", kInPlace);
  // Lines of two kernels, of which one stores or loads.
  compare("fft:type=c2c,n=2x32768x2,prec=f64", "", kInPlace);
  compare("fft:type=c2c,n=2x4x32768,prec=f32", "", kInPlace);
}

template <class In, class Out>
void compare_bits(const std::string& token) {
  const Problem problem = parse_problem(token);
  Options options = one_thread();
  options.deterministic = true;
  const auto one = together<In, Out>(problem, false, options, MPI_COMM_SELF);
  for (const char* chunks :
       {"chunks=1,cut=planes", "chunks=3,cut=planes", "chunks=2,cut=columns", "chunks=2,cut=batch"}) {
    options.plan = std::string("ranks=slabs(") + chunks + ")";
    EXPECT_TRUE(same_bits(together<In, Out>(problem, false, options, MPI_COMM_WORLD).second, one.second))
        << token << ' ' << chunks;
  }
  if (!has_nccl() || !takes_kernels(problem, "")) return;
  options.plan = "ranks=slabs(exchange=kernels)";
  EXPECT_TRUE(same_bits(together<In, Out>(problem, false, options, MPI_COMM_WORLD).second, one.second)) << token;
}

TEST(DistributedGpuFft, DeterministicBitsDoNotDependOnTheRanks) {
  compare_bits<F, F>("fft:type=c2c,n=8x18x17,prec=f32");
  compare_bits<double, D>("fft:type=r2c,n=10x9,prec=f64,batch=2");
  compare_bits<double, D>("fft:type=r2c,n=10x9x14,prec=f64");
}

TEST(DistributedGpuFft, WhatIsTakenUntuned) {
  DistributedTransform transform("fft:type=c2c,n=8x10x12,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD), one_thread());
  EXPECT_NE(transform.plan().find(has_nccl() ? "exchange=peer" : "exchange=mpi"), std::string::npos)
      << transform.plan();
  EXPECT_NE(transform.plan().find(";emulated;fft=plain"), std::string::npos) << transform.plan();
  EXPECT_GT(transform.memory().held, 0);
  // Its text is a plan, with one spelling.
  const DistributedTransform again("fft:type=c2c,n=8x10x12,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD),
                                   one_thread(transform.plan()));
  EXPECT_EQ(again.plan(), transform.plan());
}

TEST(DistributedGpuFft, WhatCannotBeDoneIsNamed) {
  const auto refused = [](const std::string& token, const Options& options, const char* word) {
    std::string message;
    const Status status =
        status_of([&] { const DistributedTransform one(token, MPI_Comm_c2f(MPI_COMM_WORLD), options); }, &message);
    EXPECT_NE(message.find(word), std::string::npos) << message;
    return status;
  };
  const std::string fft = "fft:type=c2c,n=8x10x12,prec=f64";
  if (!has_nccl()) {
    EXPECT_EQ(refused(fft, one_thread("ranks=slabs(exchange=nccl)"), "there is one rank"), Status::unsupported);
  }
  EXPECT_EQ(refused(fft, one_thread("ranks=slabs(exchange=pigeons)"), "nccl|mpi|host|peer|kernels"),
            Status::invalid_plan);
  EXPECT_EQ(refused(fft, one_thread("ranks=slabs(chunks=2,exchange=kernels)"), "in one chunk"), Status::invalid_plan);
  if (has_nccl()) {
    const bool few = size_of(MPI_COMM_WORLD) <= 3;
    const Options kernels = one_thread("ranks=slabs(exchange=kernels)");
    EXPECT_EQ(refused("fft:type=c2c,n=8x10,prec=f64", kernels, few ? "single lines" : "at most 3"),
              Status::invalid_plan);
    EXPECT_EQ(refused("fft:type=c2c,n=8x67x4,prec=f64", kernels, few ? "length 67" : "at most 3"),
              Status::invalid_plan);
  }
  EXPECT_EQ(refused(fft, one_thread("ranks=slabs;cpu;threads=1;fft=rows(rigor=estimate)"), "emulated"),
            Status::invalid_plan);
  EXPECT_EQ(refused(fft, one_thread("ranks=slabs(exchange=shared)"), "the ranks have GPUs"), Status::unsupported);
  Options options = one_thread("ranks=slabs(exchange=peer)");
  options.backend = "cpu";
  EXPECT_EQ(refused(fft, options, "GPU"), Status::invalid_plan);
  if (size_of(MPI_COMM_WORLD) > 1) {
    options = one_thread();
    if (rank_of(MPI_COMM_WORLD) == 1) options.backend = "cpu", options.device = 0;
    EXPECT_EQ(refused(fft, options, "the backend of an fft"), Status::contradiction);
  }
  options = one_thread();
  options.deterministic = true;
  EXPECT_EQ(refused("fft:type=c2c,n=8x67,prec=f64", options, "prime factor above 61"), Status::invalid_plan);
}

}  // namespace
}  // namespace fourtune::test
