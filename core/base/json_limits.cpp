#include "core/base/json_limits.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

/// A list or object that is not closed yet.
struct Open {
  bool is_object = false;
  std::size_t commas = 0;
};

}  // namespace

void check_json_limits(std::string_view text, std::string_view what, std::size_t most_fields) {
  const auto fail = [&](const std::string& how) { throw Error(fmt::format("{}: JSON {}", what, how)); };
  if (text.size() > largest_text) fail(fmt::format("of {} bytes; at most {} are read", text.size(), largest_text));
  std::array<Open, deepest_json + 1> open{};
  std::size_t depth = 0, values = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        while (++at < text.size() && text[at] != '"')
          if (text[at] == '\\') ++at;
        continue;
      case '[':
      case '{':
        if (depth == deepest_json) fail(fmt::format("nested more than {} deep at byte {}", deepest_json, at));
        open[++depth] = {.is_object = text[at] == '{'};
        break;
      case ']':
      case '}':
        if (depth > 0) --depth;
        continue;
      case ',':
        if (++open[depth].commas >= most_fields && open[depth].is_object)
          fail(fmt::format("object with more than {} fields at byte {}", most_fields, at));
        break;
      case ':':
        break;
      default:
        continue;
    }
    if (++values > most_json_values) fail(fmt::format("with more than {} values at byte {}", most_json_values, at));
  }
}

}  // namespace gpubench
