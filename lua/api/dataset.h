// Datasets as other modules of the API see them: the bound class.
#pragma once
#include "core/data/dataset.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

template <>
inline constexpr const char* class_name<Dataset> = "Dataset";

}  // namespace gpubench::lua
