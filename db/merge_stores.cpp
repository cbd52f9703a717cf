#include "db/merge_stores.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "db/database.h"
#include "db/digest.h"
#include "db/insertions.h"
#include "db/queries.h"
#include "db/row_checksum.h"
#include "db/store_file.h"

namespace fourtune::db {
namespace {

constexpr int kMergeBusyMs = 60000;  // the output may be a database into which others tune

// ---- rows are known by what they say, in any file
std::string key_of(const SessionStart& s, std::int64_t started_ms) {
  const Environment& e = s.environment;
  const std::string seed = std::to_string(s.seed), budget = std::to_string(s.budget_seconds),
                    started = std::to_string(started_ms);
  const std::array<std::string_view, 13> parts{e.backend,  e.device,    e.isa,       e.traits, e.driver,
                                               e.compiler, e.libraries, e.generator, seed,     s.strategy,
                                               budget,     s.command,   started};
  return blake2b(parts);
}

struct Session {
  StoredSession row;
  SessionId in_output{};
};
struct RunRow {
  StoredRun row;
  std::string session, checksum;
  auto order() const { return std::tie(row.started_ms, session, row.problem, row.plan, row.round, checksum); }
};
struct VerdictRow {
  StoredVerdict row;
  std::string session, key;
  auto order() const { return std::tie(row.created_ms, key); }
};

// The session and the text of a row; sessions first, so that rows of different files compare.
std::string key_of(const StoredVerdict& v, const std::string& session) {
  return session + checksum_of(v, v.environment, v.created_ms, {});
}

// Where winners are compared.
using Place = std::pair<std::string, std::string>;  // problem, environment
Place place_of(const StoredVerdict& v) {
  const Environment& e = v.environment;
  const std::array<std::string_view, 8> parts{e.backend, e.device,   e.isa,       e.traits,
                                              e.driver,  e.compiler, e.libraries, e.generator};
  return {v.problem, blake2b(parts)};
}

PackPlan account_of(const StoredVerdict& v) {
  PackPlan plan;
  plan.verdict = v;
  plan.verdict.replaces.clear();
  plan.environment = v.environment;
  plan.created_ms = v.created_ms;
  return plan;
}

// The rows of all files, each once.
class Union {
 public:
  void add(const StoreContents& contents) {
    std::map<SessionId, std::string> keys;
    for (const StoredSession& session : contents.sessions) {
      const std::string key = keys[session.id] = key_of(session, session.started_ms);
      StoredSession& known = sessions.try_emplace(key, Session{session, {}}).first->second.row;
      // A copy made while the session ran does not know its end.
      if (session.end && std::tie(known.finished_ms, known.end) < std::tie(session.finished_ms, session.end))
        known.finished_ms = session.finished_ms, known.end = session.end;
    }
    for (const StoredRun& run : contents.runs) {
      const auto session = keys.find(run.session);
      if (session == keys.end()) continue;
      std::string checksum = checksum_of(run, sessions.at(session->second).row.environment,
                                         samples_text(run.samples_ns), stages_text(run.stages));
      std::string key = session->second + checksum;
      runs.try_emplace(std::move(key), RunRow{run, session->second, std::move(checksum)});
    }
    std::map<Place, std::vector<std::string>> drawn;  // that are not withdrawn, the latest last
    for (const StoredVerdict& verdict : contents.verdicts) {
      const auto session = keys.find(verdict.session);
      if (session == keys.end()) continue;
      const std::string key = key_of(verdict, session->second);
      std::string& reason =
          verdicts.try_emplace(key, VerdictRow{verdict, session->second, key}).first->second.row.withdrawn;
      if (reason.empty() || (!verdict.withdrawn.empty() && verdict.withdrawn < reason)) reason = verdict.withdrawn;
      if (verdict.withdrawn.empty()) drawn[place_of(verdict)].push_back(key);
    }
    for (const auto& [place, in_turn] : drawn) {
      winners[place].insert(in_turn.back());
      for (const std::string& key : in_turn)
        if (key != in_turn.back()) superseded.insert(key);
    }
  }

  // The candidates for the winner of this place: nobody went on from them, unless somebody went on from each.
  std::vector<const VerdictRow*> candidates(const Place& place) const {
    std::vector<const VerdictRow*> all, latest;
    for (const std::string& key : winners.at(place)) {
      const VerdictRow& row = verdicts.at(key);
      if (!row.row.withdrawn.empty()) continue;
      all.push_back(&row);
      if (!superseded.contains(key)) latest.push_back(&row);
    }
    return latest.empty() ? all : latest;
  }

  std::map<std::string, Session> sessions;
  std::map<std::string, RunRow> runs;
  std::map<std::string, VerdictRow> verdicts;
  std::map<Place, std::set<std::string>> winners;  // of each file, by key
  std::set<std::string> superseded;                // verdicts after which a file has another one
};

// The values in the order of their time, ties by what they say.
template <class Row>
std::vector<const Row*> in_order(const std::map<std::string, Row>& rows) {
  std::vector<const Row*> all;
  for (const auto& [key, row] : rows) all.push_back(&row);
  std::sort(all.begin(), all.end(), [](const Row* a, const Row* b) { return a->order() < b->order(); });
  return all;
}

StoreContents contents_of(const Database& database) {
  StoreContents contents;
  contents.sessions = read_sessions(database);
  for (const std::string& problem : read_problems(database))
    for (StoredRun& run : read_runs(database, problem, std::nullopt, contents.damage.runs))
      contents.runs.push_back(std::move(run));
  contents.verdicts = read_verdicts(database, {}, contents.damage.verdicts);
  return contents;
}

// Adds the rows of a union that the output lacks.
class Writer {
 public:
  Writer(const Database& out, const Union& before, Union& all) : out_(out), before_(before), all_(all) {}

  MergedStores write(MergePolicy policy) {
    add_sessions();
    for (const RunRow* run : in_order(all_.runs)) {
      if (before_.runs.contains(run->session + run->checksum)) continue;
      const Session& session = all_.sessions.at(run->session);
      insert_run(out_, session.in_output, run->row, session.row.environment);
      ++merged_.runs;
    }
    for (const VerdictRow* verdict : in_order(all_.verdicts)) {
      if (!before_.verdicts.contains(verdict->key))
        insert(*verdict), ++merged_.verdicts;
      else if (!verdict->row.withdrawn.empty())
        withdraw(out_, verdict->row.id, verdict->row.withdrawn);
    }
    choose(policy);
    return std::move(merged_);
  }

 private:
  void add_sessions() {
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [key, session] : all_.sessions) order.emplace_back(session.row.started_ms, key);
    std::sort(order.begin(), order.end());
    for (const auto& [started_ms, key] : order) {
      Session& session = all_.sessions.at(key);
      const auto known = before_.sessions.find(key);
      const bool is_new = known == before_.sessions.end();
      session.in_output = is_new ? insert_session(out_, session.row, started_ms) : known->second.row.id;
      merged_.sessions += is_new;
      if (session.row.end && (is_new || known->second.row.finished_ms != session.row.finished_ms))
        end_session(out_, session.in_output, *session.row.end, session.row.finished_ms);
    }
  }

  void insert(const VerdictRow& verdict) {
    const VerdictId id = insert_verdict(out_, all_.sessions.at(verdict.session).in_output, verdict.row,
                                        verdict.row.environment, verdict.row.created_ms);
    if (!verdict.row.withdrawn.empty()) withdraw(out_, id, verdict.row.withdrawn);
  }

  // The latest verdict of a place wins. Where that is not the one that the policy prefers, the preferred one is written
  // once more: rows do not change their places.
  void choose(MergePolicy policy) {
    std::map<Place, std::string> now;
    for (const StoredVerdict& winner : read_winners(out_, std::nullopt, std::nullopt))
      now[place_of(winner)] = checksum_of(winner, winner.environment, winner.created_ms, {});
    for (const auto& [place, keys] : all_.winners) {
      std::vector<const VerdictRow*> candidates = all_.candidates(place);
      if (candidates.empty()) continue;
      std::sort(candidates.begin(), candidates.end(), [&](const VerdictRow* a, const VerdictRow* b) {
        const PackPlan first = account_of(a->row), second = account_of(b->row);
        if (is_preferred(first, second, policy)) return true;
        return !is_preferred(second, first, policy) && a->key < b->key;
      });
      const VerdictRow& chosen = *candidates.front();
      if (now[place] != chosen.key.substr(chosen.session.size())) insert(chosen);
      note_conflict(candidates);
    }
  }

  void note_conflict(const std::vector<const VerdictRow*>& candidates) {
    MergeConflict conflict{account_of(candidates.front()->row), {}};
    std::set<std::string> seen{candidates.front()->row.plan};
    for (const VerdictRow* other : candidates)
      if (seen.insert(other->row.plan).second) conflict.others.push_back(account_of(other->row));
    std::sort(conflict.others.begin(), conflict.others.end(),
              [](const PackPlan& a, const PackPlan& b) { return is_preferred(a, b, MergePolicy::fastest); });
    if (!conflict.others.empty()) merged_.conflicts.push_back(std::move(conflict));
  }

  const Database& out_;
  const Union& before_;
  Union& all_;
  MergedStores merged_;
};

}  // namespace

StoreContents contents_of_store(const std::filesystem::path& path) {
  const Database database = open_for_reading(path, OpenAs::shared);
  const Snapshot moment(database);
  StoreContents contents = contents_of(database);
  contents.damage = read_damage(database);
  return contents;
}

MergedStores merge_stores(const std::filesystem::path& out, std::span<const StoreContents> inputs, MergePolicy policy) {
  if (policy == MergePolicy::first)
    throw Error(Status::invalid_option, "databases are merged in no order: newest or fastest");
  const Database database = open_for_writing(out, kMergeBusyMs, Journal::automatic);
  Transaction transaction(database);
  Union before;
  before.add(contents_of(database));
  Union all = before;
  for (const StoreContents& input : inputs) all.add(input);
  MergedStores merged = Writer(database, before, all).write(policy);
  transaction.commit();
  return merged;
}

}  // namespace fourtune::db
