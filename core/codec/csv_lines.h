// Rows of CSV text as RFC 4180 has them, cut out of a file where they lie: quotes may hold delimiters, quotes and line
// ends. Which fields a row has is libcsv's word; rows of plain numbers never get that far.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/read_ahead.h"

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

}  // namespace gpubench
