#include "core/history/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <tuple>
#include <unordered_map>

#include "core/compare/changes/level.h"
#include "core/history/news.h"
#include "core/history/night_state.h"
#include "core/history/series_judge.h"
#include "core/results/speed_change.h"

namespace gpubench {
namespace {

/// What happened this many nights apart on one host may have one cause.
constexpr int one_cause_nights = 3;

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

/// Of "step_time_s=0.05 loss=0.1".
std::map<std::string, double> parse_thresholds(const std::string& text) {
  std::map<std::string, double> thresholds;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size() - 1);
    thresholds[word.substr(0, equals)] = std::strtod(word.c_str() + equals + 1, nullptr);
  }
  return thresholds;
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
  }

  /// That the suite gives for the figure.
  std::optional<double> threshold_of(const SeriesKey& key) {
    const auto [found, is_new] = thresholds_.try_emplace({key.host, key.suite});
    if (is_new)
      found->second = parse_thresholds(remembered(history_, key.host, key.suite, thresholds_state).value_or(""));
    const auto own = found->second.find(key.metric);
    return own == found->second.end() ? std::nullopt : std::optional(own->second);
  }

  SeriesJudge judge_of(const HistorySeries& series, const std::vector<HistoryPoint>& points) {
    std::vector<double> values;
    std::vector<const HistoryRun*> runs;
    for (const HistoryPoint& point : points) {
      if (!point.reliable) continue;
      values.push_back(point.value);
      runs.push_back(&runs_.at(point.run));
    }
    return {series,
            std::move(runs),
            std::move(values),
            reported_[series.id],
            [this](std::int64_t id) { return history_.environment(id); },
            threshold_of(series.key)};
  }

  void look_at(const HistorySeries& series, const std::vector<HistoryPoint>& points) {
    std::int64_t last = series.judged;
    for (const HistoryPoint& point : points) last = std::max(last, point.run);
    ++figures_[{series.key.host, series.key.suite, series.key.slot}];
    if (last == series.judged) return;
    judged_.emplace_back(series.id, last);
    auto kept = std::make_unique<HistorySeries>(series);
    SeriesJudge judge = judge_of(*kept, points);
    static const std::map<std::string, std::vector<double>> none;
    const auto again = which_.again.find(series.id);
    judge.look(series.judged, again == which_.again.end() ? none : again->second);
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

  /// `found_by`: the night whose run shows it. Groups are those of the nights also where all are judged at once.
  void add(const HistorySeries& series, const ReportedChange& change, int night, std::string found_by) {
    if (!which_.night.empty()) found_by = which_.night;
    const NewsKind kind = kind_of(change);
    new_.push_back(std::make_unique<ReportedChange>(change));
    const auto group = std::ranges::find_if(groups_, [&](const Group& one) {
      const SeriesKey& key = one.changes.front().first->key;
      return one.kind == kind && one.found_by == found_by && key.host == series.key.host &&
             key.suite == series.key.suite && std::abs(one.first_night - night) <= one_cause_nights;
    });
    Group& own = group == groups_.end() ? groups_.emplace_back(Group{kind, night, found_by}) : *group;
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
    const std::string id =
        add_news(history_.database(), news,
                 {change->run, series->key.card, is_card_id(series->key.card) ? "" : series->key.slot,
                  series->key.experiment, series->key.axes, series->key.metric});
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
                .line = fmt::format("#{}: {}, since {}", alarm, what, change.closed)},
               {alarm, change.closed, series.key.experiment, series.key.axes, series.key.metric});
    }
  }

  RunHistory& history_;
  const Judged& which_;
  std::optional<NightOrder> order_;
  std::unordered_map<std::int64_t, HistoryRun> runs_;
  std::unordered_map<std::int64_t, std::vector<ReportedChange>> reported_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, double>> thresholds_;  ///< by host and suite
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> figures_;         ///< by host, suite, slot
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

MeasuredAgain values_again(const RunHistory& history, const std::vector<RunValues>& runs) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  const auto key_of = [](const SeriesKey& key) {
    return Key(key.host, is_card_id(key.card) ? key.card : key.card + key.slot, key.experiment, key.axes, key.metric);
  };
  // A second look names its night, and a night is of one suite.
  std::multimap<Key, std::int64_t> series;
  if (!runs.empty())
    for (const HistorySeries& one : history.series()) series.emplace(key_of(one.key), one.id);
  MeasuredAgain again;
  for (const RunValues& run : runs) {
    for (const RunValue& value : run.values) {
      if (!value.reliable) continue;
      const auto [first, last] = series.equal_range(key_of(value.key));
      for (auto found = first; found != last; ++found) again[found->second][run.night].push_back(value.value);
    }
  }
  return again;
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
