// Which series of a history are shown: of a host, of a figure, or with a reported change in some state.
#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "core/history/history.h"

namespace gpubench {

/// Empty: any.
struct TrendFilter {
  std::string host = {}, figure = {}, state = {};
};

class FilteredSeries {
 public:
  /// Throws Error for a host or figure that no series of the experiment has (of all, if it is empty), and for another
  /// state, listing those.
  FilteredSeries(const RunHistory& history, const std::string& experiment, const TrendFilter& filter);

  bool takes(const HistorySeries& series) const { return series_.contains(series.id); }
  bool takes(const ReportedChange& change) const;

 private:
  std::string state_;  ///< empty: any
  std::set<std::int64_t> series_;
};

}  // namespace gpubench
