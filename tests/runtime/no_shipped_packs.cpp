// Hides the packs that come with the library from every test program and what it starts. A test of them names their
// folder in FOURTUNE_SHIPPED_PACKS.
#include <cstdlib>

namespace {
const int hidden = ::setenv("FOURTUNE_SHIPPED_PACKS", "", 0);
}
