// The rule's answer about the machines of one model, as facts: who stands out, by how much, since when, and the matrix
// of figures and machines.
#pragma once
#include <set>
#include <string>

#include "core/fleet/fleet.h"
#include "core/results/info.h"

namespace gpubench {

struct GroupVerdict {
  bool is_judged = false;
  /// Whether machines that are shown have figures tonight.
  bool has_machines = false;
  Info facts = {};  ///< as core/fleet/verdict.h describes it
};

/// `few_models`: those that only the group of all models can judge. `hosts`: only these are shown; all if empty.
GroupVerdict judge_group(const FleetGroup& group, const std::set<std::string>& few_models,
                         const std::set<std::string>& hosts);

}  // namespace gpubench
