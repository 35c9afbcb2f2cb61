// A place in a JSON text of any size, of which a piece is in memory: each step says whether it found what it looked
// for, or the piece ended. For events of traces, which are too many for a tree of values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/base/input_limits.h"

namespace gpubench {

constexpr bool is_json_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

class JsonCursor {
 public:
  enum class State : std::uint8_t { ok, ended, bad };

  explicit JsonCursor(std::string_view text) : at_(text.data()), begin_(at_), end_(at_ + text.size()) {}
  State state() const { return state_; }
  const char* fault() const { return fault_; }
  std::size_t passed() const { return static_cast<std::size_t>(at_ - begin_); }
  explicit operator bool() const { return state_ == State::ok; }

  /// The next character that is no blank; 0 at the end.
  char peek() {
    while (at_ < end_ && is_json_blank(*at_)) ++at_;
    if (at_ < end_) return *at_;
    state_ = State::ended;
    return 0;
  }
  bool take(char expected, const char* fault) {
    if (peek() != expected) return fail(fault);
    ++at_;
    return true;
  }
  /// The text of a string. It ends at a quote that is not escaped and before what may follow a string: an unescaped
  /// quote within a name rarely is.
  std::string_view string() {
    if (!take('"', "a text is expected")) return {};
    const char* const start = at_;
    for (const char* quote = at_;; ++quote) {
      quote = static_cast<const char*>(std::memchr(quote, '"', static_cast<std::size_t>(end_ - quote)));
      if (quote == nullptr) {
        state_ = State::ended;
        return {};
      }
      const char* slash = quote;
      while (slash > start && slash[-1] == '\\') --slash;
      if ((quote - slash) % 2 != 0) continue;
      const char* after = quote + 1;
      while (after < end_ && is_json_blank(*after)) ++after;
      if (after == end_) {
        state_ = State::ended;
        return {};
      }
      if (*after != ',' && *after != '}' && *after != ']' && *after != ':') continue;
      at_ = quote + 1;
      return {start, static_cast<std::size_t>(quote - start)};
    }
  }
  /// A number, a literal or the text of a string.
  std::string_view scalar() {
    if (peek() == '"') return string();
    const char* const start = at_;
    while (at_ < end_ && *at_ != ',' && *at_ != '}' && *at_ != ']' && !is_json_blank(*at_)) {
      if (*at_ == '"' || *at_ == '{' || *at_ == '[' || *at_ == ':') {
        fail("a number is expected");
        return {};
      }
      ++at_;
    }
    if (at_ == end_) state_ = State::ended;
    if (at_ == start && state_ == State::ok) fail("a value is expected");
    return {start, static_cast<std::size_t>(at_ - start)};
  }
  /// Passes a value of any kind.
  void skip() {
    const char first = peek();
    if (first != '{' && first != '[') {
      scalar();
      return;
    }
    int depth = 0;
    while (state_ == State::ok) {
      const char c = peek();
      if (c == '"') {
        string();
        continue;
      }
      if (state_ != State::ok) return;
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if (depth > deepest_json) fail("it is nested too deeply");
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }
  bool fail(const char* fault) {
    if (state_ != State::ok) return false;
    state_ = State::bad;
    fault_ = fault;
    return false;
  }
  /// Passes the fields of an object, calling `field(key)`, which passes the value.
  template <class Field>
  void object(const Field& field) {
    if (!take('{', "an object is expected")) return;
    if (peek() == '}') {
      ++at_;
      return;
    }
    while (state_ == State::ok) {
      const std::string_view key = string();
      if (!take(':', "a colon is expected behind a name")) return;
      field(key);
      const char next = peek();
      if (state_ != State::ok) return;
      ++at_;
      if (next == '}') return;
      if (next != ',') fail("a comma is expected between fields");
    }
  }

 private:
  const char *at_, *begin_, *end_;
  State state_ = State::ok;
  const char* fault_ = "";
};

}  // namespace gpubench
