// A limit on how deeply JSON text is nested. The JSON library and our own readers follow nested values by recursion, so
// a file of a million "[" would overflow the stack.
#pragma once
#include <string_view>

namespace gpubench {

/// No file of this program comes near.
inline constexpr int deepest_json = 64;

/// Throws Error "<what>: ..." with the byte where a value lies deeper than deepest_json. Knows brackets and strings
/// only: text that is no valid JSON passes, for the parser to refuse.
void check_json_nesting(std::string_view text, std::string_view what);

}  // namespace gpubench
