// What is known of the devices: for run.json, and for the verdict on a row.
#pragma once
#include "core/results/info.h"
#include "core/results/record.h"
#include "lua/api/session.h"

namespace gpubench::lua {

/// Sets `verdict` in a row that has_steps(), from the row and what is known of the devices now.
void set_verdict(World& world, Record& record);

}  // namespace gpubench::lua
