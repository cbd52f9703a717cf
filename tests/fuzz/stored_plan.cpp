// Rows with arbitrary contents in a sound database: the first line is the tuned problem's token, the second the
// validity, the rest the plan. Tests what a stranger's winner does to resolve, show and create.
#include "db/tuning_store.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/use_database.h"

using namespace fourtune;

namespace {

void record(const std::filesystem::path& path, std::string_view text) {
  const std::size_t first = std::min(text.find('\n'), text.size());
  const std::string token(text.substr(0, first));
  text.remove_prefix(std::min(first + 1, text.size()));
  const std::size_t second = std::min(text.find('\n'), text.size());
  const std::string validity(text.substr(0, second));
  text.remove_prefix(std::min(second + 1, text.size()));
  auto store = db::TuningStore::open_for_writing(path, 1000, db::Journal::rollback);
  const auto session = store.begin_session({fuzz::environment_here(), 1, "fuzz", 0, "fuzz"});
  db::Run run;
  run.problem = token;
  run.plan = std::string(text);
  run.error = 1e-9;
  run.samples_ns = {1000};
  store.record_run(session, run);
  store.record_verdict(session, {token, run.plan, "", validity, 1000, 0, 1, 1, 0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  const std::filesystem::path path = folder / "tuning.db";
  for (const char* name : {"tuning.db", "tuning.db-wal", "tuning.db-shm", "tuning.db-journal"})
    std::filesystem::remove(folder / name);
  if (fuzz::accepted([&] { record(path, fuzz::text_of(data, size)); })) fuzz::use_database(path, size);
  return 0;
}
