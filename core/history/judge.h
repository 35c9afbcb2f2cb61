// Reports changes in a history: each once, at the place where it was first seen. What moves on one host within three
// nights in one direction is one alarm.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/history/history.h"

namespace gpubench {

/// Whether the change is for the worse, by the direction that the column declares.
bool is_worse(const HistorySeries& series, double before, double after);
/// "takes 4.1 % more time", "12 % higher (worse)": never a sign whose meaning depends on the metric.
std::string change_text(const HistorySeries& series, double before, double after);

/// A value of the latest run of a series that may be an alarm at once, or the end of one: it is measured again.
struct Suspect {
  HistorySeries series = {};
  std::string run = {};  ///< its name
  double value = 0;
  double level = 0;  ///< what the series was at before
  bool is_repair = false;
};

/// What fresh processes measured of suspects: by series and night.
using MeasuredAgain = std::map<std::int64_t, std::map<std::string, std::vector<double>>>;

/// Which series are looked at: a night reports on its own suite and host, so that each change is reported by the night
/// that measured it.
struct Judged {
  std::optional<std::string> suite, host;
  /// The night that judges; empty: each change is found by the night of its run.
  std::string night = {};
  MeasuredAgain again = {};
};

/// Values of tonight's runs ("<experiment>/<name>") that are far from the level of their series on the worse side, or,
/// where a regression is open, on the better side of its middle.
std::vector<Suspect> suspects(RunHistory& history, const std::vector<std::string>& runs, const std::string& suite,
                              const std::string& host);

/// What these second looks, which no history has, measured of its series.
MeasuredAgain values_again(const RunHistory& history, const std::vector<RunValues>& runs);

/// Looks at watched series, stores the changes that were not reported yet, with their news, and returns them: the
/// regressions first, the largest in front. Open regressions that are taken back become `recovered`.
std::vector<ReportedChange> judge(RunHistory& history, const Judged& which = {});

}  // namespace gpubench
