// Goes on behind elements that cannot be made, and counts them: StageStatistics::errors; `why` tells
// the text of the last.
//
//   ignore_errors(map(photographs, decode))
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Ignored is what an element's own bytes are to blame for: not a lack of memory, a failed device, Ctrl-C, or an error
/// after which the stage before cannot go on. The size is not known any more.
DatasetPtr ignore_errors(DatasetPtr source);

}  // namespace gpubench
