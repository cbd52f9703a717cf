// Database files. An input that begins with SQLite's magic bytes is a whole file. Any other input is a list of changes
// to a file that this build wrote (fuzz::change).
#include <fstream>
#include <iterator>

#include "db/kernel_store.h"
#include "db/tuning_store.h"
#include "generator/candidates.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/use_database.h"

using namespace fourtune;

namespace {

constexpr std::string_view kMark("SQLite format 3\0", 16);

const db::KernelOrigin kKernel{"entry", "text", {"--option"}, "compiler", "sm_90"};

std::string file_of_this_build(const std::filesystem::path& path) {
  {
    auto store = db::TuningStore::open_for_writing(path, 1000, db::Journal::rollback);
    const auto session = store.begin_session({fuzz::environment_here(), 7, "local", 30, "fourtune tune"});
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string token = fuzz::small_problems()[i];
      const Problem problem = parse_problem(token);
      const std::string plan = generator::to_text(generator::default_plan(problem, cpu_traits()), problem);
      db::Run run;
      run.problem = token;
      run.plan = plan;
      run.error = 1e-7;
      run.samples_ns = {1200, 1100, 1300};
      run.stages = {{"fft", 300}, {"spread", 500}};
      store.record_run(session, run);
      store.record_verdict(session, {token, plan, "", R"({"m":[10,1000],"batch":[1,8]})", 1100, 2000, 1.2, 1.9, 5});
    }
    store.finish_session(session, db::SessionEnd::complete);
  }
  db::KernelStore(path).put(kKernel, {std::vector<std::byte>(300, std::byte{7}), "log"});
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  static const std::string ours = file_of_this_build(folder / "ours.db");
  const std::filesystem::path path = folder / "tuning.db";
  for (const char* beside : {"tuning.db-wal", "tuning.db-shm", "tuning.db-journal"})
    std::filesystem::remove(folder / beside);
  const std::string_view input = fuzz::text_of(data, size);
  std::string file(input);
  if (!input.starts_with(kMark)) {
    file = ours;
    fuzz::change(file, input);
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(file.data(), static_cast<std::streamsize>(file.size()));
  fuzz::use_database(path, size);
  db::KernelStore kernels(path);
  kernels.find(kKernel);
  return 0;
}
