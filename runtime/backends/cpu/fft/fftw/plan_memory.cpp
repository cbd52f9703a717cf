// A printed plan is a tree: "(dft-ct-dit/20 (dftw-direct-20/16 "t3fv_20_avx") (dft-vrank>=1-x20/1 (...)))". A node's
// name has its kind and its sizes. Sizes here are in real numbers, and R is the radix of a step, N the length of a
// line:
//
//   kind              name                        holds                       takes while it executes
//   Bluestein         dft-bluestein-N/M           chirp and filter, 2 N + 2 M  a padded line, 2 M
//   Rader             dft-rader-N                 N - 1 roots                  N - 1 values
//   Rader, real       dht-rader-N/M               a padded filter, M           a padded line, M
//   generic           dft-generic-N               at most N^2 (N is small)     -
//   buffered          dft-buffered-N-xB/V-S       -                            B lines of N + S values
//   real by complex   rdft2-rdft-KIND-N-xB/V-S    -                            the same, real
//   transposition     rdft-transpose-KIND-NxM-xV  -                            at most half of the matrix
//   Cooley-Tukey      dft-ct-KIND/R               twiddle factors: of each of its first children "KIND-R/W", W for each
//                                                 of the N/R columns that its last child transforms
#include "runtime/backends/cpu/fft/fftw/plan_memory.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace fourtune::runtime::cpu {
namespace {

struct Name {
  std::string_view text;
  std::int64_t size = 0;  // the first number that follows a '-'
  // The numbers that follow it in "-N-xV/A-B", and A of names that have no N.
  std::int64_t vectors = 1, a = 0, b = 0;

  explicit Name(std::string_view name) : text(name) {
    std::size_t at = 0;
    while (at < text.size() && !(text[at] == '-' && digit(at + 1))) ++at;
    if (at == text.size()) {
      at = text.find('/');
      if (at != text.npos) a = number(at);
      return;
    }
    size = number(at);
    if (at < text.size() && text[at] == 'x') vectors = number(at);  // NxM
    if (text.substr(at, 2) == "-x" && digit(at + 2)) vectors *= number(++at);
    if (at < text.size() && text[at] == '/') a = number(at);
    if (at < text.size() && text[at] == '-') b = number(at);
  }
  bool has(std::string_view part) const { return text.find(part) != text.npos; }

 private:
  bool digit(std::size_t at) const { return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); }
  // The number after position `at`, which moves to its end; 0 where none is.
  std::int64_t number(std::size_t& at) const {
    std::int64_t value = 0;
    for (++at; digit(at); ++at) value = 10 * value + (text[at] - '0');
    return value;
  }
};

// Reals per column of a step that multiplies by twiddle factors.
std::int64_t twiddles_per_column(const Name& step, std::int64_t radix) { return step.a > 0 ? step.a : 2 * radix; }

std::int64_t held_reals(const Name& name) {
  if (name.has("dft-bluestein-")) return 2 * (name.size + name.a);
  if (name.has("dft-rader-")) return 2 * name.size;
  if (name.has("dht-rader-")) return name.a;
  return name.has("dft-generic-") ? name.size * name.size : 0;
}

std::int64_t scratch_reals(const Name& name) {
  if (name.has("dft-bluestein-")) return 2 * name.a;
  if (name.has("dft-rader-")) return 2 * name.size;
  if (name.has("dht-rader-")) return name.a;
  constexpr std::int64_t kReal = 2;  // a half spectrum has two numbers more than its line
  const std::int64_t lines = name.vectors * (name.size + name.b + kReal);
  if (name.has("rdft-buffered-") || name.has("rdft2-buffered-") || name.has("rdft2-rdft-")) return lines;
  if (name.has("dft-buffered-")) return 2 * lines;
  return name.has("-transpose-") ? name.size * name.vectors / 2 : 0;
}

class PrintedPlan {
 public:
  explicit PrintedPlan(std::string_view printed) {
    for (const char c : printed)
      if (!std::isspace(static_cast<unsigned char>(c))) text_ += c;
    // What threads do stands behind a node that says how many there are: "(dft-thr-vrank>=1-x4/1)(...)(...)".
    for (; at_ < text_.size(); ++at_)
      while (at_ < text_.size() && text_[at_] == '(') scratch_ = std::max(scratch_, node().scratch);
  }
  std::int64_t held() const { return held_; }
  std::int64_t scratch() const { return scratch_; }

 private:
  struct Node {
    Name name;
    std::int64_t points = 0;  // of the lines that it transforms
    std::int64_t scratch = 0;
  };

  // Reads the node that begins here.
  Node node() {
    const std::size_t start = at_++;
    const std::size_t end = std::min(text_.find_first_of("()\"", at_), text_.size());
    Node result{Name(std::string_view(text_).substr(at_, end - at_))};
    const std::int64_t held_before = held_;
    std::vector<Node> children;
    for (at_ = end; at_ < text_.size() && text_[at_] != ')';) {
      if (text_[at_] == '(')
        children.push_back(node());
      else
        at_ = text_[at_] == '"' ? std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1 : at_ + 1;
    }
    ++at_;
    const Name& name = result.name;
    for (const Node& child : children) {
      result.points = std::max(result.points, child.points);
      result.scratch = std::max(result.scratch, child.scratch);  // one after the other
    }
    if (name.size > 0) result.points = name.size;
    result.scratch += scratch_reals(name);
    held_ += held_reals(name);
    if (name.has("-ct-") && !children.empty()) {
      const std::int64_t columns = children.back().points;
      for (std::size_t i = 0; i + 1 < children.size(); ++i)
        held_ += twiddles_per_column(children[i].name, name.a) * columns;
      result.points = name.a * columns;
    }
    // Equal parts share their twiddle factors and roots; only Bluestein's tables belong to one plan.
    const std::string_view whole = std::string_view(text_).substr(start, at_ - start);
    if (!seen_.insert(whole).second && whole.find("bluestein") == whole.npos) held_ = held_before;
    return result;
  }

  std::string text_;
  std::size_t at_ = 0;
  std::int64_t held_ = 0, scratch_ = 0;
  std::set<std::string_view> seen_;
};

}  // namespace

FftwMemory memory_of_printed_plan(std::string_view printed, std::int64_t real_bytes) {
  const PrintedPlan plan(printed);
  return {plan.held() * real_bytes, plan.scratch() * real_bytes};
}

template <class T>
FftwMemory memory_of(const FftwPlan<T>& plan) {
  char* text = plan ? Fftw<T>::print(plan.get()) : nullptr;
  if (text == nullptr) return {};
  const FftwMemory memory = memory_of_printed_plan(text, sizeof(T));
  std::free(text);  // FFTW documents free() for this string
  return memory;
}
template FftwMemory memory_of(const FftwPlan<float>&);
template FftwMemory memory_of(const FftwPlan<double>&);

}  // namespace fourtune::runtime::cpu
