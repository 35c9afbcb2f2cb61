// The words and signs of a text of PTX, one after the other, without comments.
#pragma once
#include <cstddef>
#include <string_view>

namespace gpubench::ptx {

class Tokens {
 public:
  explicit Tokens(std::string_view text, std::size_t at = 0) : text_(text), at_(at) { find_next(); }

  /// The next one; empty at the end. Words have letters, digits and any of `_$%.`, and `::` within.
  std::string_view peek() const { return text_.substr(at_, length_); }
  std::string_view take();
  /// Takes the next one if it is this.
  bool take_if(std::string_view token);
  /// Takes the next one. Throws Error if it is another.
  void expect(std::string_view token);
  /// Takes all tokens up to this one, and this one.
  void skip_behind(std::string_view token);
  /// Takes all of a body whose opening brace was taken, and the closing brace.
  void skip_body();

  /// Where the next token begins.
  std::size_t at() const { return at_; }
  std::string_view text_since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }

 private:
  void find_next();
  void skip_blanks();

  std::string_view text_;
  std::size_t at_, length_ = 0;
};

}  // namespace gpubench::ptx
