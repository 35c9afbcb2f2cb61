// The limits of JSON from elsewhere, checked before any parser sees the text.
#pragma once
#include <string_view>

#include "core/base/input_limits.h"

namespace gpubench {

/// Throws Error "<what>: ..." where the text is larger than largest_text, nested deeper than deepest_json, or has more
/// than most_json_values; and where one object has more than `most_fields`. Knows brackets, commas and strings only:
/// text that is no valid JSON passes, for the parser to refuse.
void check_json_limits(std::string_view text, std::string_view what, std::size_t most_fields = most_json_fields);

}  // namespace gpubench
