#include "core/history/trend.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/compare/changes/find_changes.h"
#include "core/compare/changes/find_outliers.h"
#include "core/history/judge.h"

namespace gpubench {
namespace {

void add_key(Info::Fields& fields, const HistorySeries& series) {
  const SeriesKey& key = series.key;
  for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"host", key.host},
                                   {"card", key.card},
                                   {"slot", key.slot},
                                   {"suite", key.suite},
                                   {"experiment", key.experiment},
                                   {"axes", key.axes},
                                   {"metric", key.metric}}) {
    fields.emplace_back(name, text);
  }
  fields.emplace_back("unit", std::string(to_string(series.column.unit)));
}

Info described_point(const TrendPoint& point) {
  Info::Fields fields{{"run", point.run}, {"started", point.started}, {"value", point.value}};
  if (point.low) fields.emplace_back("low", *point.low);
  if (point.high) fields.emplace_back("high", *point.high);
  fields.emplace_back("reliable", point.reliable);
  return fields;
}

/// Names of runs. A value at which a change was reported begins a level, and is no outlier.
std::vector<std::string> outliers_in(const std::vector<TrendPoint>& points,
                                     const std::vector<ReportedChange>& changes) {
  std::vector<double> values;
  std::vector<std::string> runs;
  std::set<std::size_t> places;
  for (const TrendPoint& point : points) {
    if (!point.reliable) continue;
    const bool begins_level = std::ranges::any_of(changes, [&](const ReportedChange& change) {
      return change.sign != ChangeSign::frequent && change.run == point.run;
    });
    if (begins_level) places.insert(values.size());
    values.push_back(point.value);
    runs.push_back(point.run);
  }
  const std::vector<std::size_t> found = find_changes(values).changes;
  if (changes.empty()) places.insert(found.begin(), found.end());
  std::vector<std::string> names;
  for (const std::size_t index : find_outliers(values, std::vector(places.begin(), places.end())))
    names.push_back(runs[index]);
  return names;
}

Info described_series(const SeriesTrend& one) {
  const HistorySeries& series = one.series;
  Info::Fields fields;
  add_key(fields, series);
  fields.emplace_back("better", std::string(to_string(series.column.better)));
  fields.emplace_back("kind", std::string(to_string(series.column.kind)));
  fields.emplace_back("watched", series.watched);
  Info::List points, changes;
  for (const TrendPoint& point : one.points) points.push_back(described_point(point));
  for (const ReportedChange& change : one.changes) changes.push_back(described_change(series, change));
  fields.emplace_back("points", std::move(points));
  fields.emplace_back("changes", std::move(changes));
  fields.emplace_back("outliers", Info::List(one.outliers.begin(), one.outliers.end()));
  return fields;
}

}  // namespace

Info described_change(const HistorySeries& series, const ReportedChange& change) {
  return Info::Fields{{"id", change.id},
                      {"alarm", change.alarm},
                      {"run", change.run},
                      {"started", change.started},
                      {"reported", change.reported},
                      {"before", change.before},
                      {"after", change.after},
                      {"change", change_text(series, change.before, change.after)},
                      {"worse", is_worse(series, change.before, change.after)},
                      {"sign", std::string(to_string(change.sign))},
                      {"cause", change.cause},
                      {"state", std::string(to_string(change.state))},
                      {"closed", change.closed},
                      {"note", change.note}};
}

Info with_series(const RunHistory& history, const std::vector<ReportedChange>& changes) {
  std::unordered_map<std::int64_t, HistorySeries> all;
  for (HistorySeries& series : history.series()) all.emplace(series.id, std::move(series));
  Info::List list;
  for (const ReportedChange& change : changes) {
    const HistorySeries& series = all.at(change.series);
    Info::Fields fields = *described_change(series, change).fields();
    add_key(fields, series);
    list.emplace_back(std::move(fields));
  }
  return list;
}

Info latest(const RunHistory& history, const std::vector<std::string>& runs) {
  std::unordered_map<std::int64_t, HistorySeries> all;
  for (HistorySeries& series : history.series()) all.emplace(series.id, std::move(series));
  Statement row = history.database().prepare(
      "SELECT series, value, reliable FROM points JOIN runs ON runs.id = points.run "
      "WHERE experiment = ? AND name = ? ORDER BY series");
  Info::List list;
  for (const std::string& run : runs) {
    if (run.empty()) continue;
    const std::size_t slash = std::min(run.find('/'), run.size() - 1);
    row.bind(1, std::string_view(run).substr(0, slash)).bind(2, std::string_view(run).substr(slash + 1));
    while (row.step()) {
      const HistorySeries& series = all.at(row.integer(0));
      if (!series.watched) continue;
      Info::Fields fields;
      add_key(fields, series);
      fields.emplace_back("value", row.real(1));
      fields.emplace_back("reliable", row.integer(2) != 0);
      list.emplace_back(std::move(fields));
    }
  }
  return list;
}

Info described_suspects(const std::vector<Suspect>& suspects) {
  Info::List list;
  for (const Suspect& one : suspects) {
    Info::Fields fields{{"id", one.series.id},
                        {"value", one.value},
                        {"level", one.level},
                        {"is_repair", one.is_repair},
                        {"run", one.run}};
    add_key(fields, one.series);
    list.emplace_back(std::move(fields));
  }
  return list;
}

Info described_missing(const std::vector<MissingSeries>& missing) {
  Info::List list;
  for (const auto& [series, since] : missing) {
    Info::Fields fields{{"id", series.id}, {"since", since}};
    add_key(fields, series);
    list.emplace_back(std::move(fields));
  }
  return list;
}

void check_experiment(const RunHistory& history, const std::string& experiment) {
  const std::vector<std::string> known = history.experiments();
  if (std::ranges::find(known, experiment) == known.end())
    throw_unknown_name("history: no experiment", experiment, names_of(known));
}

namespace {

/// The value of a parameter in the key of a series; empty if it is the default.
std::string param_in(const std::string& axes, const std::string& name) {
  const std::string sought = " " + name + "=", text = " " + axes + " ";
  const std::size_t at = text.find(sought);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + sought.size();
  return text.substr(begin, text.find(' ', begin) - begin);
}

}  // namespace

bool has_params_of(const SeriesKey& key, const Info& run) {
  const Info* const params = run.find("params");
  if (params == nullptr || params->fields() == nullptr) return true;
  const std::vector<std::string> changed = run.texts("changed_params");
  return std::ranges::all_of(*params->fields(), [&](const auto& param) {
    const bool is_changed = std::ranges::find(changed, param.first) != changed.end();
    return param_in(key.axes, param.first) == (is_changed ? params->text(param.first) : "");
  });
}

Trend trend(const RunHistory& history, const std::string& experiment,
            const std::function<bool(const HistorySeries&)>& takes) {
  check_experiment(history, experiment);
  std::unordered_map<std::int64_t, HistoryRun> runs;
  for (HistoryRun& run : history.runs(experiment)) runs.emplace(run.id, std::move(run));
  const std::vector<ReportedChange> changes = history.changes(experiment);
  std::vector<HistorySeries> which = history.series(experiment);
  if (takes) std::erase_if(which, [&](const HistorySeries& series) { return !takes(series); });
  Trend all;
  history.for_each_series(which, [&](const HistorySeries& series, const auto& points) {
    SeriesTrend& one = all.emplace_back(SeriesTrend{.series = series});
    for (const HistoryPoint& point : points) {
      const HistoryRun& run = runs.at(point.run);
      one.points.push_back({run.name, run.started, point.value, point.low, point.high, point.reliable});
    }
    std::ranges::copy_if(changes, std::back_inserter(one.changes),
                         [&](const ReportedChange& change) { return change.series == series.id; });
    if (series.watched) one.outliers = outliers_in(one.points, one.changes);
  });
  return all;
}

Info described_trend(const Trend& trend) {
  Info::List list;
  for (const SeriesTrend& one : trend) list.push_back(described_series(one));
  return list;
}

}  // namespace gpubench
