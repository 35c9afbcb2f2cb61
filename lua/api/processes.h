// Which process reports the fate of processes that run a script together.
#pragma once
#include <string>

#include "core/group/process_group.h"

namespace gpubench::lua {

/// Process 0, unless it was lost.
inline bool reports_for_all(const ProcessGroup& group) {
  return group.rank() == 0 || group.lost().starts_with(group.name_of(0) + " was lost");
}

/// The reason that a process gives when the user has stopped it.
inline constexpr const char* interruption = "interrupted";

/// The signal by which the user has stopped another process, so that this one stops too; 0 if none has.
inline int interrupted_by(const ProcessGroup& group) {
  constexpr int without_signal = 128;
  return !group.lost().empty() && group.exit_status() > without_signal ? group.exit_status() - without_signal : 0;
}

}  // namespace gpubench::lua
