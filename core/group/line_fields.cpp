#include "core/group/line_fields.h"

#include <charconv>
#include <fmt/format.h>
#include <iterator>

#include "core/base/error.h"

namespace gpubench {
namespace {

/// Ends every field, also the last: an empty line has no field, and one that is only this has an empty text.
constexpr char field_end = '\t';
/// Precedes a letter that represents a character which a field cannot hold.
constexpr char escape = '\\';
constexpr std::size_t shown_bytes = 80;

char letter_for(char special) {
  return special == field_end ? 't' : special == '\n' ? 'n' : escape;
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  return failed == std::errc() && stop == end;
}

}  // namespace

void append_field(std::string& line, std::string_view text) {
  for (const char c : text) {
    const bool special = c == field_end || c == '\n' || c == escape;
    if (special) line += escape;
    line += special ? letter_for(c) : c;
  }
  line += field_end;
}

void append_field(std::string& line, std::int64_t number) {
  fmt::format_to(std::back_inserter(line), "{}{}", number, field_end);
}

void append_field(std::string& line, double number) {
  fmt::format_to(std::back_inserter(line), "{}{}", number, field_end);  // the shortest text that reads back as it
}

std::string_view LineFields::next(std::string_view what) {
  const std::size_t end = line_.find(field_end, at_);
  if (end == std::string::npos) refuse(what);
  const std::string_view field = std::string_view(line_).substr(at_, end - at_);
  at_ = end + 1;
  return field;
}

void LineFields::take(std::string& text) {
  const std::string_view field = next("a text");
  text.clear();
  text.reserve(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != escape) {
      text += field[i];
      continue;
    }
    const char letter = ++i < field.size() ? field[i] : '\0';
    if (letter != 't' && letter != 'n' && letter != escape) refuse("a text");
    text += letter == 't' ? field_end : letter == 'n' ? '\n' : escape;
  }
}

void LineFields::take(double& number) {
  if (!parse_number(next("a number"), number)) refuse("a number");
}

void LineFields::take(std::int64_t& number) {
  if (!parse_number(next("an integer"), number)) refuse("an integer");
}

void LineFields::take(int& number) {
  if (!parse_number(next("an integer"), number)) refuse("an integer");
}

void LineFields::take(bool& flag) {
  int number = 0;
  take(number);
  if (number != 0 && number != 1) refuse("0 or 1");
  flag = number == 1;
}

void LineFields::refuse(std::string_view what) const {
  throw Error(fmt::format("a process sent '{}', which is not a message of this gpubench: {} expected before byte {}",
                          line_.substr(0, shown_bytes), what, at_));
}

}  // namespace gpubench
