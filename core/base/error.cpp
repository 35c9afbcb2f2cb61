#include "core/base/error.h"

#include <fmt/format.h>

namespace gpubench {

DeviceError::DeviceError(std::string_view library, std::string_view call, std::string_view reason,
                         std::source_location where)
    : Error(fmt::format("{}: {} failed: {} ({}:{})", library, call, reason, where.file_name(), where.line())) {}

}  // namespace gpubench
