// What a fleet's verdict (core/fleet/verdict.h) says as kinds, for code that reads its facts: the state of the whole,
// and the action that a machine which stands out calls for. The sentences beside them are for people alone.
#pragma once
#include <cstdint>

#include "core/base/enum_names.h"

namespace gpubench {

/// Of the whole: nothing stands out, something does, nothing could be judged.
enum class FleetState : std::uint8_t { calm, stands_out, not_judged };
inline constexpr EnumNames<FleetState, 3> fleet_states{"unknown state of a fleet",
                                                       {"calm", "stands_out", "not_judged"}};

enum class MachineAction : std::uint8_t { watch, test_again, take_out };
inline constexpr EnumNames<MachineAction, 3> machine_actions{"unknown action for a machine",
                                                             {"watch", "test again", "take out"}};

}  // namespace gpubench
