// What the steps of a row are steps of. A row that does not say it is about steps of which nothing else is known.
#pragma once
#include "core/base/enum_names.h"

namespace gpubench {

enum class StepsOf { model, loop, inference, foreign };

/// In the column `steps_of`.
inline constexpr EnumNames<StepsOf, 4> steps_of_names{"unknown steps", {"model", "loop", "inference", "foreign"}};

}  // namespace gpubench
