// What a run keeps of a trace, as text for a terminal: what was read and what is missing, and where idle time and
// kernels' time went.
#pragma once
#include <string>

#include "core/report/text/text.h"
#include "core/results/info.h"

namespace gpubench {

/// Of run.json: the file, its steps and what is incomplete; empty for runs of scripts.
std::string trace_facts_text(const Info& run, const TextStyle& style);
/// Of profile-N.json: tables of idle time by what the launching thread did, and of kernels.
std::string trace_profile_text(const Info& profile);

}  // namespace gpubench
