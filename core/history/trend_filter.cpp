#include "core/history/trend_filter.h"

#include <array>

#include "core/base/known_names.h"

namespace gpubench {
namespace {

constexpr std::array states = {ChangeState::better, ChangeState::open, ChangeState::resolved, ChangeState::recovered};

void check(const char* what, const std::string& name, const std::set<std::string>& known) {
  if (!name.empty() && !known.contains(name)) throw_unknown_name(what, name, names_of(known));
}

bool has_state(const Info& one, const std::string& state) {
  if (one.find("state")) return one.text("state") == state;
  for (const Info& change : one.items("changes"))
    if (change.text("state") == state) return true;
  return false;
}

}  // namespace

FilteredSeries::FilteredSeries(const RunHistory& history, const std::string& experiment, const TrendFilter& filter)
    : filter_(filter) {
  std::set<std::string> hosts, figures, names;
  for (const HistorySeries& series : history.series(experiment)) {
    hosts.insert(series.key.host);
    figures.insert(series.key.metric);
  }
  for (const ChangeState state : states) names.emplace(to_string(state));
  check("history: no host", filter.host, hosts);
  check("history: no figure", filter.figure, figures);
  check("history: no state", filter.state, names);
  for (const ReportedChange& change : history.changes(experiment))
    if (to_string(change.state) == filter.state) with_state_.insert(change.series);
}

bool FilteredSeries::takes(const HistorySeries& series) const {
  return (filter_.host.empty() || series.key.host == filter_.host) &&
         (filter_.figure.empty() || series.key.metric == filter_.figure) &&
         (filter_.state.empty() || with_state_.contains(series.id));
}

Info FilteredSeries::only(const Info& list) const {
  Info::List kept;
  const Info::List none;
  for (const Info& one : list.list() ? *list.list() : none) {
    if ((filter_.host.empty() || one.text("host") == filter_.host) &&
        (filter_.figure.empty() || one.text("metric") == filter_.figure) &&
        (filter_.state.empty() || has_state(one, filter_.state)))
      kept.push_back(one);
  }
  return kept;
}

}  // namespace gpubench
