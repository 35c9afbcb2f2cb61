// Reads XPlane files, which the profilers of TensorFlow and JAX write: tsl/profiler/protobuf/xplane.proto.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "core/traces/foreign_trace.h"

namespace gpubench {

/// `start`: the first bytes of a file, a hundred or more where it has them.
bool is_xplane(std::span<const std::byte> start);
/// Throws Error for bytes that are no XSpace, saying at which byte.
ForeignTrace read_xplane(const std::string& file, std::span<const std::byte> bytes);

}  // namespace gpubench
