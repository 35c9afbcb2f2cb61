#include "core/base/json_nesting.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {

void check_json_nesting(std::string_view text, std::string_view what) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest_json)
        throw Error(fmt::format("{}: JSON nested more than {} deep at byte {}", what, deepest_json, at));
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

}  // namespace gpubench
