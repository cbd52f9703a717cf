// Hides the packs that come with the library, and this user's calibrations, from every test program and what it starts.
// A test of them names their folder in FOURTUNE_SHIPPED_PACKS or FOURTUNE_CALIBRATIONS.
#include <cstdlib>

namespace {
const int hidden = ::setenv("FOURTUNE_SHIPPED_PACKS", "", 0) + ::setenv("FOURTUNE_CALIBRATIONS", "", 0);
}
