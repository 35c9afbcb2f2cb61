// The table of all findings, and the diagnosis of one point: what fires, sorted by what can be gained.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/diagnose/finding.h"

namespace gpubench {

/// In the order in which equal gains are listed.
std::span<const FindingRule* const> finding_rules();
/// The findings that propose the remedy, in the order of the table.
std::vector<std::string_view> findings_with(Remedy remedy);

struct Diagnosis {
  /// The largest gain first; of traces the five that gain a tenth or more, and what changes results last. Never empty
  /// for a row that has_steps() and is not healthy.
  std::vector<Finding> findings;
  /// Facts of the machine that cost speed, or compute wrongly.
  std::vector<CheckResult> machine;
  /// Kernels take most of the step, beside findings that gain something: "compute bound", or with the rate that kernels
  /// below their peak reach. Empty: they do not.
  std::string busy;
  bool is_of_trace = false;
  /// Of a trace: kernels run nearly always. Its findings are empty then.
  bool is_healthy = false;

  /// The finding with the largest gain in one line, or "cannot tell ..."; with the next one, if its gain is within the
  /// noise of the first. Where kernels take most of the step and the
  /// gain is little: "compute bound, then host bound (Lua in every step): 4 % of the step", or "compute bound (kernels
  /// below their peak): 34 % of the best rate, then ...". Empty without findings.
  std::string verdict() const;
  /// The same without figures, to count points by: "launch bound (batch too small)", "cannot tell".
  std::string cause() const;

 private:
  /// The second finding, if no noise tells which of both gains more; nullptr without.
  const Finding* equal() const;
  /// The step is busy and the first finding gains little.
  bool is_busy_first() const;
};

/// Without findings for a row without steps. `words`: those of the findings' texts.
Diagnosis diagnose(const Record& row, const RunFacts& facts, Words words = Words::lua);

}  // namespace gpubench
