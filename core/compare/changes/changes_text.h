// `gpubench changes`: a file of series to JSON lines of changes.
#pragma once
#include <istream>
#include <string>
#include <string_view>

namespace gpubench {

/// One line per series: {"id": "a", "changes": [40], "alarms": [45], "outliers": []}. Throws Error as read_series().
std::string changes_text(std::istream& in, std::string_view what);

}  // namespace gpubench
