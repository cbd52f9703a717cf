// The rules of the notation: checks the sub-FFTs of every dimension in order, and says what each should have been.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "generator/plan/fft/notation.h"
#include "generator/plan/fft/notation_keys.h"
#include "generator/plan/fft/parameter_rules.h"

namespace fourtune::generator::fft {
namespace {

constexpr std::int64_t overflow_mark = most_length * 64;  // larger than any allowed length

// a * b for positive numbers, stopping at overflow_mark.
std::int64_t product_of(std::int64_t a, std::int64_t b) { return a > overflow_mark / b ? overflow_mark : a * b; }

// State of a dimension while its sub-FFTs are read in order.
struct Progress {
  std::int64_t length = 0;
  std::int64_t rest = 0;  // length still to transform, which is n of the next sub-FFT; 1: finished
  bool begun = false;
  SubFft last{};
  int last_kernel = 0, last_sub = 0;
};

// The length that most numbers of a dimension agree on. A single misprint is thus recognised as such, wherever it is.
std::int64_t stated_length(const FftPlan& plan, Dim dim) {
  std::int64_t product = 1, first_n = 0;
  std::map<std::int64_t, int> votes;
  for (const Kernel& kernel : plan.kernels)
    for (const SubFft& sub : kernel.subs) {
      if (sub.dim != dim) continue;
      if (first_n == 0) first_n = sub.n;
      product = product_of(product, sub.radix);
      ++votes[product_of(sub.count, sub.radix)];
    }
  if (first_n == 0) return 1;
  ++votes[product];
  ++votes[first_n];
  std::int64_t best = product;
  for (const auto& [value, count] : votes)
    if (count > votes[best]) best = value;
  return best;
}

class NotationCheck {
 public:
  NotationCheck(const FftPlan& plan, const Lengths& asked) : plan_(plan) {
    for (int d = 0; d < most_dimensions; ++d) {
      auto& progress = dims_[static_cast<std::size_t>(d)];
      progress.length = progress.rest = stated_length(plan, static_cast<Dim>(d));
      asked_[static_cast<std::size_t>(d)] = asked[static_cast<std::size_t>(d)];
    }
  }

  std::vector<Violation> run() {
    if (plan_.kernels.empty()) add(Rule::dimensions, 0, -1, "the plan has no kernel");
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      if (plan_.kernels[k].subs.empty()) add(Rule::dimensions, static_cast<int>(k), -1, "the kernel has no sub-FFT");
      for (std::size_t s = 0; s < plan_.kernels[k].subs.size(); ++s) visit(static_cast<int>(k), static_cast<int>(s));
    }
    ends();
    skipped_dimensions();
    asked_lengths();
    return std::move(found_);
  }

 private:
  void add(Rule rule, int kernel, int sub, const std::string& what) {
    std::string where = fmt::format("kernel {}", kernel + 1);
    if (sub >= 0)
      where += ", " + to_text(plan_.kernels[static_cast<std::size_t>(kernel)].subs[static_cast<std::size_t>(sub)]);
    found_.push_back({rule, kernel, sub, fmt::format("rule {}: {}: {}", rule_name(rule), where, what)});
  }

  static bool fits(const SubFft& sub, const Progress& at) {
    return sub.radix >= 2 && sub.radix <= most_radix && sub.n == at.rest && at.rest % sub.radix == 0 &&
           sub.stride == at.rest / sub.radix && sub.count * sub.radix == at.length && sub.twiddle == (sub.stride > 1);
  }

  // The sub-FFT that was probably meant: with one number (or tw) changed if that is enough, else built from the radix.
  static std::optional<SubFft> meant(const SubFft& sub, const Progress& at) {
    if (at.rest <= 1) return std::nullopt;
    SubFft guess = sub;
    guess.n = at.rest;
    if (fits(guess, at)) return guess;
    guess = sub;
    if (sub.stride >= 1 && at.rest % sub.stride == 0 && at.rest / sub.stride <= most_radix) {
      guess.radix = static_cast<int>(at.rest / sub.stride);
      if (fits(guess, at)) return guess;
    }
    if (sub.radix < 2 || sub.radix > most_radix || at.rest % sub.radix != 0) return std::nullopt;
    return SubFft{sub.dim, at.length / sub.radix, sub.radix, at.rest / sub.radix, at.rest, at.rest != sub.radix};
  }

  // The dimension that this sub-FFT would continue if only its letter were different.
  std::optional<SubFft> other_dimension(const SubFft& sub) const {
    for (int d = 0; d < most_dimensions; ++d) {
      SubFft guess = sub;
      guess.dim = static_cast<Dim>(d);
      const auto& at = dims_[static_cast<std::size_t>(d)];
      if (guess.dim != sub.dim && at.begun && fits(guess, at)) return guess;
    }
    return std::nullopt;
  }

  void visit(int k, int s) {
    const SubFft& sub = plan_.kernels[static_cast<std::size_t>(k)].subs[static_cast<std::size_t>(s)];
    Progress& at = dims_[static_cast<std::size_t>(index(sub.dim))];
    const char name = letter_upper(sub.dim);
    if (!fits(sub, at)) {
      const auto other = other_dimension(sub);
      const auto guess = meant(sub, at);
      std::string right;
      if (guess)
        right = "; " + to_text(*guess) + " would be right";
      else if (other)
        right = "; " + to_text(*other) + " would be right";
      if (guess && other && at.rest != sub.n) right += ", or " + to_text(*other);
      const auto [rule, what] = broken(sub, at, name);
      add(rule, k, s, what + right);
      if (!guess && other) return accept(*other, k, s);  // continue reading as if it were that one
      if (guess) return accept(*guess, k, s);
    }
    accept(sub, k, s);
  }

  static std::pair<Rule, std::string> broken(const SubFft& sub, const Progress& at, char name) {
    if (sub.radix < 2 || sub.radix > most_radix)
      return {Rule::radix, fmt::format("a radix is between 2 and {}, longer DFTs are several sub-FFTs", most_radix)};
    if (at.rest <= 1) return {Rule::finished, fmt::format("{} is already finished by {}", name, to_text(at.last))};
    if (sub.n != at.rest && !at.begun)
      return {Rule::first_n, fmt::format("n of {}'s first sub-FFT is its length {}, not {}", name, at.length, sub.n)};
    if (sub.n != at.rest)
      return {Rule::chain, fmt::format("n is the stride that {} left, {}, not {}", to_text(at.last), at.rest, sub.n)};
    if (at.rest % sub.radix != 0)
      return {Rule::product, fmt::format("radix {} does not divide what is left of {}, {}", sub.radix, name, at.rest)};
    if (sub.stride != at.rest / sub.radix)
      return {Rule::stride, fmt::format("the stride is n / radix = {}, not {}", at.rest / sub.radix, sub.stride)};
    if (sub.count * sub.radix != at.length)
      return {Rule::count,
              fmt::format("count * radix is {}'s length {}, not {}", name, at.length, sub.count * sub.radix)};
    return {Rule::last, sub.twiddle ? fmt::format("no twiddles follow the last sub-FFT of {}", name)
                                    : fmt::format("twiddles have to follow, {} is not finished", name)};
  }

  void accept(const SubFft& sub, int k, int s) {
    Progress& at = dims_[static_cast<std::size_t>(index(sub.dim))];
    if (sub.radix >= 2 && at.rest % sub.radix == 0) at.rest /= sub.radix;
    at.begun = true;
    at.last = sub;
    at.last_kernel = k;
    at.last_sub = s;
  }

  void ends() {
    if (!found_.empty()) return;  // an earlier misprint explains the incomplete end
    for (const Progress& at : dims_) {
      if (!at.begun || at.rest <= 1) continue;
      const int radix = at.rest <= most_radix ? static_cast<int>(at.rest) : 0;
      const std::string right =
          radix == 0 ? fmt::format("radices with the product {} have to follow", at.rest)
                     : fmt::format("{} has to follow",
                                   to_text(SubFft{at.last.dim, at.length / radix, radix, 1, radix, false}));
      add(Rule::last, at.last_kernel, at.last_sub,
          fmt::format("{} ends here at stride {}, its length is {}; {}", letter_upper(at.last.dim), at.rest, at.length,
                      right));
    }
  }

  void skipped_dimensions() {
    if (!found_.empty()) return;
    for (int d = 1; d < most_dimensions; ++d)
      if (dims_[static_cast<std::size_t>(d)].begun && !dims_[static_cast<std::size_t>(d - 1)].begun)
        add(Rule::dimensions, 0, -1,
            fmt::format("the plan transforms {} but not {}; name the dimensions X, Y, Z, W from the contiguous one on, "
                        "without those of length 1",
                        "XYZW"[d], "XYZW"[d - 1]));
  }

  void asked_lengths() {
    if (!found_.empty()) return;
    for (std::size_t d = 0; d < dims_.size(); ++d)
      if (asked_[d] != 0 && asked_[d] != dims_[d].length)
        add(Rule::length, 0, -1,
            fmt::format("the plan's {} has length {}, asked for is {}", "XYZW"[d], dims_[d].length, asked_[d]));
    std::int64_t values = 1;
    for (const Progress& at : dims_) values = product_of(values, at.length);
    if (values > most_length) add(Rule::length, 0, -1, "the plan has more than 2^40 values");
  }

  const FftPlan& plan_;
  Lengths asked_{};
  std::array<Progress, most_dimensions> dims_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check(const FftPlan& plan, const Lengths& asked) {
  auto found = NotationCheck(plan, asked).run();
  if (found.empty()) found = check_order(plan);
  if (!found.empty()) return found;  // parameters have a meaning only for a right decomposition
  return check_parameters(plan);
}

std::vector<Violation> check(const FftPlan& plan) { return check(plan, any_lengths); }

std::vector<Violation> check(const FftPlan& plan, const Problem& problem) {
  Lengths asked;
  std::size_t d = 0;
  for (const std::int64_t n : problem.n)
    if (n > 1) asked[d++] = n;
  auto found = check(plan, asked);
  const auto add = [&](const char* what, const std::string& has, const std::string& wants) {
    found.push_back(
        {Rule::problem, 0, -1,
         fmt::format("rule {}: the plan has {}={}, the problem {}", rule_name(Rule::problem), what, has, wants)});
  };
  if (plan.precision != problem.precision) add("prec", to_string(plan.precision), to_string(problem.precision));
  if (plan.place != problem.place) add("place", to_string(plan.place), to_string(problem.place));
  const DigitOrder order = problem.order == SpectrumOrder::reversed ? DigitOrder::primes : DigitOrder::natural;
  const DigitOrder from = problem.order == SpectrumOrder::unreversed ? DigitOrder::primes : DigitOrder::natural;
  if (plan.order != order)
    add("order", name_of(orders, plan.order), fmt::format("needs order={}", name_of(orders, order)));
  if (plan.from != from)
    add("from", name_of(input_orders, plan.from), fmt::format("needs from={}", name_of(input_orders, from)));
  return found;
}

int rank(const FftPlan& plan) {
  int out = 0;
  for (const Kernel& kernel : plan.kernels)
    for (const SubFft& sub : kernel.subs) out = std::max(out, index(sub.dim) + 1);
  return out;
}

Lengths lengths(const FftPlan& plan) {
  Lengths out;
  for (const Kernel& kernel : plan.kernels)
    for (const SubFft& sub : kernel.subs) out[static_cast<std::size_t>(index(sub.dim))] = sub.count * sub.radix;
  return out;
}

bool bound(const FftPlan& plan) {
  return std::all_of(plan.kernels.begin(), plan.kernels.end(),
                     [](const Kernel& kernel) { return kernel.with.threads > 0 && kernel.with.tile[0] > 0; });
}

}  // namespace fourtune::generator::fft
