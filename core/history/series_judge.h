// One series with what was reported of it, while its values are looked at one by one: lasting changes, a night far from
// the level that was measured again, several such nights, and the ends of these.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/compare/changes/level.h"
#include "core/history/history.h"
#include "core/history/judge.h"

namespace gpubench {

/// "code (program.commit a -> b)", "environment (...)", "method (...)", or several of them; empty if nothing differs.
/// Both as RunValues::environment.
std::string cause_between(std::string_view before, std::string_view after);

/// Where no fact differs: many series of the host moved with the same run, or only this one.
inline constexpr std::string_view machine_cause =
    "machine: no recorded fact differs, and other experiments on this host changed too";
inline constexpr std::string_view unknown_cause = "unknown: no recorded fact differs";

class SeriesJudge {
 public:
  /// `runs` and `values`: the reliable ones, in their order. `known`: what was reported before. `environment`: its
  /// facts by HistoryRun::environment. `threshold`: the least share that counts, in place of the usual 3 % of one night
  /// and 0.1 % of what lasts.
  SeriesJudge(HistorySeries series, std::vector<const HistoryRun*> runs, std::vector<double> values,
              std::vector<ReportedChange> known, std::function<std::string(std::int64_t)> environment,
              std::optional<double> threshold = std::nullopt);

  /// Looks at all values after the run `judged`. `again`: what fresh processes measured, by night.
  void look(std::int64_t judged, const std::map<std::string, std::vector<double>>& again);
  /// Of the last value. Nothing is reported.
  std::optional<Suspect> suspect() const;

  std::span<const ReportedChange> new_changes() const { return std::span(changes_).subspan(known_); }
  /// Of the new changes: whether it ends a regression that was reported.
  bool takes_back(std::size_t new_change) const { return takes_back_[known_ + new_change]; }
  /// Those that were known and are closed now.
  std::vector<const ReportedChange*> closed() const;
  /// The runs of a new change: the first with the new level, and the one that showed it.
  const HistoryRun& run_of(const ReportedChange& change) const { return *runs_[index_of(change.run).value()]; }
  const HistoryRun& reported_by(const ReportedChange& change) const {
    return *runs_[index_of(change.reported).value()];
  }

 private:
  std::optional<std::size_t> index_of(const std::string& run) const;
  /// Where nights were pruned, places of earlier ones may look like changes that nobody saw at the time.
  bool is_new(std::size_t i, std::int64_t judged) const { return runs_[i]->id > judged; }
  std::vector<std::size_t> places_until(std::size_t last) const;
  std::optional<Level> level_before(std::size_t i) const;
  bool was_reported(std::size_t at, bool worse) const;
  /// A regression is over once half of it is taken back.
  bool is_taken_back(const ReportedChange& change, double value) const;
  std::string cause_at(std::size_t at) const;
  void report_lasting(std::size_t level, std::size_t at, std::size_t alarm);
  void use_second_look(std::size_t i, std::span<const double> again);
  void look_for_repair(std::size_t i);
  void look_for_frequent(std::size_t i);
  void add(ChangeSign sign, std::size_t at, std::size_t alarm, double before, double after);
  /// Open regressions that it takes back. Returns the best level that one of them had before.
  std::optional<double> close(const ReportedChange& better);

  HistorySeries series_;
  std::vector<const HistoryRun*> runs_;
  std::vector<double> values_;
  std::vector<ReportedChange> changes_;
  std::function<std::string(std::int64_t)> environment_;
  std::optional<double> threshold_;
  std::size_t known_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  ///< index of the value, index of the change
  std::vector<std::size_t> closed_;                          ///< indices of changes
  std::vector<bool> takes_back_;                             ///< by change
};

}  // namespace gpubench
