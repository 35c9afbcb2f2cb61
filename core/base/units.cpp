#include "core/base/units.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace gpubench {
namespace {

// Three significant digits without an exponent: 1.23, 12.3, 123. Nobody reads more than some twenty digits.
std::string three_digits(double value) {
  constexpr double longest = 1e15;
  const double magnitude = std::abs(value);
  if (magnitude >= longest) return fmt::format("{:.3g}", value);
  const int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

template <std::size_t N>
std::string scaled(double value, double base, const std::array<std::string_view, N>& prefixes) {
  std::size_t prefix = 0;
  while (std::abs(value) >= base * 0.9995 && prefix + 1 < N) {
    value /= base;
    ++prefix;
  }
  return fmt::format("{} {}", three_digits(value), prefixes[prefix]);
}

}  // namespace

std::string format_bytes(double bytes) {
  return scaled(bytes, 1024, std::array<std::string_view, 6>{"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string format_seconds(double seconds) {
  const double magnitude = std::abs(seconds);
  if (magnitude >= 3600) return three_digits(seconds / 3600) + " h";
  if (magnitude >= 60) return three_digits(seconds / 60) + " min";
  if (magnitude >= 1 || magnitude == 0) return three_digits(seconds) + " s";
  if (magnitude >= 1e-3) return three_digits(seconds * 1e3) + " ms";
  if (magnitude >= 1e-6) return three_digits(seconds * 1e6) + " µs";
  return three_digits(seconds * 1e9) + " ns";
}

std::string format_si(double value) {
  std::string text = scaled(value, 1000, std::array<std::string_view, 6>{"", "k", "M", "G", "T", "P"});
  if (text.back() == ' ') text.pop_back();
  return text;
}

std::string format_count(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, " ");
  }
  return digits;
}

std::string format_count(std::int64_t value, std::string_view noun) {
  const std::string_view ending = value == 1 ? "" : noun.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", format_count(value), noun, ending);
}

}  // namespace gpubench
