// The one filter of remedies: which of them a row's facts rule out, because the script has them or because there is
// nothing that they could change. `explain`, pages and `tune` all ask here.
#pragma once
#include <string>

#include "core/diagnose/evidence.h"
#include "core/diagnose/remedy.h"

namespace gpubench {

/// Why the remedy is of no use, in a few words: "the model runs as a graph already". Empty if it may help; facts that
/// the row does not have rule out nothing.
std::string why_no_use(Remedy remedy, const Evidence& evidence);

}  // namespace gpubench
