// Native functions of elements, which scripts pass to map: from gb.image.decode, gb.data.parse_example and others.
#pragma once
#include "core/data/function/element_function.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

template <>
inline constexpr const char* class_name<ElementFunction> = "ElementFunction";

}  // namespace gpubench::lua
