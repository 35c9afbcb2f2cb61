// Reports changes in a history: each once, at the place where it was first seen.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/history/history.h"

namespace gpubench {

/// Whether the change is for the worse, by the direction that the column declares.
bool is_worse(const HistorySeries& series, double before, double after);
/// "takes 4.1 % more time", "12 % higher (worse)": never a sign whose meaning depends on the metric.
std::string change_text(const HistorySeries& series, double before, double after);

/// Which series are looked at: a night reports on its own suite and host, so that each change is reported by the night
/// that measured it.
struct Judged {
  std::optional<std::string> suite, host;
};

/// Looks at watched series, stores the changes that were not reported yet, and returns them: the regressions first, the
/// largest in front. Open regressions that a later change takes back become `recovered`.
std::vector<ReportedChange> judge(RunHistory& history, const Judged& which = {});

}  // namespace gpubench
