#include "core/history/judge.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "core/compare/changes/find_changes.h"
#include "core/history/cause.h"
#include "core/measure/stats/quantile.h"
#include "core/results/speed_change.h"

namespace gpubench {
namespace {

// A later night may find a change this many values away from where it was reported: it is the same one.
constexpr std::size_t same_within = 5;

/// What judging one series needs to know of all runs and of what was reported before.
class Judge {
 public:
  explicit Judge(RunHistory& history) : history_(history) {
    for (HistoryRun& run : history.runs()) runs_.emplace(run.id, std::move(run));
    for (ReportedChange& change : history.changes()) reported_[change.series].push_back(std::move(change));
  }

  void look_at(const HistorySeries& series, const std::vector<HistoryPoint>& points) {
    std::vector<double> values;
    std::vector<const HistoryRun*> runs;
    for (const HistoryPoint& point : points) {
      if (!point.reliable) continue;
      values.push_back(point.value);
      runs.push_back(&runs_.at(point.run));
    }
    const Changes found = find_changes(values);
    for (std::size_t i = 0; i < found.changes.size(); ++i) {
      // Where nights were pruned, places of earlier ones may look like changes that nobody saw at the time.
      if (runs[found.alarms[i]]->id <= series.judged) continue;
      if (was_reported(series.id, runs, found.changes[i])) continue;
      const std::size_t before = i == 0 ? 0 : found.changes[i - 1];
      report(series, runs, values, before, found.changes[i], found.alarms[i]);
    }
    std::int64_t last = series.judged;
    for (const HistoryPoint& point : points) last = std::max(last, point.run);
    if (last > series.judged) judged_.emplace_back(series.id, last);
  }

  /// Stores what is new. Causes that need a look at all series are found only here.
  std::vector<ReportedChange> finish() {
    for (const auto& [series, run] : judged_) history_.set_judged(series, run);
    std::map<std::string, std::set<std::string>> moved;  // by the run that saw it, experiments
    for (const auto& [series, change] : new_) moved[series.key.host + change.started].insert(series.key.experiment);
    std::ranges::stable_sort(new_, [](const auto& a, const auto& b) { return weight(a) > weight(b); });
    std::vector<ReportedChange> all;
    for (auto& [series, change] : new_) {
      if (change.cause.empty()) {
        const bool machine = moved[series.key.host + change.started].size() > 2;
        change.cause = machine ? machine_cause : unknown_cause;
      }
      change.id = history_.add_change(change);
      all.push_back(change);
    }
    return all;
  }

 private:
  using NewChange = std::pair<HistorySeries, ReportedChange>;

  static double weight(const NewChange& one) {
    const auto& [series, change] = one;
    const double size = std::abs(std::log(std::abs(change.after / change.before)));
    return is_worse(series, change.before, change.after) ? 1e6 + size : size;
  }

  bool was_reported(std::int64_t series, const std::vector<const HistoryRun*>& runs, std::size_t at) const {
    const auto found = reported_.find(series);
    if (found == reported_.end()) return false;
    const std::size_t first = at - std::min(at, same_within), last = std::min(at + same_within, runs.size() - 1);
    return std::ranges::any_of(found->second, [&](const ReportedChange& change) {
      return std::any_of(runs.begin() + static_cast<std::ptrdiff_t>(first),
                         runs.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                         [&](const HistoryRun* run) { return run->name == change.run; });
    });
  }

  void report(const HistorySeries& series, const std::vector<const HistoryRun*>& runs, std::span<const double> values,
              std::size_t level, std::size_t at, std::size_t alarm) {
    ReportedChange change{.series = series.id,
                          .run = runs[at]->name,
                          .started = runs[at]->started,
                          .reported = runs[alarm]->name,
                          .before = median(values.subspan(level, at - level)),
                          .after = median(values.subspan(at, alarm + 1 - at))};
    const bool worse = is_worse(series, change.before, change.after);
    change.state = worse ? ChangeState::open : ChangeState::better;
    if (runs[at]->environment != runs[at - 1]->environment) {
      change.cause =
          cause_between(history_.environment(runs[at - 1]->environment), history_.environment(runs[at]->environment));
    }
    if (!worse) recover(series, change);
    reported_[series.id].push_back(change);
    new_.emplace_back(series, change);
  }

  /// A regression is over once half of it is taken back.
  void recover(const HistorySeries& series, const ReportedChange& better) {
    std::vector<ReportedChange*> open;
    for (ReportedChange& change : reported_[series.id])
      if (change.state == ChangeState::open) open.push_back(&change);
    for (auto& [of, change] : new_)
      if (of.id == series.id && change.state == ChangeState::open) open.push_back(&change);
    for (ReportedChange* const change : open) {
      const double halfway = (change->before + change->after) / 2;
      const bool still_worse = is_worse(series, halfway, better.after);
      if (still_worse) continue;
      change->state = ChangeState::recovered;
      change->closed = better.run;
      if (change->id != 0) history_.close_change(change->id, change->state, change->closed, change->note);
    }
  }

  RunHistory& history_;
  std::unordered_map<std::int64_t, HistoryRun> runs_;
  std::unordered_map<std::int64_t, std::vector<ReportedChange>> reported_;
  std::vector<NewChange> new_;
  std::vector<std::pair<std::int64_t, std::int64_t>> judged_;  ///< series, last run
};

}  // namespace

bool is_worse(const HistorySeries& series, double before, double after) {
  return series.column.better == Better::lower ? after > before : after < before;
}

std::string change_text(const HistorySeries& series, double before, double after) {
  const bool worse = is_worse(series, before, after);
  if (before == 0 || (before < 0) != (after < 0))
    return fmt::format("{} ({})", after > before ? "higher" : "lower", worse ? "worse" : "better");
  const double share = 100 * std::abs(after / before - 1);
  const Unit unit = series.column.unit;
  const bool is_rate = unit == Unit::per_second || unit == Unit::flops_per_second || unit == Unit::bytes_per_second;
  if ((unit == Unit::seconds || is_rate) && after != 0) return speed_text(time_ratio(series.column, before, after));
  return fmt::format("{:.1f} % {} ({})", share, after > before ? "higher" : "lower", worse ? "worse" : "better");
}

std::vector<ReportedChange> judge(RunHistory& history, const Judged& which) {
  Transaction transaction(history.database());
  Judge judge(history);
  std::vector<HistorySeries> watched = history.series();
  std::erase_if(watched, [&](const HistorySeries& series) {
    return !series.watched || series.key.suite != which.suite.value_or(series.key.suite) ||
           series.key.host != which.host.value_or(series.key.host);
  });
  history.for_each_series(watched,
                          [&](const HistorySeries& series, const auto& points) { judge.look_at(series, points); });
  std::vector<ReportedChange> all = judge.finish();
  transaction.commit();
  return all;
}

}  // namespace gpubench
