// Who tells the user what has become of the processes that run a script together.
#pragma once
#include "core/comm/process_group.h"

namespace gpubench::lua {

/// Process 0, unless it is the one that is gone.
inline bool speaks_for_all(const ProcessGroup& group) {
  return group.rank() == 0 || group.lost().starts_with(group.name_of(0) + " was lost");
}

}  // namespace gpubench::lua
