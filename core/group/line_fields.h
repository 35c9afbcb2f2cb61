// Serializes fields into one line of text, the form of all messages between the processes of a run. Texts may hold any
// bytes, and numbers are transmitted exactly, including NaN and infinities; a line holds no line break.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

void append_field(std::string& line, std::string_view text);
void append_field(std::string& line, std::int64_t number);
void append_field(std::string& line, double number);
template <std::integral Number>
void append_field(std::string& line, Number number) {
  append_field(line, static_cast<std::int64_t>(number));
}
/// The number of values, then each value.
template <class Value>
void append_field(std::string& line, const std::vector<Value>& values) {
  append_field(line, values.size());
  for (const Value& value : values) append_field(line, value);
}

/// Serializes the fields in this order, for LineFields.
template <class... Fields>
std::string to_line(const Fields&... fields) {
  std::string line;
  (append_field(line, fields), ...);
  return line;
}

/// Reads the fields of a line in order. Every call throws Error, quoting the beginning of the line, if the line has no
/// field of the requested type: it is not a message of this program.
class LineFields {
 public:
  explicit LineFields(std::string line) : line_(std::move(line)) {}

  /// Reads fields in the order in which to_line() received them. Calls may be split: `read(kind)`, then `read(first,
  /// second)` equals `read(kind, first, second)`.
  template <class... Fields>
  void read(Fields&... fields) {
    (take(fields), ...);
  }

 private:
  void take(std::string& text);
  void take(double& number);
  void take(std::int64_t& number);
  void take(int& number);
  void take(bool& flag);
  template <class Value>
  void take(std::vector<Value>& values) {
    std::int64_t count = 0;
    take(count);
    values.clear();
    while (std::ssize(values) < count) {
      Value value{};
      take(value);
      values.push_back(std::move(value));
    }
  }
  std::string_view next(std::string_view what);
  [[noreturn]] void refuse(std::string_view what) const;

  std::string line_;
  std::size_t at_ = 0;
};

}  // namespace gpubench
