// The classes of other tools for a trace, by their own rules, so that figures can be compared with theirs. They use the
// times as they were recorded; findings do not use them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_names.h"
#include "core/traces/foreign_trace.h"

namespace gpubench {

enum class ReferenceRule : std::uint8_t { kineto, hta, tracelens };
inline constexpr EnumNames<ReferenceRule, 3> reference_rules{"unknown rule", {"kineto", "hta", "tracelens"}};

/// Whose rule it is, and what it says in short.
std::string_view words_of(ReferenceRule rule);

/// Microseconds by class, under the names that the tool gives its classes.
struct ReferenceTable {
  struct Row {
    std::string name;              ///< a step's number or "average" (kineto), else "all devices" or a device
    std::vector<double> times_us;  ///< one for each class
  };
  std::vector<std::string_view> classes;
  std::vector<Row> rows;
};

/// `trace`: as its reader leaves it, with the recorded times. Throws Error where the rule is not for traces of this
/// format, or where the trace has nothing that the rule counts.
ReferenceTable reference_table(const ForeignTrace& trace, ReferenceRule rule);

}  // namespace gpubench
