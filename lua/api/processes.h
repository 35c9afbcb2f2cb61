// Who tells the user what has become of the processes that run a script together.
#pragma once
#include <string>

#include "core/group/process_group.h"

namespace gpubench::lua {

/// Process 0, unless it is the one that is gone.
inline bool speaks_for_all(const ProcessGroup& group) {
  return group.rank() == 0 || group.lost().starts_with(group.name_of(0) + " was lost");
}

/// What a process that the user has stopped says when it leaves.
inline constexpr const char* interruption = "interrupted";

/// Whether the user has stopped another process: then this one is stopped, too.
inline bool was_interrupted(const ProcessGroup& group) {
  return group.lost().ends_with(std::string(" failed: ") + interruption);
}

}  // namespace gpubench::lua
