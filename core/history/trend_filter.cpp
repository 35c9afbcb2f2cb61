#include "core/history/trend_filter.h"

#include <array>

#include "core/base/known_names.h"

namespace gpubench {
namespace {

constexpr std::array states = {ChangeState::better, ChangeState::open, ChangeState::resolved, ChangeState::recovered};

void check(const char* what, const std::string& name, const std::set<std::string>& known) {
  if (!name.empty() && !known.contains(name)) throw_unknown_name(what, name, names_of(known));
}

}  // namespace

FilteredSeries::FilteredSeries(const RunHistory& history, const std::string& experiment, const TrendFilter& filter)
    : state_(filter.state) {
  const std::vector<HistorySeries> all = history.series(experiment);
  std::set<std::string> hosts, figures, names;
  for (const HistorySeries& series : all) {
    hosts.insert(series.key.host);
    figures.insert(series.key.metric);
  }
  for (const ChangeState state : states) names.emplace(to_string(state));
  check("history: no host", filter.host, hosts);
  check("history: no figure", filter.figure, figures);
  check("history: no state", filter.state, names);
  std::set<std::int64_t> with_state;
  for (const ReportedChange& change : history.changes(experiment))
    if (to_string(change.state) == filter.state) with_state.insert(change.series);
  for (const HistorySeries& series : all) {
    if ((filter.host.empty() || series.key.host == filter.host) &&
        (filter.figure.empty() || series.key.metric == filter.figure) &&
        (filter.state.empty() || with_state.contains(series.id)))
      series_.insert(series.id);
  }
}

bool FilteredSeries::takes(const ReportedChange& change) const {
  return series_.contains(change.series) && (state_.empty() || to_string(change.state) == state_);
}

}  // namespace gpubench
