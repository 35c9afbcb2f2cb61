// The bound Dataset class, for other modules of the API.
#pragma once
#include "core/data/dataset.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

template <>
inline constexpr const char* class_name<Dataset> = "Dataset";

}  // namespace gpubench::lua
