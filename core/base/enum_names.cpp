#include "core/base/enum_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"

namespace gpubench {

void throw_unknown_name(std::string_view unknown, std::string_view name, std::span<const std::string_view> known) {
  throw Error(fmt::format("{} '{}' (known: {})", unknown, name, fmt::join(known, ", ")));
}

}  // namespace gpubench
