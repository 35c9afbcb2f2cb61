#include "core/compare/changes/series_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/json_limits.h"
#include "core/base/shown_text.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

using Json = nlohmann::json;

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_blank(std::string_view line) {
  return line.find_first_not_of(blanks) == std::string_view::npos;
}

/// Lines of text with their numbers; blank lines are skipped.
class Lines {
 public:
  Lines(std::istream& in, std::string_view what) : in_(in), what_(what) {}

  bool next() {
    while (read_line()) {
      check_interrupt();
      ++number_;
      if (number_ == 1 && text_.starts_with(byte_order_mark)) text_.erase(0, byte_order_mark.size());
      if (text_.ends_with('\r')) text_.pop_back();
      if (!is_blank(text_)) return true;
    }
    if (in_.bad()) throw Error(fmt::format("{}: cannot be read after line {}", what_, number_));
    return false;
  }

  const std::string& text() const { return text_; }
  std::string place() const { return fmt::format("{}: line {}", what_, number_); }
  [[noreturn]] void fail(const std::string& reason) const { throw Error(place() + ": " + reason); }
  /// Values of this line are kept.
  void count(std::size_t values) {
    values_ += values;
    if (values_ > most_series_values) fail(fmt::format("more than {} values in all series", most_series_values));
  }

 private:
  /// As std::getline(), for lines that end.
  bool read_line() {
    text_.clear();
    for (;;) {
      in_.getline(piece_.data(), static_cast<std::streamsize>(piece_.size()));
      const auto count = static_cast<std::size_t>(in_.gcount());
      const bool whole = in_.good();  // with its line break
      text_.append(piece_.data(), count - (whole ? 1 : 0));
      if (whole || in_.eof()) return whole || !text_.empty();
      if (in_.bad() || count + 1 < piece_.size()) return false;
      in_.clear();
      if (text_.size() > largest_text)
        throw Error(fmt::format("{}: line {}: longer than {} bytes", what_, number_ + 1, largest_text));
    }
  }

  std::istream& in_;
  std::string_view what_;
  std::vector<char> piece_ = std::vector<char>(std::size_t{64} << 10);
  std::string text_;
  std::size_t number_ = 0, values_ = 0;
};

std::string in_json(const Json& json) {
  return shown_json(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

class JsonLines {
 public:
  explicit JsonLines(Lines& lines) : lines_(lines) {}

  std::vector<Series> read() {
    do {
      const Json object = parsed();
      Series series{id_of(object), values_of(object)};
      lines_.count(series.values.size());
      if (!known_.emplace(series.id, known_.size()).second)
        lines_.fail(fmt::format("the id {} stands on an earlier line too", shown_text(series.id)));
      all_.push_back(std::move(series));
    } while (lines_.next());
    return std::move(all_);
  }

 private:
  Json parsed() const {
    check_json_limits(lines_.text(), lines_.place());
    try {
      Json json = Json::parse(lines_.text());
      if (json.is_object()) return json;
    } catch (const Json::parse_error& error) {
      const bool cut = error.byte > lines_.text().size();
      lines_.fail(cut ? std::string("the JSON object is cut off")
                      : fmt::format("not valid JSON at byte {}: {}", error.byte,
                                    shown_text(std::string_view(lines_.text()).substr(error.byte - 1), 20)));
    } catch (const Json::out_of_range&) {
      lines_.fail("a number is too large for 64-bit floating point");
    }
    lines_.fail("not a JSON object such as {\"id\": \"a\", \"values\": [1, 2]}");
  }

  std::string id_of(const Json& object) const {
    const auto id = object.find("id");
    if (id == object.end()) lines_.fail("no 'id'");
    const bool named = id->is_string() && !id->get_ref<const std::string&>().empty();
    if (!named && !id->is_number_integer())
      lines_.fail(fmt::format("'id' is {}; possible: a text or a whole number", shown_text(in_json(*id), 20)));
    return in_json(*id);
  }

  std::vector<double> values_of(const Json& object) const {
    const auto values = object.find("values");
    if (values == object.end()) lines_.fail("no 'values'");
    if (!values->is_array()) lines_.fail("'values' is no array of numbers");
    if (values->empty()) lines_.fail("'values' is empty");
    std::vector<double> numbers;
    numbers.reserve(values->size());
    for (const Json& value : *values) {
      if (!value.is_number())
        lines_.fail(fmt::format("value {} is no number: {}", numbers.size(), shown_text(in_json(value), 20)));
      numbers.push_back(value.get<double>());
    }
    return numbers;
  }

  Lines& lines_;
  std::vector<Series> all_;
  std::unordered_map<std::string, std::size_t> known_;
};

class CsvRows {
 public:
  explicit CsvRows(Lines& lines) : lines_(lines), header_(fields()), id_(column("id")), values_(column("values")) {}

  std::vector<Series> read() {
    while (lines_.next()) {
      const std::vector<std::string> row = fields();
      if (row.size() != header_.size())
        lines_.fail(fmt::format("{} fields, but the first row has {}", row.size(), header_.size()));
      if (row[id_].empty()) lines_.fail("no 'id'");
      std::vector<double> numbers = numbers_in(row[values_]);
      lines_.count(numbers.size());
      add(in_json(row[id_]), std::move(numbers));
    }
    return std::move(all_);
  }

 private:
  std::vector<std::string> fields() const {
    std::vector<std::vector<std::string>> rows = parse_csv(lines_.text(), lines_.place());
    return rows.empty() ? std::vector<std::string>() : std::move(rows.front());
  }

  std::size_t column(std::string_view name) const {
    const auto found = std::ranges::find(header_, name);
    if (found == header_.end())
      lines_.fail(fmt::format(
          "neither a JSON object nor a row of CSV that names the columns 'id' and 'values' (no '{}')", name));
    return static_cast<std::size_t>(found - header_.begin());
  }

  std::vector<double> numbers_in(std::string_view text) const {
    constexpr std::string_view separators = " \t,;";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
    std::vector<double> numbers;
    for (std::size_t begin = 0; (begin = text.find_first_not_of(separators, begin)) != std::string_view::npos;) {
      const std::string_view word = text.substr(begin, text.find_first_of(separators, begin) - begin);
      double number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number))
        lines_.fail(fmt::format("value {} is no finite 64-bit number: '{}'", numbers.size(), shown_text(word, 20)));
      numbers.push_back(number);
      begin += word.size();
    }
    if (numbers.empty()) lines_.fail("'values' is empty");
    return numbers;
  }

  void add(std::string id, std::vector<double> numbers) {
    const bool whole = numbers.size() > 1;
    const auto [known, is_new] = known_.emplace(id, Place{all_.size(), whole});
    if (is_new) {
      all_.push_back({std::move(id), std::move(numbers)});
    } else if (whole || known->second.whole) {
      lines_.fail(fmt::format("the id {} stands on an earlier line too", shown_text(id)));
    } else {
      all_[known->second.index].values.push_back(numbers.front());
    }
  }

  struct Place {
    std::size_t index;
    /// The series stands in one row.
    bool whole;
  };

  Lines& lines_;
  std::vector<std::string> header_;
  std::size_t id_;
  std::size_t values_;
  std::vector<Series> all_;
  std::unordered_map<std::string, Place> known_;
};

}  // namespace

std::vector<Series> read_series(std::istream& in, std::string_view what) {
  Lines lines(in, what);
  if (!lines.next()) throw Error(fmt::format("{}: empty; possible: JSON lines, or CSV, with 'id' and 'values'", what));
  const bool json = lines.text()[lines.text().find_first_not_of(blanks)] == '{';
  std::vector<Series> all = json ? JsonLines(lines).read() : CsvRows(lines).read();
  if (all.empty()) throw Error(fmt::format("{}: no series below the names of the columns", what));
  return all;
}

}  // namespace gpubench
