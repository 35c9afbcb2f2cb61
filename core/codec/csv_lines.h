// Rows of CSV text by RFC 4180, returned as views into the buffer: quoted fields may hold delimiters, quotes and line
// ends. libcsv splits a row into fields; rows of plain numbers are parsed without it.
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
  /// Line number of the row's start, from 1.
  std::int64_t line() const { return line_; }

  /// Moves to the next row; false at the end. Blank lines are skipped.
  bool next();
  /// The row's text without its line end. Valid until next().
  std::string_view text() const { return text_; }
  /// The row's fields, unquoted, with surrounding blanks kept. Throws Error with line and column for invalid CSV: a
  /// quote inside an unquoted field, or a quote that is never closed. Valid until next().
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

/// Whether a decimal number, which must have a mantissa, is below 1 in magnitude.
bool is_below_one(std::string_view number);

/// Parses the number at the start of `text` and removes it; false if there is none, or none of this type. Numbers too
/// small for the type become 0. The grammar is that of std::from_chars, plus an optional plus sign.
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
