// What the lines of a watched job say of its steps, as texts of the causes that a row names.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/watch/job_steps.h"

namespace gpubench {

/// "train.py" of its path, safe to show.
std::string file_name(std::string_view path);
/// "train.py:41", of two fields of a fact; empty if they name no line.
std::string place_in(const Info& fact, std::string_view file, std::string_view line);
/// "train.py:12 (Digits.__getitem__)".
std::string place_of(const AgentSite& site);
/// Of a kind, those that take most first.
std::vector<const StepSite*> sites_of(const JobSteps& steps, SiteKind kind);
/// "train.py:12 (f) 4.2 times a step, 3.1 ms", of the two that take most; empty if there is none.
std::string sites_text(const JobSteps& steps, SiteKind kind);

/// Forward passes in the function that trains, behind the last line that trains: an evaluation that no counter sees.
struct Evaluation {
  double share = 0;
  std::string text{};
};
Evaluation evaluation_by_lines(const JobSteps& steps);

/// Share of the time in lines of the user's own code that do not train.
double own_share(const JobSteps& steps);
/// "train.py:44 (WeightLog.write) 12 ms, train.py:31 (main) 3 ms", the three that take most.
std::string own_lines_text(const JobSteps& steps);

}  // namespace gpubench
