// How this program was built, so that a result can be traced to its source: for `gpubench --version` and run.json.
#pragma once
#include <string>

#include "core/results/info.h"

namespace gpubench {

/// version; commit (with "+changes" for an edited checkout; absent outside one); compiler; build (its type and the
/// instruction set); libraries: those used for "CPU", "GPU", "processes" and "scripts", such as "oneDNN 2.6.3", or why
/// a part was not built.
Info build_info();

/// The same for people: "gpubench VERSION", then one line per fact.
std::string build_text();

}  // namespace gpubench
