#include "runtime/backends/emulated/placed_arrays.h"

#include <cmath>
#include <functional>
#include <map>

namespace fourtune::runtime::emulated {
namespace {

struct Place {
  std::size_t bytes = 0;
  int device = 0;
};

std::map<const char*, Place, std::less<>>& places() {
  static std::map<const char*, Place, std::less<>> all;
  return all;
}
double link = HUGE_VAL;

}  // namespace

PlacedArray::PlacedArray(const void* array, std::size_t bytes, int device) : array_(array) {
  places()[static_cast<const char*>(array)] = {bytes, device};
}
PlacedArray::~PlacedArray() { places().erase(static_cast<const char*>(array_)); }

int owner_of(const void* byte) {
  const char* const at = static_cast<const char*>(byte);
  auto next = places().upper_bound(at);
  if (next == places().begin()) return -1;
  const auto& [begin, place] = *--next;
  return at < begin + place.bytes ? place.device : -1;
}

double emulated_link() { return link; }
void set_emulated_link(double bytes_per_second) { link = bytes_per_second; }

}  // namespace fourtune::runtime::emulated
