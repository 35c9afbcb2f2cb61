// What a history says of an experiment, as facts for text and JSON.
#pragma once
#include <string>
#include <vector>

#include "core/history/history.h"
#include "core/history/judge.h"
#include "core/history/missing.h"
#include "core/results/info.h"

namespace gpubench {

/// Throws Error for an experiment that is not in the history, listing those.
void check_experiment(const RunHistory& history, const std::string& experiment);

/// A list of series: { host, card, slot, suite, experiment, axes, metric, unit, better, kind, watched, points, changes,
/// outliers }. points: { run, started, value, low, high, reliable }; changes: as described_change(); outliers: names of
/// runs. Throws as check_experiment().
/// `like`: facts of a run; only series with its parameters.
Info trend(const RunHistory& history, const std::string& experiment, const Info* like = nullptr);

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
