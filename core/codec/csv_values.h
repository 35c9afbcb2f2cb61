// Numbers in CSV fields. There is one grammar, whichever way a row is read: std::from_chars's, and a plus sign in
// front.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace gpubench {

/// Of a decimal number that has a mantissa: whether it is below 1 in magnitude.
inline bool is_below_one(std::string_view number) {
  const std::size_t letter = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, letter);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  const auto magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + (first > point ? 1 : 0);
  std::string_view digits = number.substr(std::min(letter + 1, number.size()));
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error == std::errc::result_out_of_range) return digits.starts_with('-');
  return exponent <= -magnitude;
}

/// The number at the start of `text`, which it shortens; false when there is none, or none of this type. Numbers that
/// are too small for it are 0.
template <class T>
bool take_number(std::string_view& text, T& value) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  const std::string_view number = text.substr(plus ? 1 : 0);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const auto length = static_cast<std::size_t>(end - number.data());
  if (error != std::errc{}) {
    if (!std::is_floating_point_v<T> || error != std::errc::result_out_of_range) return false;
    if (!is_below_one(number.substr(0, length))) return false;
    value = static_cast<T>(number.starts_with('-') ? -0.0 : 0.0);
  }
  text.remove_prefix(length + (plus ? 1 : 0));
  return true;
}

}  // namespace gpubench
