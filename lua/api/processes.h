// Which process reports the fate of processes that run a script together.
#pragma once
#include <string>

#include "core/group/process_group.h"

namespace gpubench::lua {

/// Process 0, unless it was lost.
inline bool speaks_for_all(const ProcessGroup& group) {
  return group.rank() == 0 || group.lost().starts_with(group.name_of(0) + " was lost");
}

/// The reason that a process gives when the user has stopped it.
inline constexpr const char* interruption = "interrupted";

/// Whether the user has stopped another process, so that this one stops too.
inline bool was_interrupted(const ProcessGroup& group) {
  return group.lost().ends_with(std::string(" failed: ") + interruption);
}

}  // namespace gpubench::lua
