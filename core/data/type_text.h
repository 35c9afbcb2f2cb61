// The inverse of to_text(): types as scripts write them, "float32[28, 28]", "uint8[?]", "int64[]".
#pragma once
#include <string_view>

#include "core/data/dataset.h"

namespace gpubench {

/// "int64" alone is a scalar. Throws Error naming `what` ("synthetic") and the text.
TensorType parse_type(std::string_view text, std::string_view what);

}  // namespace gpubench
