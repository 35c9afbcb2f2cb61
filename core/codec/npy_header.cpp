#include "core/codec/npy_header.h"

#include <charconv>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : text_(text), rest_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        header.descr = string();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = tuple();
        has_shape = true;
      } else {
        fail(fmt::format("key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail("text after the dictionary");
    if (!has_descr || !has_order || !has_shape) fail("a missing key; descr, fortran_order and shape are needed");
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view found) const {
    throw Error(fmt::format("{}: the npy header is damaged: {} at character {}", name_, found,
                            text_.size() - rest_.size() + 1));
  }

  void skip_space() {
    const std::size_t start = rest_.find_first_not_of(" \n\t");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }

  bool accept(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("no '{}'", c));
  }

  std::string string() {
    skip_space();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) fail("no string (structured types are not supported)");
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) fail("a string without end");
    std::string value(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    fail("neither True nor False");
  }

  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < 0) fail("no extent");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    accept('L');  // Python 2 wrote long integers so
    return value;
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::string_view text_;
  std::string_view rest_;
  std::string_view name_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, std::string_view name) {
  return Parser(text, name).parse();
}

}  // namespace gpubench
