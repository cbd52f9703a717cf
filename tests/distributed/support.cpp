#include "tests/distributed/support.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace fourtune::test {
namespace {

std::int64_t count(const Sizes& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// The frequency of position p of n modes.
std::int64_t frequency(std::int64_t p, std::int64_t n, ModeOrder order) {
  if (order == ModeOrder::centred) return p - n / 2;
  return p < n - n / 2 ? p : p - n;
}

template <class F>
void for_each_in(const Part& part, const Sizes& sizes, std::int64_t batch, F f) {
  std::size_t own = 0;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t z = 0; z < part.size[2]; ++z)
      for (std::int64_t y = 0; y < part.size[1]; ++y)
        for (std::int64_t x = 0; x < part.size[0]; ++x)
          f(own++,
            static_cast<std::size_t>(((b * sizes[2] + part.first[2] + z) * sizes[1] + part.first[1] + y) * sizes[0] +
                                     part.first[0] + x));
}

MPI_Datatype type_of(float) { return MPI_FLOAT; }
MPI_Datatype type_of(double) { return MPI_DOUBLE; }
template <class T>
MPI_Datatype type_of(std::complex<T>) {
  return sizeof(T) == sizeof(float) ? MPI_C_FLOAT_COMPLEX : MPI_C_DOUBLE_COMPLEX;
}

// Every rank has zeros where others have values.
template <class T>
void add_up(std::vector<T>& values, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type_of(T()), MPI_SUM, comm);
}

}  // namespace

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

Range dealt(Deal deal, std::int64_t m, int rank, int ranks) {
  switch (deal) {
    case Deal::all_on_last:
      return rank + 1 == ranks ? Range{0, m} : Range{0, 0};
    case Deal::uneven: {  // each rank has half of what is left; some have none
      std::int64_t begin = 0;
      for (int r = 0; r < rank; ++r) begin += (m - begin) / 2;
      return {begin, rank + 1 == ranks ? m : begin + (m - begin) / 2};
    }
    case Deal::even:
      break;
  }
  return {m * rank / ranks, m * (rank + 1) / ranks};
}

template <class T>
Whole<T> draw(const std::string& token, unsigned seed) {
  Whole<T> whole;
  whole.problem = parse_problem(token);
  const Problem& p = whole.problem;
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  const auto coordinates = [&](std::int64_t n, double most) {
    std::vector<T> values(static_cast<std::size_t>(n));
    for (T& value : values) value = static_cast<T>(most * any(engine));
    return values;
  };
  const auto numbers = [&](std::int64_t n) {
    std::vector<std::complex<T>> values(static_cast<std::size_t>(n));
    for (auto& value : values) value = {static_cast<T>(any(engine)), static_cast<T>(any(engine))};
    return values;
  };
  const bool type3 = p.kind == Kind::nufft && p.type == 3;
  for (std::size_t d = 0; p.kind == Kind::nufft && d < static_cast<std::size_t>(p.dim); ++d) {
    whole.x[d] = coordinates(*p.m, 9);
    if (type3) whole.s[d] = coordinates(*p.k, 6);
  }
  whole.points = numbers(p.batch * (p.kind == Kind::nufft ? *p.m : count(input_sizes(p))));
  whole.modes = numbers(p.batch * (type3 ? *p.k : p.kind == Kind::nufft ? count(p.n) : count(output_sizes(p))));
  return whole;
}

// The phases of modes or targets with every point. Those of a mode are the product of what its frequencies in each
// dimension give, which are computed once; otherwise sines and cosines would take most of the time of these tests.
template <class T>
class Phases {
 public:
  Phases(const Whole<T>& whole, double sign, ModeOrder order) : whole_(whole), sign_(sign) {
    if (whole.problem.type == 3) return;
    for (std::size_t d = 0; d < dim_; ++d)
      for (std::int64_t p = 0; p < whole.problem.n[d]; ++p) {
        const auto k = static_cast<double>(frequency(p, whole.problem.n[d], order));
        auto& row = of_dimension_[d].emplace_back();
        for (const T x : whole.x[d]) row.push_back(std::polar(1.0, sign * k * static_cast<double>(x)));
      }
  }

  // Of mode or target l.
  const std::vector<std::complex<double>>& of(std::int64_t l) {
    row_.assign(static_cast<std::size_t>(*whole_.problem.m), 1.0);
    if (whole_.problem.type == 3) {
      for (std::size_t j = 0; j < row_.size(); ++j) {
        double angle = 0;
        for (std::size_t d = 0; d < dim_; ++d)
          angle += static_cast<double>(whole_.s[d][static_cast<std::size_t>(l)]) * static_cast<double>(whole_.x[d][j]);
        row_[j] = std::polar(1.0, sign_ * angle);
      }
      return row_;
    }
    for (std::size_t d = 0; d < dim_; ++d) {
      const auto& factors = of_dimension_[d][static_cast<std::size_t>(l % whole_.problem.n[d])];
      for (std::size_t j = 0; j < row_.size(); ++j) row_[j] *= factors[j];
      l /= whole_.problem.n[d];
    }
    return row_;
  }

 private:
  const Whole<T>& whole_;
  double sign_;
  std::size_t dim_ = static_cast<std::size_t>(whole_.problem.dim);
  std::array<std::vector<std::vector<std::complex<double>>>, 3> of_dimension_;  // [dimension][frequency][point]
  std::vector<std::complex<double>> row_;
};

template <class T>
std::vector<std::complex<double>> direct(const Whole<T>& whole, bool adjoint, ModeOrder order) {
  const Problem& p = whole.problem;
  const bool to_modes = (p.type != 2) != adjoint;
  const std::int64_t modes = p.type == 3 ? *p.k : count(p.n);
  std::vector<std::complex<double>> out(static_cast<std::size_t>(p.batch * (to_modes ? modes : *p.m)));
  Phases<T> phases(whole, adjoint ? -p.sign : p.sign, order);
  for (std::int64_t l = 0; l < modes; ++l) {
    const std::vector<std::complex<double>>& phase = phases.of(l);
    for (std::int64_t b = 0; b < p.batch; ++b) {
      const auto at_mode = static_cast<std::size_t>(b * modes + l);
      for (std::size_t j = 0; j < phase.size(); ++j) {
        const std::size_t at_point = static_cast<std::size_t>(b * *p.m) + j;
        if (to_modes) {
          out[at_mode] += phase[j] * std::complex<double>(whole.points[at_point]);
        } else {
          out[at_point] += phase[j] * std::complex<double>(whole.modes[at_mode]);
        }
      }
    }
  }
  return out;
}

template <class T>
std::vector<T> take(const std::vector<T>& whole, const Sizes& sizes, const Part& part, std::int64_t batch) {
  std::vector<T> own(static_cast<std::size_t>(part.count() * batch));
  for_each_in(part, sizes, batch, [&](std::size_t mine, std::size_t at) { own[mine] = whole[at]; });
  return own;
}

template <class T>
std::vector<T> gathered(const std::vector<T>& own, const Sizes& sizes, const Part& part, std::int64_t batch,
                        MPI_Comm comm) {
  std::vector<T> whole(static_cast<std::size_t>(count(sizes) * batch));
  for_each_in(part, sizes, batch, [&](std::size_t mine, std::size_t at) { whole[at] = own[mine]; });
  add_up(whole, comm);
  return whole;
}

template <class T>
std::vector<T> gathered(const std::vector<T>& own, Deal deal, std::int64_t m, std::int64_t batch, MPI_Comm comm) {
  std::vector<T> whole(static_cast<std::size_t>(m * batch));
  const Range mine = dealt(deal, m, rank_of(comm), size_of(comm));
  for (std::int64_t b = 0; b < batch; ++b)
    std::copy_n(own.begin() + b * mine.size(), mine.size(), whole.begin() + b * m + mine.begin);
  add_up(whole, comm);
  return whole;
}

template <class T>
std::vector<std::complex<T>> result_of(const Whole<T>& whole, const Way& way, std::string* explain) {
  using Complex = std::complex<T>;
  const Problem& p = whole.problem;
  const bool type3 = p.type == 3;
  DistributedTransform transform(to_token(p), MPI_Comm_c2f(way.comm), way.options);
  const int rank = rank_of(way.comm), ranks = size_of(way.comm);
  const Range mine = dealt(way.deal, *p.m, rank, ranks), targets = dealt(way.deal, p.k.value_or(0), rank, ranks);
  Points points;
  points.m = mine.size(), points.k = targets.size();
  const void** at[] = {&points.x, &points.y, &points.z, &points.s, &points.t, &points.u};
  for (std::size_t d = 0; d < static_cast<std::size_t>(p.dim); ++d) {
    *at[d] = whole.x[d].data() + mine.begin;
    if (type3) *at[3 + d] = whole.s[d].data() + targets.begin;
  }
  transform.set_points(points);
  const Part part = type3 ? Part{{targets.begin, 0, 0}, {targets.size(), 1, 1}} : transform.modes();
  const Sizes sizes = type3 ? Sizes(*p.k) : p.n;
  const Part own_points{{mine.begin, 0, 0}, {mine.size(), 1, 1}};
  std::vector<Complex> values = take(whole.points, {*p.m, 1, 1}, own_points, p.batch);
  std::vector<Complex> modes = take(whole.modes, sizes, part, p.batch);
  const bool to_modes = (p.type != 2) != way.adjoint;
  std::vector<Complex>& written = to_modes ? modes : values;
  std::fill(written.begin(), written.end(), Complex(std::nan(""), 0));
  way.adjoint ? transform.execute_adjoint(values.data(), modes.data()) : transform.execute(values.data(), modes.data());
  if (explain != nullptr) *explain = transform.explain();
  return to_modes ? gathered(modes, sizes, part, p.batch, way.comm)
                  : gathered(values, way.deal, *p.m, p.batch, way.comm);
}

double error_where_points_are_set_again(const std::string& token, const Options& options) {
  constexpr std::int64_t kPoints = 900;
  Problem problem = parse_problem(token);
  problem.m = kPoints;
  const Whole<double> whole = draw<double>(to_token(problem), 3);
  const auto right = direct(whole, false, ModeOrder::centred);
  DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), options);
  double worst = 0;
  for (const Deal deal : {Deal::even, Deal::all_on_last, Deal::uneven}) {
    const Range mine = dealt(deal, kPoints, transform.rank(), transform.ranks());
    transform.set_points(
        {mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin, whole.x[2].data() + mine.begin});
    const Part part = transform.modes();
    std::vector<std::complex<double>> modes(static_cast<std::size_t>(part.count()));
    std::vector<std::complex<double>> values(whole.points.begin() + mine.begin, whole.points.begin() + mine.end);
    transform.execute(values.data(), modes.data());
    const double error = error_of(gathered(modes, problem.n, part, 1, MPI_COMM_WORLD), right) / allowed_error(problem);
    worst = std::isfinite(error) ? std::max(worst, error) : HUGE_VAL;
  }
  return worst;
}

Status status_of(const std::function<void()>& work, std::string* message) {
  try {
    work();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.status();
  }
  return Status::success;
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type
#define FOR_REAL(T)                                                                       \
  template Whole<T> draw<T>(const std::string&, unsigned);                                \
  template std::vector<std::complex<double>> direct<T>(const Whole<T>&, bool, ModeOrder); \
  template std::vector<std::complex<T>> result_of<T>(const Whole<T>&, const Way&, std::string*);
FOR_REAL(float)
FOR_REAL(double)
#undef FOR_REAL
#define FOR_NUMBER(T)                                                                                            \
  template std::vector<T> take<T>(const std::vector<T>&, const Sizes&, const Part&, std::int64_t);               \
  template std::vector<T> gathered<T>(const std::vector<T>&, const Sizes&, const Part&, std::int64_t, MPI_Comm); \
  template std::vector<T> gathered<T>(const std::vector<T>&, Deal, std::int64_t, std::int64_t, MPI_Comm);
FOR_NUMBER(float)
FOR_NUMBER(double)
FOR_NUMBER(std::complex<float>)
FOR_NUMBER(std::complex<double>)
#undef FOR_NUMBER
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace fourtune::test
