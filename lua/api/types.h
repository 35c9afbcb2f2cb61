// Lua representation of core's basic types: element types and devices are strings, shapes are arrays.
#pragma once
#include "core/tensor/device_id.h"
#include "core/tensor/dtype.h"
#include "lua/bind/value.h"

namespace gpubench::lua {

template <>
struct Value<Dtype> : TextValue<Dtype, &parse_dtype> {};
template <>
struct Value<DeviceId> : TextValue<DeviceId, &parse_device_id> {};

}  // namespace gpubench::lua
