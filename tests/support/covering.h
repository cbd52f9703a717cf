// A pairwise covering set: a few rows that together contain every pair of choices of any two factors.
#pragma once

#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace fourtune::test {

// factors[f] is the number of choices of factor f; a row has one choice per factor. The algorithm is greedy with a
// fixed seed: among a few random completions it takes the one that covers most new pairs.
inline std::vector<std::vector<int>> pairwise(const std::vector<int>& factors) {
  std::set<std::tuple<int, int, int, int>> open;  // (factor a, choice, factor b > a, choice)
  const int count = static_cast<int>(factors.size());
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b)
      for (int i = 0; i < factors[a]; ++i)
        for (int j = 0; j < factors[b]; ++j) open.insert({a, i, b, j});
  std::mt19937 random(1);
  std::vector<std::vector<int>> rows;
  const auto pairs_of = [&](const std::vector<int>& row, auto&& visit) {
    for (int a = 0; a < count; ++a)
      for (int b = a + 1; b < count; ++b) visit(std::make_tuple(a, row[a], b, row[b]));
  };
  while (!open.empty()) {
    std::vector<int> best;
    int best_new = -1;
    const auto [a, i, b, j] = *open.begin();
    for (int attempt = 0; attempt < 60; ++attempt) {
      std::vector<int> row(factors.size());
      for (int f = 0; f < count; ++f) row[f] = static_cast<int>(random() % factors[f]);
      row[a] = i, row[b] = j;
      int fresh = 0;
      pairs_of(row, [&](const auto& pair) { fresh += open.count(pair) > 0; });
      if (fresh > best_new) best_new = fresh, best = row;
    }
    pairs_of(best, [&](const auto& pair) { open.erase(pair); });
    rows.push_back(best);
  }
  return rows;
}

}  // namespace fourtune::test
