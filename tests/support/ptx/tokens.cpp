#include "tests/support/ptx/tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "core/base/error.h"

namespace gpubench::ptx {
namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

}  // namespace

void Tokens::skip_blanks() {
  while (at_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else {
      return;
    }
  }
}

void Tokens::find_next() {
  skip_blanks();
  std::size_t end = at_;
  if (end < text_.size() && text_[end] == '"') {
    const std::size_t closing = text_.find('"', end + 1);
    end = closing == std::string_view::npos ? text_.size() : closing + 1;
  } else {
    while (end < text_.size()) {
      const bool is_within_word = end > at_ && text_.substr(end, 2) == "::";
      if (!is_of_word(text_[end]) && !is_within_word) break;
      end += is_within_word ? 2 : 1;
    }
    if (end == at_ && end < text_.size()) ++end;  // a sign
  }
  length_ = end - at_;
}

std::string_view Tokens::take() {
  const std::string_view token = peek();
  at_ += length_;
  find_next();
  return token;
}

bool Tokens::take_if(std::string_view token) {
  if (peek() != token) return false;
  take();
  return true;
}

void Tokens::expect(std::string_view token) {
  if (take_if(token)) return;
  throw Error("'" + std::string(peek()) + "' where '" + std::string(token) + "' was expected");
}

void Tokens::skip_behind(std::string_view token) {
  while (!peek().empty() && peek() != token) take();
  expect(token);
}

void Tokens::skip_body() {
  for (int depth = 1; depth > 0;) {
    const std::string_view token = take();
    if (token.empty()) throw Error("a body without its closing brace");
    if (token == "{") ++depth;
    if (token == "}") --depth;
  }
}

}  // namespace gpubench::ptx
