// Chunks of the transposition: whatever travels while something else is computed, the bits are the same.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

// More chunks than planes and columns, too; the last two group the transforms of a batch.
const char* const kChunks[] = {"chunks=2,cut=planes",
                               "chunks=3,cut=columns",
                               "chunks=40,cut=planes",
                               "chunks=40,cut=columns",
                               "chunks=1,cut=batch",
                               "chunks=3,cut=batch",
                               "exchange=host,chunks=1,cut=batch",
                               "exchange=host,chunks=3,cut=batch",
                               "exchange=host"};
// As plans spell it.
std::string named_chunks(const std::string& chunks) {
  const std::size_t at = chunks.find("chunks=");
  return at == std::string::npos ? "chunks=1" : chunks.substr(at);
}

Options slabs(const std::string& chunks, bool fft) {
  Options options = reproducible(1);
  const std::string balance = fft ? "" : "balance=points";
  options.plan = "ranks=slabs(" + balance + (balance.empty() || chunks.empty() ? "" : ",") + chunks + ")";
  if (fft && chunks.empty()) options.plan = "ranks=slabs";
  return options;
}

template <class T>
void expect_bits_of_one_piece(const std::string& token) {
  const Whole<T> whole = draw<T>(token, 3);
  for (const bool adjoint : {false, true}) {
    const auto alone = result_of(whole, Way{slabs("", false), MPI_COMM_SELF, Deal::even, adjoint});
    for (const char* chunks : kChunks) {
      std::string explain;
      const auto cut = result_of(whole, Way{slabs(chunks, false), MPI_COMM_WORLD, Deal::uneven, adjoint}, &explain);
      EXPECT_TRUE(same_bits(cut, alone)) << token << ' ' << chunks << (adjoint ? " adjoint" : "");
      EXPECT_NE(explain.find(named_chunks(chunks)), std::string::npos) << explain;
      EXPECT_FALSE(std::string(chunks).starts_with("exchange=host") && explain.find("shared") != std::string::npos)
          << explain;
    }
  }
}

TEST(DistributedChunks, TypesOneAndTwo) {
  expect_bits_of_one_piece<double>("nufft:type=1,n=20x30,m=900,prec=f64,tol=1e-7,batch=5");
  expect_bits_of_one_piece<float>("nufft:type=2,n=12x2x18,m=500,prec=f32,tol=1e-4,batch=4");
  expect_bits_of_one_piece<double>("nufft:type=2,n=9x16x12,m=500,prec=f64,tol=1e-5,batch=7");
}

// What a transform writes, and after it what its adjoint makes of that, as numbers of one kind.
template <class In, class Out>
std::vector<std::complex<double>> transformed(const std::string& token, const Options& options, MPI_Comm comm) {
  const Problem problem = parse_problem(token);
  DistributedTransform transform(token, MPI_Comm_c2f(comm), options);
  const auto in = input_sizes(problem), out = output_sizes(problem);
  std::vector<In> whole(static_cast<std::size_t>(in[0] * in[1] * in[2] * problem.batch));
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = In(std::sin(static_cast<double>(i * i)));
  auto first = take(whole, in, transform.first_part(), problem.batch);
  std::vector<Out> second(static_cast<std::size_t>(transform.second_part().count() * problem.batch));
  transform.execute(first.data(), second.data());
  const auto there = gathered(second, out, transform.second_part(), problem.batch, comm);
  transform.execute_adjoint(first.data(), second.data());
  const auto back = gathered(first, in, transform.first_part(), problem.batch, comm);
  std::vector<std::complex<double>> both(there.begin(), there.end());
  both.insert(both.end(), back.begin(), back.end());
  for (auto& value : both) value += std::complex<double>{};  // gathering is a sum, which makes -0 a 0
  return both;
}

template <class In, class Out>
void expect_fft_bits_of_one_piece(const std::string& token) {
  const auto alone = transformed<In, Out>(token, slabs("", true), MPI_COMM_SELF);
  for (const char* chunks : kChunks)
    EXPECT_TRUE(same_bits(transformed<In, Out>(token, slabs(chunks, true), MPI_COMM_WORLD), alone))
        << token << ' ' << chunks;
}

TEST(DistributedChunks, Ffts) {
  using F = std::complex<float>;
  using D = std::complex<double>;
  for (const char* size : {"22x26", "12x9x14", "8x1x5"}) {
    const std::string n = std::string(",n=") + size;
    expect_fft_bits_of_one_piece<D, D>("fft:type=c2c" + n + ",prec=f64,batch=4,sign=1");
    expect_fft_bits_of_one_piece<double, D>("fft:type=r2c" + n + ",prec=f64,batch=3");
    expect_fft_bits_of_one_piece<F, float>("fft:type=c2r" + n + ",prec=f32");
  }
}

// Without `deterministic` the planes of a chunk are transformed together, so there are transforms of several sizes.
TEST(DistributedChunks, PiecesOfDifferentSizesAreRight) {
  using D = std::complex<double>;
  const std::string token = "fft:type=c2c,n=10x12x23,prec=f64,batch=2";
  const auto right = transformed<D, D>(token, slabs("", true), MPI_COMM_SELF);
  for (const char* chunks : kChunks) {
    Options options = slabs(chunks, true);
    options.deterministic = false;
    options.threads = 2;
    EXPECT_LE(error_of(transformed<D, D>(token, options, MPI_COMM_WORLD), right), 1e-14) << chunks;
  }
}

TEST(DistributedChunks, HaveOneSpelling) {
  const auto plan_of = [](const std::string& token, const std::string& plan) {
    Options options;
    options.default_databases = false;
    options.plan = plan;
    const std::string text = DistributedTransform(token, MPI_Comm_c2f(MPI_COMM_WORLD), options).plan();
    options.plan = text;
    EXPECT_EQ(DistributedTransform(token, MPI_Comm_c2f(MPI_COMM_WORLD), options).plan(), text);
    return text.substr(0, text.find(';'));
  };
  const std::string fft = "fft:type=c2c,n=8x8,prec=f64";
  // One rank has nobody to share memory with.
  const std::string end = size_of(MPI_COMM_WORLD) > 1 ? ",exchange=shared)" : ")";
  EXPECT_EQ(plan_of(fft, "ranks=slabs(cut=batch,chunks=2)"), "ranks=slabs(chunks=2,cut=batch" + end);
  EXPECT_EQ(plan_of(fft, "ranks=slabs(chunks=1,cut=columns)"), "ranks=slabs(chunks=1,cut=planes" + end);
  EXPECT_EQ(plan_of(fft, "ranks=slabs"), "ranks=slabs(chunks=1,cut=planes" + end);
  EXPECT_EQ(plan_of(fft, "ranks=slabs(chunks=7)"), "ranks=slabs(chunks=7,cut=planes)");
  for (const char* wrong :
       {"ranks=slabs()", "ranks=slabs(chunks=0)", "ranks=slabs(chunks=1025)", "ranks=slabs(chunks=2,chunks=2)",
        "ranks=slabs(cut=rows)", "ranks=slabs(chunks=2,)", "ranks=slabs(chunks=2", "ranks=slabs(balance=points)",
        "ranks=slabs(chunks=-1)", "ranks=slabs(chunks= 2)", "ranks=slabs(,chunks=2)", "ranks=slabs(grid=1x1)"}) {
    std::string message;
    EXPECT_EQ(status_of([&] { plan_of(fft, wrong); }, &message), Status::invalid_plan) << wrong;
    EXPECT_NE(message.find("chunks=1..1024"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace fourtune::test
