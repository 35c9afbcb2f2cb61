// One record of CUPTI's as an Activity.
#pragma once
#include <optional>

#include "core/telemetry/cupti/activity.h"
#include "core/telemetry/cupti/functions.h"

namespace gpubench {

/// Nothing for a record of a kind that is no span. Only `callback_name` of the functions is called.
std::optional<Activity> decode(const CUpti_Activity& record, const CuptiFunctions& functions);

}  // namespace gpubench
