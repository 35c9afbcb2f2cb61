// One value of a row. Empty (std::monostate) means "not measured"; that is never written as 0 or -1.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace gpubench {

using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

inline bool is_empty(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}
/// The number in an integer or floating-point cell.
std::optional<double> number_in(const Cell& cell);

/// Plain text that parses back to the same value: "", "true", "32", "4.2e-05", "nan".
std::string to_text(const Cell& cell);
/// The inverse. Text that is neither a number nor a boolean is a string, and so is all text if `is_text`.
Cell parse_cell(std::string_view text, bool is_text);

}  // namespace gpubench
