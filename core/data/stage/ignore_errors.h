// Skips elements that fail and counts them in StageStatistics::errors; `why` holds the text of the last error.
//
//   ignore_errors(map(photographs, decode))
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Ignores Error and its subclasses, except lack of memory, a failed device, Ctrl-C and an error after which the
/// previous stage cannot continue. The size becomes unknown.
DatasetPtr ignore_errors(DatasetPtr source);

}  // namespace gpubench
