// The database part of `fourtune doctor`.
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "db/lookup.h"
#include "db/trusted_file.h"
#include "db/tuning_store.h"
#include "fourtune/status.h"
#include "runtime/plan_sources.h"
#include "tools/cli/machine.h"
#include "tools/common/problem_list.h"

namespace fourtune::tools {
namespace {

// The deepest existing folder of the path, in which anything new would have to be created.
std::filesystem::path existing_folder(std::filesystem::path path) {
  std::error_code error;
  path = std::filesystem::absolute(path, error).parent_path();
  while (!std::filesystem::is_directory(path, error) && path.has_relative_path()) path = path.parent_path();
  return path;
}

void note(Finding& finding, const std::string& cost) {
  if (finding.state == State::ok) finding.state = State::note;
  finding.cost += (finding.cost.empty() ? "" : "; ") + cost;
}

void note_damage(const db::TuningStore& store, Finding& finding) {
  const db::Damage damage = store.damage();
  if (!damage.any()) return;
  note(finding, damage.text() + ": they are passed over, and tuning again replaces what they said");
}

// Plans are only text, but kernels are machine code.
void note_trust(const std::filesystem::path& path, Finding& finding) {
  if (const std::string why = db::why_untrusted(path); !why.empty())
    note(finding, "compiled GPU kernels are not loaded from it, but compiled again: " + why);
}

Finding database_file(const std::filesystem::path& path) {
  std::error_code error;
  Finding finding{"database", State::ok, path.string(), {}};
  const bool exists = std::filesystem::exists(path, error);
  const bool writable = access((exists ? path : existing_folder(path)).c_str(), W_OK) == 0 &&
                        access(existing_folder(path).c_str(), W_OK) == 0;
  if (!exists) {
    finding.state = writable ? State::note : State::missing;
    finding.found += writable ? " (not there yet)" : " (not there, and its folder cannot be written)";
    finding.cost = writable ? "transforms run on the cost model's choice until `fourtune tune` has run"
                            : "`fourtune tune` needs --db PATH or FOURTUNE_DB with a place it can write";
    return finding;
  }
  try {
    const auto store = db::TuningStore::open_for_reading(path);
    const auto winners = store.winners().size();
    finding.found += fmt::format(" ({} problem{}, {} winner{}, {})", store.problems().size(),
                                 store.problems().size() == 1 ? "" : "s", winners, winners == 1 ? "" : "s",
                                 writable ? "writable" : "read-only");
    if (!writable) {
      finding.state = State::note;
      finding.cost = "plans are read from it; `fourtune tune` needs --db PATH with a file it can write";
    }
    note_damage(store, finding);
    note_trust(path, finding);
  } catch (const Error& bad) {
    finding.state = State::missing;
    finding.found = bad.what();
    finding.cost =
        "it is not used: transforms run on the cost model's choice; move it away, or choose another "
        "with --db PATH or FOURTUNE_DB";
  }
  return finding;
}

}  // namespace

std::vector<Finding> examine_database(const std::filesystem::path& database) {
  std::vector<Finding> findings;
  findings.push_back({"SQLite", State::ok, sqlite3_libversion(), {}});
  findings.push_back(database_file(database));
  const std::filesystem::path lists = builtin_folder();
  if (lists.empty())
    findings.push_back({"problem lists", State::missing, "not found next to this program",
                        "builtin:quick and the others cannot be named; FOURTUNE_CASES gives their folder"});
  else
    findings.push_back({"problem lists", State::ok, lists.string(), {}});
  return findings;
}

std::vector<Finding> examine_packs() {
  std::vector<Finding> findings;
  const db::Lookup lookup = runtime::lookup_beside({});
  for (const db::LayerReport& layer : lookup.layers()) {
    if (layer.path.empty()) continue;
    if (!layer.usable) {
      findings.push_back({"pack", State::note, layer.path.string(), "it is not used: " + layer.reason});
      continue;
    }
    const std::string name =
        layer.pack ? fmt::format("{} {}", layer.pack->name(), layer.pack->version()) : "a database";
    findings.push_back(
        {"pack",
         State::ok,
         fmt::format("{}: {} plan{}, {}", name, layer.verdicts, layer.verdicts == 1 ? "" : "s", layer.path.string()),
         {}});
  }
  return findings;
}

}  // namespace fourtune::tools
