// The steps of a trace, found by the marks that frameworks write by themselves, or by what repeats.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/traces/foreign_trace.h"

namespace gpubench {

/// Where steps begin and end, on the host.
struct TraceSteps {
  std::string rule;  ///< "ProfilerStep"; empty without steps
  /// In order and without gaps between them, two or more that count; a step ends when the work that it has launched is
  /// done. Empty without steps.
  std::vector<TraceInterval> steps;
  /// Without the first and the last one where there are four or more, and without those that have no work of a device
  /// at either end.
  std::size_t first = 0, last = 0;  ///< of the steps that count: [first, last)
  std::size_t without_work = 0;     ///< steps that were left out because the device did nothing in them
  /// Another mark that repeats in the steps that count and gives steps of another length; empty: all agree within 5 %.
  std::string other_rule;
  double other_step_s = 0;

  std::size_t count() const { return last - first; }
  std::span<const TraceInterval> counted() const { return std::span(steps).subspan(first, count()); }
  /// Of the steps that count.
  std::vector<double> seconds() const;
  TraceInterval window() const { return {steps[first].begin, steps[last - 1].end}; }
};

/// `mark`: ranges of this name are steps; empty: they are found. Throws Error where no range of the name occurs twice.
TraceSteps find_steps(const ForeignTrace& trace, const std::string& mark = {});

/// From the first to the last recorded work, of devices where there are any.
TraceInterval recorded_window(const ForeignTrace& trace);

}  // namespace gpubench
