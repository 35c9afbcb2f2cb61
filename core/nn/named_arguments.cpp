#include "core/nn/named_arguments.h"

#include <charconv>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<NamedArguments> parse_named_arguments(std::string_view text) {
  const std::size_t open = text.find('(');
  NamedArguments result{trim(text.substr(0, open)), {}};
  if (open == std::string_view::npos) return result;
  if (text.back() != ')') return std::nullopt;
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!trim(rest).empty()) {
    const std::size_t bracket = rest.find('['), close = rest.find(']');
    std::size_t comma = rest.find(',');
    if (bracket < comma && close != std::string_view::npos) comma = rest.find(',', close);
    const std::string_view argument = rest.substr(0, comma);
    const std::size_t equals = argument.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    result.arguments.emplace_back(trim(argument.substr(0, equals)), trim(argument.substr(equals + 1)));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return result;
}

double parse_argument(std::string_view text, std::string_view owner) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Error(fmt::format("{}: '{}' is no number", owner, text));
  }
  return number;
}

}  // namespace gpubench
