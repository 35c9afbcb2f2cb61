// A trace as far as it can be judged: its steps, why devices had no work, and what is incomplete; and what a run keeps
// of it: a row of figures, a profile and facts.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/results/info.h"
#include "core/results/record.h"
#include "core/trace/timeline.h"
#include "core/traces/foreign_trace.h"
#include "core/traces/idle.h"
#include "core/traces/quality.h"
#include "core/traces/steps.h"

namespace gpubench {

struct TraceAnalysis {
  ForeignTrace trace;
  std::vector<QualityIssue> issues;
  TraceSteps steps;
  TraceInterval window;                     ///< of the steps that count; without steps of all work
  std::vector<std::vector<IdlePart>> idle;  ///< of each device; of the main thread where there is none
  bool is_host_only = false;                ///< no device was recorded: the main thread is looked at
  bool is_on_cpu = false;                   ///< the same, or processors are the device: operators are work
  /// The work and the idle parts of all devices in the window, with the marks of the steps that count.
  std::unique_ptr<Timeline> timeline;

  int known_steps = 0;  ///< of the window by another count than the trace's marks; 0: nobody counted

  /// Of the steps that count; 0 without steps.
  int step_count() const { return static_cast<int>(steps.count()); }
  /// How many steps the window has, by the trace or by another count; 0: unknown.
  int counted_steps() const { return step_count() > 0 ? step_count() : known_steps; }
  double window_s() const { return static_cast<double>(window.length()) * 1e-9; }
  /// The mean; the whole window where nobody has counted steps.
  double step_s() const { return window_s() / std::max(counted_steps(), 1); }
  /// Behind a figure: what it is of.
  const char* unit() const { return counted_steps() > 0 ? " a step" : " in the window"; }
  /// Of a step to which such moments count: on processors operators and exchanges are work.
  SpanClass class_of(IdleKind kind) const;
  const QualityIssue* blocking() const;
};

struct AnalysisOptions {
  std::string mark{};   ///< as of find_steps()
  bool whole = false;   ///< without steps
  int known_steps = 0;  ///< as of TraceAnalysis
};
TraceAnalysis analyse(ForeignTrace trace, const AnalysisOptions& options = {});

/// Throws Error with what is wrong where no rank has any work.
void require_work(const std::vector<TraceAnalysis>& ranks);

/// The row of a run: shares of the step with intervals, causes, and why nothing can be said.
Record row_of(const TraceAnalysis& analysis);
/// As profile_info() has it, with `on_processors` and `idle`: { { kind, meaning, share, time_s, names = { { name,
/// share, calls, place } } }
/// }.
Info profile_of(const TraceAnalysis& analysis);
/// { file, format, framework, rank, steps, step_rule, window_s, issues = { { check, blocks, unknown_share, found, to_do
/// }
/// }, ... }.
Info facts_of(const TraceAnalysis& analysis);
/// The devices of a trace as run.json has them.
Info::List devices_of(const ForeignTrace& trace);

}  // namespace gpubench
