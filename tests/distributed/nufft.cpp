// Types 1, 2 and 3 over ranks against direct sums.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>

#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

template <class T>
void expect_right(const std::string& token, const Way& way, unsigned seed = 1) {
  SCOPED_TRACE(token + " plan=" + way.options.plan + (way.adjoint ? " adjoint" : "") + " deal " +
               std::to_string(static_cast<int>(way.deal)));
  const Whole<T> whole = draw<T>(token, seed);
  std::string explain;
  const auto result = result_of(whole, way, &explain);
  // Other plans and deals have the same sums.
  static std::map<std::tuple<std::string, bool, ModeOrder>, std::vector<std::complex<double>>> known;
  auto& right = known[{token, way.adjoint, way.options.mode_order}];
  if (right.empty()) right = direct(whole, way.adjoint, way.options.mode_order);
  EXPECT_LE(error_of(result, right), allowed_error(whole.problem)) << explain;
}

void expect_right(const std::string& token, const Way& way) {
  token.find("prec=f32") != std::string::npos ? expect_right<float>(token, way, 1)
                                              : expect_right<double>(token, way, 1);
}

const std::vector<std::string> kTokens{
    "nufft:type=1,n=20x24,m=500,prec=f64,tol=1e-9",
    "nufft:type=2,n=31x18,m=400,prec=f32,tol=1e-4",
    "nufft:type=1,n=12x17x14,m=700,prec=f32,tol=1e-5",
    "nufft:type=2,n=16x9x20,m=600,prec=f64,tol=1e-8",
};

TEST(Distributed, EveryPlanAgreesWithDirectSums) {
  for (const std::string& token : kTokens)
    for (const char* plan : {"", "ranks=slabs", "ranks=slabs(balance=planes,exchange=host)", "ranks=replicated"})
      for (const Deal deal : {Deal::even, Deal::all_on_last, Deal::uneven}) {
        Way way{forced(), MPI_COMM_WORLD, deal, false};
        way.options.plan = plan;
        expect_right(token, way);
      }
}

TEST(Distributed, TheAdjointMovesDataTheOtherWay) {
  for (const std::string& token : kTokens)
    for (const char* plan : {"ranks=slabs", "ranks=slabs(exchange=host)", "ranks=replicated"}) {
      Way way{forced(), MPI_COMM_WORLD, Deal::even, true};
      way.options.plan = plan;
      expect_right(token, way);
    }
}

TEST(Distributed, TransformsOfABatchShareTheirPoints) {
  for (const std::string token : {"nufft:type=1,n=18x20,m=300,prec=f64,tol=1e-7,batch=3",
                                  "nufft:type=2,n=10x12x16,m=300,prec=f32,tol=1e-4,batch=5"})
    for (const char* plan : {"ranks=slabs", "ranks=slabs(exchange=host)", "ranks=replicated"})
      for (const bool adjoint : {false, true}) {
        Way way{forced(), MPI_COMM_WORLD, Deal::uneven, adjoint};
        way.options.plan = plan;
        expect_right(token, way);
      }
}

TEST(Distributed, ModesMayBeInTheOrderOfFfts) {
  for (const char* plan : {"ranks=slabs", "ranks=slabs(exchange=host)", "ranks=replicated"}) {
    Way way{forced(), MPI_COMM_WORLD, Deal::even, false};
    way.options.plan = plan;
    way.options.mode_order = ModeOrder::fft;
    for (const std::string& token : kTokens) expect_right(token, way);
  }
}

TEST(Distributed, NoPointsAtAll) {
  for (const char* plan : {"ranks=slabs", "ranks=slabs(exchange=host)", "ranks=replicated"}) {
    Way way{forced(), MPI_COMM_WORLD, Deal::even, false};
    way.options.plan = plan;
    expect_right("nufft:type=1,n=16x20x18,m=0,prec=f64,tol=1e-7", way);
    expect_right("nufft:type=2,n=16x20x18,m=0,prec=f64,tol=1e-7", way);
  }
}

TEST(Distributed, MoreRanksThanRowsOfModes) {
  for (const char* plan : {"ranks=slabs", "ranks=slabs(exchange=host)", "ranks=replicated"}) {
    Way way{forced(), MPI_COMM_WORLD, Deal::even, false};
    way.options.plan = plan;
    expect_right("nufft:type=1,n=20x2x24,m=300,prec=f64,tol=1e-7", way);
    expect_right("nufft:type=2,n=1x40,m=200,prec=f64,tol=1e-7", way);
  }
}

TEST(Distributed, SeveralThreadsPerRank) {
  Way way{forced(), MPI_COMM_WORLD, Deal::uneven, false};
  way.options.threads = 3;
  way.options.plan = "ranks=slabs";
  for (const std::string& token : kTokens) expect_right(token, way);
}

TEST(Distributed, TypeThreeSharesTheShorterSide) {
  for (const std::string token :
       {"nufft:type=3,dim=2,m=300,k=200,prec=f64,tol=1e-8", "nufft:type=3,dim=3,m=150,k=400,prec=f32,tol=1e-4,batch=2"})
    for (const Deal deal : {Deal::even, Deal::all_on_last, Deal::uneven})
      for (const bool adjoint : {false, true})
        expect_right(token, Way{forced("ranks=replicated"), MPI_COMM_WORLD, deal, adjoint});
}

TEST(Distributed, PointsCanBeSetAgain) {
  // Also where the token does not say how many there will be.
  for (const char* token :
       {"nufft:type=1,n=20x24x22,m=900,prec=f64,tol=1e-7", "nufft:type=1,n=20x24x22,prec=f64,tol=1e-7"})
    for (const char* plan : {"ranks=slabs", "ranks=slabs(exchange=host)"})
      EXPECT_LE(error_where_points_are_set_again(token, forced(plan)), 1) << token << ' ' << plan;
}

}  // namespace
}  // namespace fourtune::test
