// Numbers formatted for people. Only this file adds unit prefixes: results hold plain SI numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace gpubench {

/// "1.5 MiB": binary prefixes, three significant digits.
std::string format_bytes(double bytes);
/// "12.3 µs": from nanoseconds to hours.
std::string format_seconds(double seconds);
/// "4.35 G": decimal prefixes, three significant digits; the caller adds the unit ("FLOP/s").
std::string format_si(double value);
/// "1 234 567": groups of thousands separated by spaces.
std::string format_count(std::int64_t value);
/// "1 row", "2 rows", "2 processes".
std::string format_count(std::int64_t value, std::string_view noun);

}  // namespace gpubench
