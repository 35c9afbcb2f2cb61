#include "core/history/judge.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "core/compare/changes/find_changes.h"
#include "core/compare/changes/level.h"
#include "core/history/cause.h"
#include "core/history/news.h"
#include "core/measure/stats/quantile.h"
#include "core/results/speed_change.h"

namespace gpubench {
namespace {

// A later night may find a change this many values away from where it was reported: it is the same one.
constexpr std::size_t same_within = 5;
/// What happened this many nights apart on one host may have one cause.
constexpr int one_cause_nights = 3;
/// Runs on either side of a change among which its cause is looked for: its place may be that far off.
constexpr std::size_t cause_reach = 3;
/// As many values in a row on the other side of the middle end a regression.
constexpr std::size_t repaired_count = 3;

std::string date_of(const std::string& started) {
  return started.substr(0, started.find('T'));
}

/// The order of nights on each host and suite. A run by hand, and one of an older program, counts to its day.
class NightOrder {
 public:
  explicit NightOrder(const std::vector<HistoryRun>& runs) {
    for (const HistoryRun& run : runs) {
      std::map<std::string, int>& nights = nights_[run.host + '\0' + run.suite];
      const std::string night = run.night.empty() ? date_of(run.started) : run.night;
      number_.emplace(run.id, nights.emplace(night, static_cast<int>(nights.size())).first->second);
    }
  }

  int of(const HistoryRun& run) const { return number_.at(run.id); }

 private:
  std::unordered_map<std::string, std::map<std::string, int>> nights_;
  std::unordered_map<std::int64_t, int> number_;
};

/// One series with what was reported of it, while its values are looked at one by one.
class SeriesJudge {
 public:
  SeriesJudge(const RunHistory& history, const HistorySeries& series, std::vector<const HistoryRun*> runs,
              std::vector<double> values, std::vector<ReportedChange> known)
      : history_(history), series_(series), runs_(std::move(runs)), values_(std::move(values)) {
    for (ReportedChange& change : known) {
      const auto place = index_of(change.run);
      if (place) places_.push_back({*place, changes_.size()});
      changes_.push_back(std::move(change));
    }
    std::ranges::sort(places_);
    known_ = changes_.size();
  }

  /// Looks at all values after the run `judged`. `again`: of the last value.
  void look(std::int64_t judged, const MeasuredAgain* again) {
    const Changes found = find_changes(values_);
    std::size_t next = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      for (; next < found.changes.size() && found.alarms[next] == i; ++next)
        if (is_new(i, judged)) report_lasting(next == 0 ? 0 : found.changes[next - 1], found.changes[next], i);
      if (!is_new(i, judged)) continue;
      const bool last = i + 1 == values_.size();
      if (last && again != nullptr) use_second_look(i, again->values);
      look_for_repair(i);
      look_for_frequent(i);
    }
  }

  /// Of the last value: nothing is stored.
  std::optional<Suspect> suspect() const {
    if (values_.size() < 2) return std::nullopt;
    const std::size_t last = values_.size() - 1;
    const std::optional<Level> level = level_before(last);
    if (!level || !level->is_far(values_[last])) return std::nullopt;
    const bool worse = is_worse(series_, level->center, values_[last]);
    const bool repair = !worse && std::ranges::any_of(changes_, [&](const ReportedChange& change) {
      return change.state == ChangeState::open && is_taken_back(change, values_[last]);
    });
    if (!worse && !repair) return std::nullopt;
    return Suspect{series_, runs_[last]->name, values_[last], level->center, repair};
  }

  const HistorySeries& series() const { return series_; }
  std::span<const ReportedChange> new_changes() const { return std::span(changes_).subspan(known_); }
  /// Of the new changes: whether it ends a regression that was reported.
  bool takes_back(std::size_t new_change) const { return takes_back_[known_ + new_change]; }
  /// Those that were stored before and are closed now.
  std::vector<const ReportedChange*> closed() const {
    std::vector<const ReportedChange*> all;
    for (const std::size_t index : closed_)
      if (index < known_) all.push_back(&changes_[index]);
    return all;
  }
  const HistoryRun& run_of(const ReportedChange& change) const { return *runs_[index_of(change.run).value()]; }
  const HistoryRun& reported_by(const ReportedChange& change) const {
    return *runs_[index_of(change.reported).value()];
  }

 private:
  std::optional<std::size_t> index_of(const std::string& run) const {
    const auto found = std::ranges::find(runs_, run, [](const HistoryRun* one) { return one->name; });
    if (found == runs_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - runs_.begin());
  }

  // Where nights were pruned, places of earlier ones may look like changes that nobody saw at the time.
  bool is_new(std::size_t i, std::int64_t judged) const { return runs_[i]->id > judged; }

  /// Places of reported changes up to `last`.
  std::vector<std::size_t> places_until(std::size_t last) const {
    std::vector<std::size_t> places;
    for (const auto& [place, change] : places_)
      if (place <= last && (places.empty() || places.back() != place)) places.push_back(place);
    return places;
  }

  std::optional<Level> level_before(std::size_t i) const {
    const std::vector<std::size_t> places = places_until(i == 0 ? 0 : i - 1);
    return level_of(std::span(values_).first(i), places);
  }

  /// The change that was reported nearby in the same direction, if nothing has taken it back since.
  bool was_reported(std::size_t at, bool worse) const {
    const std::size_t from = at - std::min(at, same_within);
    bool reported = false;
    for (const auto& [place, index] : places_) {
      if (place < from || place > at + same_within) continue;
      const ReportedChange& change = changes_[index];
      reported = is_worse(series_, change.before, change.after) == worse || place == at;
    }
    return reported;
  }

  void report_lasting(std::size_t level, std::size_t at, std::size_t alarm) {
    const std::span all(values_);
    add(ChangeSign::lasting, at, alarm, median(all.subspan(level, at - level)),
        median(all.subspan(at, alarm + 1 - at)));
  }

  void add(ChangeSign sign, std::size_t at, std::size_t alarm, double before, double after) {
    const bool worse = is_worse(series_, before, after);
    if (was_reported(at, worse)) return;
    ReportedChange change{.series = series_.id,
                          .run = runs_[at]->name,
                          .started = runs_[at]->started,
                          .reported = runs_[alarm]->name,
                          .before = before,
                          .after = after,
                          .cause = cause_at(at),
                          .state = worse ? ChangeState::open : ChangeState::better,
                          .sign = sign};
    takes_back_.resize(changes_.size() + 1);
    takes_back_.back() = !worse && close(change);
    places_.push_back({at, changes_.size()});
    std::ranges::sort(places_);
    changes_.push_back(std::move(change));
  }

  /// The environments nearest to the place that differ.
  std::string cause_at(std::size_t at) const {
    for (std::size_t distance = 0; distance <= cause_reach; ++distance) {
      for (const std::size_t i : {at + distance, at - std::min(at, distance)}) {
        if (i == 0 || i >= runs_.size() || runs_[i]->environment == runs_[i - 1]->environment) continue;
        std::string cause =
            cause_between(history_.environment(runs_[i - 1]->environment), history_.environment(runs_[i]->environment));
        if (!cause.empty()) return cause;
      }
    }
    return {};
  }

  /// A regression is over once half of it is taken back.
  bool is_taken_back(const ReportedChange& change, double value) const {
    return !is_worse(series_, (change.before + change.after) / 2, value);
  }

  bool close(const ReportedChange& better) {
    const std::size_t before = closed_.size();
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      ReportedChange& change = changes_[i];
      if (change.state != ChangeState::open || !is_taken_back(change, better.after)) continue;
      change.state = ChangeState::recovered;
      change.closed = better.run;
      closed_.push_back(i);
    }
    return closed_.size() > before;
  }

  void use_second_look(std::size_t i, std::span<const double> again) {
    const std::optional<Level> level = level_before(i);
    if (!level || !is_confirmed(*level, again)) return;
    const double after = median(again);
    const bool worse = is_worse(series_, level->center, after);
    if (!worse && std::ranges::none_of(changes_, [&](const ReportedChange& change) {
          return change.state == ChangeState::open && is_taken_back(change, after);
        }))
      return;  // better than ever: it has time
    add(ChangeSign::sudden, i, i, level->center, after);
  }

  /// A repair is told as early as a fault: too soon for a change that lasts.
  void look_for_repair(std::size_t i) {
    for (const auto& [place, index] : std::vector(places_)) {
      const ReportedChange change = changes_[index];
      const std::size_t wanted = change.sign == ChangeSign::frequent ? frequent_within : repaired_count;
      if (change.state != ChangeState::open || i + 1 < place + wanted) continue;
      const std::size_t first = i + 1 - wanted;
      const std::span latest = std::span(values_).subspan(first, wanted);
      const std::optional<Level> level = level_before(first);
      const bool back = std::ranges::all_of(latest, [&](double value) {
        return is_taken_back(change, value) && (change.sign == ChangeSign::frequent || (level && level->is_far(value)));
      });
      if (back) add(change.sign, first, i, change.after, median(latest));
    }
  }

  void look_for_frequent(std::size_t i) {
    const bool open =
        std::ranges::any_of(changes_, [](const ReportedChange& change) { return change.state == ChangeState::open; });
    if (open) return;
    const bool known =
        std::ranges::any_of(changes_, [](const ReportedChange& change) { return change.sign == ChangeSign::frequent; });
    const std::span all = std::span(values_).first(i + 1);
    const std::vector<std::size_t> places = places_until(i);
    const auto first = frequently_far(all, places, series_.column.better == Better::lower, known);
    if (!first) return;
    std::vector<double> far;
    const Level level = level_of(all, places).value();
    for (const double value : all.subspan(*first))
      if (level.is_far(value)) far.push_back(value);
    const bool always = far.size() == all.size() - *first;
    add(always ? ChangeSign::lasting : ChangeSign::frequent, *first, i, level.center, median(far));
  }

  const RunHistory& history_;
  const HistorySeries& series_;
  std::vector<const HistoryRun*> runs_;
  std::vector<double> values_;
  std::vector<ReportedChange> changes_;
  std::size_t known_ = 0;                                    ///< those that were stored before
  std::vector<std::pair<std::size_t, std::size_t>> places_;  ///< index of the value, index of the change
  std::vector<std::size_t> closed_;
  std::vector<bool> takes_back_;  ///< by change
};

bool is_time_like(const HistorySeries& series) {
  const Unit unit = series.column.unit;
  return unit == Unit::seconds || unit == Unit::per_second || unit == Unit::flops_per_second ||
         unit == Unit::bytes_per_second;
}

/// How much worse, or better, in percent; of a time or rate how much more or less time it takes.
double amount_of(const HistorySeries& series, double before, double after) {
  const double ratio =
      is_time_like(series) && before > 0 && after > 0 ? time_ratio(series.column, before, after) : after / before;
  return 100 * std::abs(ratio - 1);
}

/// "step_time_s of size=64": a figure of an experiment.
std::string figure_text(const SeriesKey& key) {
  return fmt::format("{} {}{}{}", key.experiment, key.metric, key.axes.empty() ? "" : " of ", key.axes);
}

std::string place_text(const SeriesKey& key) {
  return key.slot.empty() ? "on " + key.host : fmt::format("on {} of {}", key.slot, key.host);
}

/// Changes of one host, suite and direction that began within a few nights.
struct Group {
  NewsKind kind = NewsKind::regression;
  int first_night = 0;
  std::string found_by = {};  ///< the night
  std::vector<std::pair<const HistorySeries*, ReportedChange*>> changes = {};
  std::set<std::string> experiments = {};
};

/// What judging needs to know of all runs and of what was reported before.
class Judge {
 public:
  Judge(RunHistory& history, const Judged& which) : history_(history), which_(which) {
    const std::vector<HistoryRun> runs = history.runs();
    order_.emplace(runs);
    for (const HistoryRun& run : runs) runs_.emplace(run.id, run);
    for (ReportedChange& change : history.changes()) reported_[change.series].push_back(std::move(change));
    for (const MeasuredAgain& again : which.again) again_.emplace(again.series, &again);
  }

  SeriesJudge judge_of(const HistorySeries& series, const std::vector<HistoryPoint>& points) {
    std::vector<double> values;
    std::vector<const HistoryRun*> runs;
    for (const HistoryPoint& point : points) {
      if (!point.reliable) continue;
      values.push_back(point.value);
      runs.push_back(&runs_.at(point.run));
    }
    return {history_, series, std::move(runs), std::move(values), reported_[series.id]};
  }

  void look_at(const HistorySeries& series, const std::vector<HistoryPoint>& points) {
    std::int64_t last = series.judged;
    for (const HistoryPoint& point : points) last = std::max(last, point.run);
    ++figures_[{series.key.host, series.key.suite, series.key.slot}];
    if (last == series.judged) return;
    judged_.emplace_back(series.id, last);
    auto kept = std::make_unique<HistorySeries>(series);
    SeriesJudge judge = judge_of(*kept, points);
    const auto again = again_.find(series.id);
    judge.look(series.judged, again == again_.end() ? nullptr : again->second);
    const std::span found = judge.new_changes();
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (judge.takes_back(i)) {  // what it ends tells it
        repairs_.emplace_back(kept.get(), found[i]);
      } else {
        add(*kept, found[i], order_->of(judge.run_of(found[i])), judge.reported_by(found[i]).night);
      }
    }
    for (const ReportedChange* const change : judge.closed()) {
      history_.close_change(change->id, change->state, change->closed, change->note);
      repaired_[change->alarm].emplace_back(*kept, *change);
    }
    kept_.push_back(std::move(kept));
  }

  /// Stores what is new. Causes that need a look at all series are found only here.
  std::vector<ReportedChange> finish() {
    for (const auto& [series, run] : judged_) history_.set_judged(series, run);
    std::vector<std::pair<double, ReportedChange>> all;
    for (Group& group : groups_) {
      tell(group);
      for (const auto& [series, change] : group.changes) {
        change->id = history_.add_change(*change);
        all.emplace_back(weight(*series, *change), *change);
      }
    }
    tell_repairs();
    for (auto& [series, change] : repairs_) {
      if (change.cause.empty()) change.cause = unknown_cause;
      change.id = history_.add_change(change);
      all.emplace_back(weight(*series, change), change);
    }
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<ReportedChange> sorted;
    for (auto& [size, change] : all) sorted.push_back(std::move(change));
    return sorted;
  }

 private:
  static double weight(const HistorySeries& series, const ReportedChange& change) {
    const double size = std::abs(std::log(std::abs(change.after / change.before)));
    return is_worse(series, change.before, change.after) ? 1e6 + size : size;
  }

  static NewsKind kind_of(const ReportedChange& change) {
    switch (change.state) {
      case ChangeState::better:
        return NewsKind::better;
      case ChangeState::recovered:
        return NewsKind::recovered;  // it came and went before anybody looked
      default:
        return NewsKind::regression;
    }
  }

  void add(const HistorySeries& series, const ReportedChange& change, int night, const std::string& found_by) {
    const NewsKind kind = kind_of(change);
    new_.push_back(std::make_unique<ReportedChange>(change));
    const auto group = std::ranges::find_if(groups_, [&](const Group& one) {
      const SeriesKey& key = one.changes.front().first->key;
      return one.kind == kind && key.host == series.key.host && key.suite == series.key.suite &&
             std::abs(one.first_night - night) <= one_cause_nights;
    });
    Group& own = group == groups_.end() ? groups_.emplace_back(Group{kind, night}) : *group;
    own.found_by = std::max(own.found_by, which_.night.empty() ? found_by : which_.night);
    own.changes.emplace_back(&series, new_.back().get());
    own.experiments.insert(series.key.experiment);
  }

  /// One line and one id for all of a group.
  void tell(Group& group) {
    std::ranges::stable_sort(group.changes, [](const auto& a, const auto& b) {
      return weight(*a.first, *a.second) > weight(*b.first, *b.second);
    });
    for (const auto& [series, change] : group.changes)
      if (change->cause.empty()) change->cause = group.experiments.size() > 2 ? machine_cause : unknown_cause;
    const auto& [series, change] = group.changes.front();
    const News news{.host = series->key.host,
                    .suite = series->key.suite,
                    .kind = group.kind,
                    .night = group.found_by,
                    .line = group.changes.size() == 1 ? line_of(*series, *change) : line_of(group)};
    const std::string id = add_news(history_.database(), news,
                                    {change->run, series->key.card, series->key.slot, series->key.experiment,
                                     series->key.axes, series->key.metric});
    for (const auto& [other, one] : group.changes) one->alarm = id;
  }

  static std::string line_of(const HistorySeries& series, const ReportedChange& change) {
    return fmt::format("{} {} {}, {}{}", figure_text(series.key), place_text(series.key),
                       change_text(series, change.before, change.after), since_text(change),
                       change.state == ChangeState::open ? "; cause: " + change.cause : "");
  }

  static std::string since_text(const ReportedChange& change) {
    switch (change.sign) {
      case ChangeSign::lasting:
        return "since " + date_of(change.started);
      case ChangeSign::sudden:
        return "since " + date_of(change.started) + ", measured again the same night";
      case ChangeSign::frequent:
        return fmt::format("in at least {} of {} nights since {}", frequent_count, frequent_within,
                           date_of(change.started));
    }
    return {};
  }

  std::string line_of(const Group& group) const {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    bool times = true;
    std::string since;
    std::set<std::string> slots, causes;
    for (const auto& [series, change] : group.changes) {
      const double amount = amount_of(*series, change->before, change->after);
      least = std::min(least, amount);
      most = std::max(most, amount);
      times = times && is_time_like(*series);
      slots.insert(series->key.slot);
      if (change->cause != unknown_cause) causes.insert(change->cause);
      if (since.empty() || change->started < since) since = change->started;
    }
    const auto& [series, change] = group.changes.front();
    const bool worse = is_worse(*series, change->before, change->after);
    const char* const how = times ? worse ? "slower" : "faster" : worse ? "worse" : "better";
    std::size_t of = 0;
    for (const auto& [key, count] : figures_)
      if (std::get<0>(key) == series->key.host && std::get<1>(key) == series->key.suite &&
          slots.contains(std::get<2>(key)))
        of += count;
    std::string cause;
    if (change->state == ChangeState::open) {
      const std::string unknown(unknown_cause);
      cause = fmt::format("; cause: {}", causes.empty() ? unknown : fmt::format("{}", fmt::join(causes, "; or ")));
    }
    const std::string amounts = std::isfinite(most) ? amount_text(least) == amount_text(most)
                                                          ? amount_text(most) + " % "
                                                          : amount_text(least) + " to " + amount_text(most) + " % "
                                                    : "";
    return fmt::format("{}: {} of {} figures {}{} since {}; most: {} {}{}", series->key.host, group.changes.size(), of,
                       amounts, how, date_of(since), figure_text(series->key),
                       change_text(*series, change->before, change->after), cause) +
           (slots.size() == 1 && !slots.begin()->empty() ? "; all on " + *slots.begin() : "");
  }

  /// A line for each alarm of which something is closed.
  void tell_repairs() {
    for (const auto& [alarm, list] : repaired_) {
      const auto& [series, change] = list.front();
      const std::string what = list.size() == 1 ? fmt::format("{} {}", figure_text(series.key), place_text(series.key))
                                                : fmt::format("{} figures of {}", list.size(), series.key.host);
      add_news(history_.database(),
               {.host = series.key.host,
                .suite = series.key.suite,
                .kind = NewsKind::recovered,
                .night = which_.night,
                .line = fmt::format("#{}: {} as before since {}", alarm, what, change.closed)},
               {alarm, change.closed, series.key.experiment, series.key.axes, series.key.metric});
    }
  }

  RunHistory& history_;
  const Judged& which_;
  std::optional<NightOrder> order_;
  std::unordered_map<std::int64_t, HistoryRun> runs_;
  std::unordered_map<std::int64_t, std::vector<ReportedChange>> reported_;
  std::unordered_map<std::int64_t, const MeasuredAgain*> again_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> figures_;  ///< by host, suite, slot
  std::vector<std::unique_ptr<HistorySeries>> kept_;
  std::vector<std::unique_ptr<ReportedChange>> new_;
  std::vector<Group> groups_;
  std::vector<std::pair<const HistorySeries*, ReportedChange>> repairs_;
  std::map<std::string, std::vector<std::pair<HistorySeries, ReportedChange>>> repaired_;  ///< by alarm
  std::vector<std::pair<std::int64_t, std::int64_t>> judged_;                              ///< series, last run
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
  if (is_time_like(series) && after != 0) return speed_text(time_ratio(series.column, before, after));
  return fmt::format("{:.1f} % {} ({})", share, after > before ? "higher" : "lower", worse ? "worse" : "better");
}

namespace {

std::vector<HistorySeries> watched_series(const RunHistory& history, const Judged& which) {
  std::vector<HistorySeries> watched = history.series();
  std::erase_if(watched, [&](const HistorySeries& series) {
    return !series.watched || series.key.suite != which.suite.value_or(series.key.suite) ||
           series.key.host != which.host.value_or(series.key.host);
  });
  return watched;
}

}  // namespace

std::vector<Suspect> suspects(RunHistory& history, const std::vector<std::string>& runs, const std::string& suite,
                              const std::string& host) {
  const Judged which{.suite = suite, .host = host};
  const std::set<std::string> tonight(runs.begin(), runs.end());
  Judge judge(history, which);
  std::vector<Suspect> all;
  history.for_each_series(watched_series(history, which), [&](const HistorySeries& series, const auto& points) {
    if (points.empty() || !points.back().reliable) return;
    if (const auto found = judge.judge_of(series, points).suspect();
        found && tonight.contains(series.key.experiment + "/" + found->run))
      all.push_back(*found);
  });
  return all;
}

std::vector<MeasuredAgain> values_again(const RunHistory& history, const std::string& suite,
                                        const std::vector<RunValues>& runs) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, std::int64_t> series;
  const auto key_of = [](const SeriesKey& key) {
    return std::tuple(key.host, is_card_id(key.card) ? key.card : key.card + key.slot, key.experiment, key.axes,
                      key.metric);
  };
  for (const HistorySeries& one : history.series())
    if (one.key.suite == suite) series.emplace(key_of(one.key), one.id);
  std::map<std::int64_t, std::vector<double>> values;
  for (const RunValues& run : runs) {
    for (const RunValue& value : run.values)
      if (const auto found = series.find(key_of(value.key)); found != series.end() && value.reliable)
        values[found->second].push_back(value.value);
  }
  std::vector<MeasuredAgain> all;
  for (auto& [id, list] : values) all.push_back({id, std::move(list)});
  return all;
}

std::vector<ReportedChange> judge(RunHistory& history, const Judged& which) {
  Transaction transaction(history.database());
  Judge judge(history, which);
  history.for_each_series(watched_series(history, which),
                          [&](const HistorySeries& series, const auto& points) { judge.look_at(series, points); });
  std::vector<ReportedChange> all = judge.finish();
  transaction.commit();
  return all;
}

}  // namespace gpubench
