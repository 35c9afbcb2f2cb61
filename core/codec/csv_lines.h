// Rows of CSV text as RFC 4180 has them, cut out of a file where they lie: quotes may hold delimiters, quotes and line
// ends. libcsv splits a row into fields; rows of plain numbers are read without it.
#pragma once
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/codec/byte_source.h"

namespace gpubench {

class CsvLines {
 public:
  CsvLines(std::unique_ptr<ByteSource> source, char delimiter);
  ~CsvLines();

  const std::string& name() const { return bytes_.name(); }
  char delimiter() const { return delimiter_; }
  /// Where the row starts, counted from 1.
  std::int64_t line() const { return line_; }

  /// Goes to the next row; false at the end. Lines with nothing but blanks are no rows.
  bool next();
  /// The row as it is written, without its line end. Valid until next().
  std::string_view text() const { return text_; }
  /// The row's fields, unquoted, with the blanks around them. Throws Error with line and column for text that is no
  /// CSV: a quote inside a field that does not start with one, or one that stays open. Valid until next().
  const std::vector<std::string_view>& fields();

 private:
  struct Splitter;
  bool find_row();

  ReadAhead bytes_;
  char delimiter_;
  std::int64_t line_ = 0;
  std::int64_t lines_passed_ = 0;
  std::size_t passing_ = 0;
  bool ended_ = false;
  std::string_view text_;
  std::unique_ptr<Splitter> splitter_;
};

/// Of a decimal number that has a mantissa: whether it is below 1 in magnitude.
bool is_below_one(std::string_view number);

/// The number at the start of `text`, which it shortens; false when there is none, or none of this type. Numbers that
/// are too small for it are 0. The grammar is std::from_chars's, with a plus sign allowed in front.
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
