// What a history says of an experiment: its series with their points and changes, and the same as facts for Lua and
// JSON.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/history/history.h"
#include "core/history/judge.h"
#include "core/history/missing.h"
#include "core/results/info.h"

namespace gpubench {

/// Throws Error for an experiment that is not in the history, listing those.
void check_experiment(const RunHistory& history, const std::string& experiment);

struct TrendPoint {
  std::string run, started;
  double value = 0;
  std::optional<double> low = {}, high = {};
  bool reliable = true;
};

/// A series over the nights.
struct SeriesTrend {
  HistorySeries series = {};
  std::vector<TrendPoint> points = {};  ///< in the order of their runs
  std::vector<ReportedChange> changes = {};
  std::vector<std::string> outliers = {};  ///< names of runs; none of series that nobody watches
};
using Trend = std::vector<SeriesTrend>;

/// `takes`: of which series; of all without it. Throws as check_experiment().
Trend trend(const RunHistory& history, const std::string& experiment,
            const std::function<bool(const HistorySeries&)>& takes = {});

/// Whether the run has the parameters that are in the key of the series, and no others.
bool has_params_of(const SeriesKey& key, const Info& run);

/// A list of series: { host, card, slot, suite, experiment, axes, metric, unit, better, kind, watched, points, changes,
/// outliers }. points: { run, started, value, low, high, reliable }; changes: as described_change(); outliers: names of
/// runs.
Info described_trend(const Trend& trend);

/// { id, alarm, run, started, reported, before, after, change = "takes 4.1 % more time", worse, sign, cause, state,
/// closed, note }.
Info described_change(const HistorySeries& series, const ReportedChange& change);

/// What these runs ("<experiment>/<name>") gave: { host, ..., unit, value, reliable } for each watched series.
Info latest(const RunHistory& history, const std::vector<std::string>& runs);

/// Each with its key: { id, value, level, is_repair, run, host, ..., unit }.
Info described_suspects(const std::vector<Suspect>& suspects);

/// Each with its key: { id, since, host, ..., unit }.
Info described_missing(const std::vector<MissingSeries>& missing);

/// Each with the key of its series: as described_change(), and { host, slot, suite, experiment, axes, metric, unit }.
Info with_series(const RunHistory& history, const std::vector<ReportedChange>& changes);

}  // namespace gpubench
