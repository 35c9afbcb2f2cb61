// What makes one trace's step longer or shorter than another's: differences of the classes, which sum to the difference
// of the steps, then of kernels and of the causes of idle time.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/results/info.h"
#include "core/traces/analysis.h"

namespace gpubench {

/// Seconds of a step and device.
struct TimeChange {
  std::string name;
  double before_s = 0, after_s = 0;
  double added_s() const { return after_s - before_s; }
};

struct TraceDifference {
  std::string unit;  ///< "step", or the range that both traces are of
  std::size_t before_count = 0, after_count = 0;
  TimeChange step;
  std::vector<TimeChange> classes;  ///< in the order of step_classes; their changes sum to that of the step
  std::vector<TimeChange> kernels;  ///< by name, the largest change first
  std::vector<TimeChange> idle;     ///< by IdleKind, the largest change first
  /// Of watched jobs alone: by JobStepPart, and by line of the user's code; the largest change first.
  std::vector<TimeChange> parts, lines;
  /// Whether the step is longer beyond what its steps differ by, and by more than 1 %.
  bool is_slower = false;
  std::string sentence;  ///< "a step takes 42.9 ms less (...): input wait -59 ms, ..."
};

/// Whether the traces have steps by different rules, and one range holds all of both: they are compared without steps.
bool are_one_range(const TraceAnalysis& before, const TraceAnalysis& after);
/// Throws Error, with what differs, where the traces cannot be compared: steps by another rule, another number of
/// devices, or no steps and no range that holds both.
TraceDifference difference_of(const TraceAnalysis& before, const TraceAnalysis& after);

using TimeChanges = std::map<std::string, TimeChange>;
/// Adds to one side of the change of that name.
void add_time(TimeChanges& changes, const std::string& name, double seconds, double TimeChange::*side);
/// The largest ten first.
std::vector<TimeChange> largest(const TimeChanges& changes);
/// "a step takes 42.9 ms less (...): input wait -59 ms, ...", of step and classes.
std::string sentence_of(const TraceDifference& difference);

/// { unit, before_s, after_s, added_s, slower, sentence, classes = { { name, before_s, after_s, added_s } }, kernels,
/// idle, parts, lines }
Info difference_info(const TraceDifference& difference);

}  // namespace gpubench
