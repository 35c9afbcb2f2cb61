#include "core/codec/csv_lines.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <csv.h>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::size_t least_ahead = std::size_t{1} << 12;

bool is_blank(std::string_view text, char delimiter) {
  return std::all_of(text.begin(), text.end(), [=](char c) { return c != delimiter && (c == ' ' || c == '\t'); });
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

/// libcsv, for one row at a time.
struct CsvLines::Splitter {
  csv_parser parser{};
  char delimiter;
  int rows = 0;
  std::string unquoted;
  std::vector<std::size_t> ends;
  std::vector<std::string_view> fields;

  explicit Splitter(char separator) : delimiter(separator) { start_anew(); }
  ~Splitter() { csv_free(&parser); }
  Splitter(const Splitter&) = delete;
  Splitter& operator=(const Splitter&) = delete;

  /// libcsv forgets the row that it gave up only this way.
  void start_anew() {
    csv_free(&parser);
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) throw OutOfMemory("libcsv: no memory for a parser");
    csv_set_delim(&parser, static_cast<unsigned char>(delimiter));
    csv_set_space_func(&parser, [](unsigned char) { return 0; });  // blanks are part of their fields
  }

  static void on_field(void* text, std::size_t size, void* self) {
    auto& splitter = *static_cast<Splitter*>(self);
    splitter.unquoted.append(static_cast<const char*>(text), size);
    splitter.ends.push_back(splitter.unquoted.size());
  }

  static void on_row(int /*end*/, void* self) { ++static_cast<Splitter*>(self)->rows; }

  struct Mistake {
    std::size_t position;  ///< in the row
    std::string text;
  };

  std::optional<Mistake> split(std::string_view row) {
    unquoted.clear();
    ends.clear();
    rows = 0;
    const std::size_t parsed = csv_parse(&parser, row.data(), row.size(), &on_field, &on_row, this);
    const bool closed = parsed == row.size() && csv_fini(&parser, &on_field, &on_row, this) == 0;
    if (!closed) {
      if (csv_error(&parser) == CSV_ENOMEM) throw OutOfMemory("libcsv: no memory for a row");
      start_anew();
      return mistake_at(parsed, row);
    }
    if (rows > 1) return Mistake{0, "a carriage return outside quotes, and not at the end of the line"};
    fields.clear();
    std::size_t start = 0;
    for (const std::size_t end : ends) {
      fields.emplace_back(unquoted.data() + start, end - start);
      start = end;
    }
    return std::nullopt;
  }

  /// Where libcsv refused a byte, or where a quote was opened that is still open at the row's end.
  Mistake mistake_at(std::size_t position, std::string_view row) const {
    const std::size_t column = ends.size() + 1;
    if (position == row.size()) return {0, fmt::format("column {}: a quote is opened and never closed", column)};
    if (row[position] == '"') {
      return {position, fmt::format("column {}: a quote inside a field that does not start with one", column)};
    }
    return {position, fmt::format("column {}: text behind the quote that closes the field", column)};
  }
};

CsvLines::CsvLines(std::unique_ptr<ByteSource> source, char delimiter)
    : bytes_(std::move(source)), delimiter_(delimiter), splitter_(std::make_unique<Splitter>(delimiter)) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text_of(bytes_.peek(byte_order_mark.size())).starts_with(byte_order_mark)) bytes_.pass(byte_order_mark.size());
}

CsvLines::~CsvLines() = default;

/// Sets the text up to the first line end outside quotes, or up to the end of the file. False when nothing is left.
bool CsvLines::find_row() {
  std::size_t seen = 0;
  std::size_t quotes = 0;
  std::size_t lines = 0;
  for (std::size_t wanted = least_ahead;; wanted *= 2) {
    const std::string_view window = text_of(bytes_.peek(wanted));
    if (window.empty()) return false;
    for (;;) {
      const auto* const end = static_cast<const char*>(std::memchr(window.data() + seen, '\n', window.size() - seen));
      const std::size_t line_end = end == nullptr ? window.size() : static_cast<std::size_t>(end - window.data());
      quotes += static_cast<std::size_t>(std::count(window.begin() + static_cast<std::ptrdiff_t>(seen),
                                                    window.begin() + static_cast<std::ptrdiff_t>(line_end), '"'));
      if (end == nullptr) {
        seen = line_end;
        break;
      }
      ++lines;
      if (quotes % 2 == 0) {
        text_ = window.substr(0, line_end);
        passing_ = line_end + 1;
        lines_passed_ += static_cast<std::int64_t>(lines);
        return true;
      }
      seen = line_end + 1;
    }
    if (window.size() < wanted) {
      text_ = window;
      passing_ = window.size();
      lines_passed_ += static_cast<std::int64_t>(lines) + 1;
      return true;
    }
  }
}

bool CsvLines::next() {
  while (!ended_) {
    bytes_.pass(std::exchange(passing_, 0));
    line_ = lines_passed_ + 1;
    ended_ = true;  // unless there is a row: bytes that cannot be read have none behind them
    if (!find_row()) break;
    ended_ = false;
    if (text_.ends_with('\r')) text_.remove_suffix(1);
    if (!is_blank(text_, delimiter_)) return true;
  }
  return false;
}

const std::vector<std::string_view>& CsvLines::fields() {
  if (const auto mistake = splitter_->split(text_)) {
    const auto lines_before =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(mistake->position), '\n');
    const std::int64_t line = line_ + lines_before;
    // A stray quote must not consume the following rows: continue with the next line.
    if (const std::size_t end = text_.find('\n'); end != std::string_view::npos) {
      passing_ = end + 1;
      lines_passed_ = line_;
    }
    throw Error(fmt::format("{}: line {}: {}", name(), line, mistake->text));
  }
  return splitter_->fields;
}

bool is_below_one(std::string_view number) {
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

}  // namespace gpubench
