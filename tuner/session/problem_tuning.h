// Tunes one problem of a session: untuned default and incumbents, search, interleaved finals, verdict. Finals and
// verdict are in finals.cpp, the rest is in problem_tuning.cpp.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/benchmark.h"
#include "tuner/search/search.h"
#include "tuner/session/course.h"
#include "tuner/session/session_context.h"

namespace fourtune::tuner {

// Marks the run of the untuned default plan (in Run::message), so that gains can be shown later.
inline constexpr const char* untuned_mark = "untuned default";
// Marks the runs of FFTW's plan that were planned another time.
inline constexpr const char* planned_again_mark = "planned again";
// The stage name under which a run stores the time of the whole of set_points.
inline constexpr const char* set_points_stage = "set_points";

// Seconds that it should take to tune this problem well, by the model. Used to share a budget between problems.
double expected_cost(const Problem& problem, const SessionContext& context);

// The time that a problem has.
struct Turn {
  double share = 0;      // seconds
  double later = 0;      // seconds that others are expected to need after it, for the ETA
  bool settles = false;  // it may leave time to others when its search has ended its rise
};

class ProblemTuning {
 public:
  ProblemTuning(SessionContext& context, const Problem& problem, std::size_t index);
  // These are called in this order. They never throw because of what a plan does; plan_ahead and search throw Error
  // when the problem cannot be set up.
  // 1. Finds the plans to measure first, among the candidates that were listed. Another problem may be in its finals.
  void plan_ahead(ListedPlans listed, const Turn& turn);
  // 2. Measures until the turn's share is spent.
  void search(const Turn& turn);
  // 3. Finals and verdict.
  ProblemReport conclude();
  // The plans that search() measures first; their kernels can be compiled already.
  const std::vector<std::string>& first() const { return soon_; }
  const SearchCourse& course() const { return course_; }
  // Whether every candidate was measured or cannot win.
  bool exhausted() const { return exhausted_; }

 private:
  // What is known of a plan, measured now or in an earlier session.
  struct Known {
    double seconds = failed;  // median, or failed
    double set_points_seconds = 0;
    std::optional<double> error, joules;
    std::string wisdom;  // from this session; see wisdom_of
    std::vector<std::int64_t> samples_ns;
    db::RunStatus status = db::RunStatus::ok;
    double cost_seconds = 0;  // duration of its evaluation in this session
    bool unsure = false;      // its samples were disturbed (usage.h)
  };
  // One plan of the finals. FFTW's plan may occur several times, with different plannings (wisdom).
  struct Finalist {
    std::string plan, wisdom;
  };

  // The steps, in order.
  void take(const Turn& turn);
  void load();
  void measure_first_plans();
  void search_candidates();
  void plan_library_again();
  void run_finals();
  void decide();
  void write_recording() const;

  void begin_search();
  // Asks for as many candidates as the host can compile while one is measured; returns their plans.
  std::vector<std::string> ask_ahead();
  std::size_t take_asked();
  void add_served_plan();
  void recall_incumbent();
  void recall_history();
  // The reason why a plan from the database cannot be right for this problem; empty if it can be.
  std::string fault_of_stored(const std::string& plan) const;
  void reject_stored(const std::string& plan, const std::string& why);
  // Ensures that no verdict serves the plan any more, here and wherever this environment's runtime would look.
  void withdraw(const std::string& plan, const std::string& why);
  // Sets best_ to the fastest plan that works; called after a plan turned out to be wrong.
  void find_best();
  void add_first_plan(const std::string& plan, const std::string& mark);
  const Known& measure(const std::string& plan, const std::string& mark);
  void record_evaluation(const std::string& plan, const std::string& mark, const Evaluation& evaluation, int round = 0);
  double candidate_timeout() const;
  double patient_timeout() const;
  EvaluationRequest request_for(const std::string& plan) const;
  void note_failure(const std::string& plan, db::RunStatus status, const std::string& message);
  // The problem's runs in this environment.
  std::vector<db::StoredRun> runs_here() const;
  int library_plannings() const;
  std::vector<Finalist> finalists() const;
  // Whether other load left too few rounds to decide by.
  static bool too_busy(const FinalsResult& result);
  bool drop_from_finals(std::vector<Finalist>& plans, const FinalsResult& result);
  // Who wins by the rounds, against whom, and by how much.
  struct Choice {
    std::string base, winner;
    RatioInterval ratio;
  };
  Choice choose();
  bool confirm(const std::string& winner);
  void note_final_failure(const std::string& plan, db::RunStatus status, const std::string& message);
  void adopt_finals(const std::vector<Finalist>& plans, const FinalsResult& result);
  std::string wisdom_of(const std::string& plan) const;
  double set_points_of(const std::string& plan) const;
  void fill_times(const std::string& winner);
  void fill_energies(const std::string& winner);
  void leave_undecided();
  // Whether the candidate cannot beat what was measured.
  bool hopeless(std::size_t candidate) const;
  bool working(const std::string& plan) const;
  // What plans are judged by, less is better: seconds or joules of one execute, or failed.
  double judged(const Known& known) const;
  bool by_energy() const { return context_.options.objective == db::Objective::energy; }
  // The finals' rounds of what plans are judged by.
  std::map<std::string, std::vector<std::int64_t>>& judged_rounds() { return by_energy() ? energies_ : rounds_; }
  // Takes over a plan that is better than the best so far.
  void compare_with_best(const std::string& plan, const Known& known);
  void note_clocks(int repeats, bool slowed);
  bool recording() const { return context_.options.measure_everything || !context_.options.record_folder.empty(); }
  double seconds_left() const;  // seconds left of this problem's share
  void send_progress(Step step);
  void end_step(Step step, const std::string& plan = {}, db::RunStatus status = db::RunStatus::ok,
                const std::string& message = {});

  SessionContext& context_;
  const Problem problem_;
  const std::string token_;
  const std::size_t index_;
  double share_ = 0, later_ = 0, begin_ = 0;
  bool settles_ = false;
  const bool compiles_;  // kernels, ahead of measuring
  double finals_reserve_ = 0;

  ListedPlans listed_;
  std::map<std::string, std::size_t> candidate_;  // plan text -> candidate
  std::map<std::string, Known> known_;            // plan text -> result
  std::string untuned_, served_;
  std::string last_failure_;                                      // "timeout: no answer within 30 s"
  std::string library_;                                           // FFTW's plan; empty for a nufft
  std::vector<std::string> library_wisdom_;                       // the wisdom of its further plannings, each different
  std::optional<db::StoredVerdict> incumbent_;                    // the winner so far in this environment
  std::vector<std::pair<std::string, std::string>> first_plans_;  // plan, mark
  std::unique_ptr<Search> search_;
  SearchCourse course_;
  bool exhausted_ = false;
  bool searching_ = false;  // the first plans are measured
  std::vector<std::string> soon_;
  std::deque<std::size_t> asked_;  // asked by the search, not measured yet
  double best_seconds_ = 0;        // of the best plan; 0: none
  double best_judged_ = 0;         // what it is judged by
  std::string best_;
  std::map<std::string, std::vector<std::int64_t>> rounds_;    // finals: plan -> nanoseconds of each round
  std::map<std::string, std::vector<std::int64_t>> energies_;  // likewise: nanojoules
  bool interrupted_ = false;
  Progress progress_;
  ProblemReport report_;
};

}  // namespace fourtune::tuner
