// A profile of steps as facts: for the file profile-N.json of a run, for scripts, and as text for people.
#pragma once
#include <string>

#include "core/results/info.h"
#include "core/trace/profile.h"

namespace gpubench {

/// { steps, step_s, doubt, entries = { { class, layer, op, role, time_s, share, calls }, ... }, layers = { ... },
/// ops = { ... }, gaps = { { step, since_step_s, length_s, doing, what, share, before, after }, ... },
/// memory = { { layer, kind, bytes }, ... } }; texts that would be empty are left out. Times are per step, shares of
/// the step; in layers and ops the time of nodes without a layer, and time without nodes, is named after its class.
Info profile_info(const StepProfile& profile);

/// Tables of the layers, the ops and the idle gaps in `info`, which profile_info() made.
std::string profile_text(const Info& info);

}  // namespace gpubench
