// Text such as "random_normal(mean=0, stddev=0.02)", as options of layers name what takes arguments: initializers,
// regularizers.
#pragma once
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace gpubench {

struct NamedArguments {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> arguments;
};

/// None for text of another form.
std::optional<NamedArguments> parse_named_arguments(std::string_view text);
/// Throws Error "<owner>: '<text>' is no number".
double parse_argument(std::string_view text, std::string_view owner);

}  // namespace gpubench
