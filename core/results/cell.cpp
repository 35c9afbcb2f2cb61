#include "core/results/cell.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <system_error>

namespace gpubench {
namespace {

struct Printer {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    if (std::isnan(value)) return "nan";
    std::string text = fmt::format("{}", value);
    // "3" would read back as an integer.
    if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  std::string operator()(const std::string& value) const { return value; }
};

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> number_in(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::nullopt;
}

std::string to_text(const Cell& cell) {
  return std::visit(Printer{}, cell);
}

Cell parse_cell(std::string_view text, bool is_text) {
  if (text.empty()) return std::monostate{};
  if (is_text) return std::string(text);
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto integer = whole_number<std::int64_t>(text)) return *integer;
  if (const auto real = whole_number<double>(text)) return *real;
  return std::string(text);
}

}  // namespace gpubench
