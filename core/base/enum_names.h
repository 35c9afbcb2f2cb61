// The names of an enum's values, for scripts, CSV and messages: one table for printing and parsing.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "core/base/known_names.h"

namespace gpubench {

template <class Enum, std::size_t count>
struct EnumNames {
  std::string_view unknown;                   ///< start of the error for a wrong name: "unknown execution"
  std::array<std::string_view, count> names;  ///< in the order of the enum's values, which start at 0
  std::string_view place = "";                ///< of names of other libraries, see other_names.h

  constexpr std::string_view operator[](Enum value) const { return names[static_cast<std::size_t>(value)]; }
  /// Throws Error listing the names.
  constexpr Enum parse(std::string_view name) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (names[i] == name) return static_cast<Enum>(i);
    }
    throw_unknown_name(unknown, name, names, "", place);
  }
};

}  // namespace gpubench
