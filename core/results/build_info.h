// What this program was built from, so that a result can be traced to its source: `gpubench --version` and run.json.
#pragma once
#include <string>

#include "core/results/info.h"

namespace gpubench {

/// version; commit ("+changes" behind it for an edited checkout; absent outside one); compiler; build (its type and the
/// instruction set); libraries: what the program was built with for "CPU", "GPU", "processes" and "scripts", as
/// "oneDNN 2.6.3", or why a part was not built.
Info build_info();

/// The same for people: "gpubench 0.1.0", then a line for each fact.
std::string build_text();

}  // namespace gpubench
