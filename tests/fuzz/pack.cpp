// Packs. An input that begins with SQLite's magic bytes is a whole pack. Any other input is a list of changes to a pack
// that this build wrote (fuzz::change). Whatever is changed, a plan or a kernel that is returned is what was written.
#include "db/pack.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/pack_index.h"
#include "db/pack_writer.h"
#include "tests/fuzz/fuzz.h"

using namespace fourtune;

namespace {

constexpr std::string_view kMark("SQLite format 3\0", 16);

db::PackContents contents_of_this_build() {
  db::PackContents all;
  all.manifest = {"fuzzed", "1.0", "CC0", "fourtune", "plan texts 1", {"a database"}};
  for (const char* token : {"fft:type=c2c,n=8,prec=f32", "nufft:type=1,n=8,m=20,prec=f32,tol=1e-3"})
    for (int rank = 0; rank < 2; ++rank) {
      db::PackPlan one;
      one.verdict = {token, "cpu;threads=" + std::to_string(rank + 1), "", R"({"batch":[1,8]})", 1100, 2000, 1.25, 1.5,
                     5};
      one.environment = {"cpu", "Example CPU", "avx2", R"({"cores":2})", "", "", "fftw 3.3.10", "plan texts 1"};
      one.rank = rank;
      one.error = 1e-7;
      one.wisdom = "(fftw-3.3.10 fftw_wisdom\n)";
      one.kin = "any", one.size = 3;
      all.plans.push_back(one);
    }
  all.kernels = {
      {std::string(64, 'a'), "entry", "sm_90", "nvrtc 13.0", {std::vector<std::byte>(300, std::byte{7}), "log"}}};
  return all;
}

// The title and the fingerprint of an index of an empty file.
std::string index_head() {
  const std::string whole = db::index_text({}, {});
  return whole.substr(0, whole.find('\n', whole.find('\n') + 1) + 1);
}

void read_index(std::string_view lines) {
  static const std::string head = index_head();
  const auto index = db::parse_index(head + std::string(lines), {});
  if (index) index->may_have({"any", 3, 10}, [](const db::Environment&) { return true; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const db::PackContents written = contents_of_this_build();
  static const std::vector<std::byte> ours = db::pack_bytes(written);
  const std::string_view input = fuzz::text_of(data, size);
  read_index(input);
  const bool changed = !input.starts_with(kMark);
  std::string file(input);
  if (changed) {
    file.assign(reinterpret_cast<const char*>(ours.data()), ours.size());
    fuzz::change(file, input);
  }
  fuzz::accepted([&] {
    const auto pack = db::Pack::of_bytes(std::as_bytes(std::span(file)), "fuzzed");
    const auto look_at = [&](const db::Pack::Row& row) {
      fuzz::require(!changed || std::find(written.plans.begin(), written.plans.end(), row.plan) != written.plans.end(),
                    "a plan of a damaged pack is what was written", row.plan.verdict.plan);
      return 10.0;
    };
    std::size_t damaged = 0;
    for (const db::PackPlan& plan : written.plans)
      for (const db::Pack::Row& row : pack->plans_of(plan.verdict.problem, damaged)) look_at(row);
    pack->visit_near("any", 3, 10, look_at);
    const auto kernel = pack->kernel(written.kernels[0].digest);
    fuzz::require(!changed || !kernel || kernel->image == written.kernels[0].kernel.image,
                  "a kernel of a damaged pack is what was written");
    pack->why_kernels_not_trusted({});
    pack->check();
  });
  return 0;
}
