#include "tests/support/ptx/declaration.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"

namespace gpubench::ptx {

std::size_t bytes_of_type(std::string_view type) {
  constexpr std::string_view kinds = ".b.u.s.f";
  if (type == ".pred") return 1;
  if (type == ".bf16") return 2;
  if (type.size() < 3 || kinds.find(type.substr(0, 2)) == std::string_view::npos) return 0;
  std::size_t bits = 0;
  const auto [end, failed] = std::from_chars(type.data() + 2, type.data() + type.size(), bits);
  const bool is_number = failed == std::errc{} && end == type.data() + type.size();
  return is_number && (bits == 8 || bits == 16 || bits == 32 || bits == 64) ? bits / 8 : 0;
}

std::size_t take_number(Tokens& tokens) {
  const std::string text(tokens.take());
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size()) throw Error("'" + text + "' is no number");
  return number;
}

Declaration take_declaration(Tokens& tokens) {
  Declaration declared;
  std::size_t each = 0;
  while (tokens.peek().starts_with('.')) {
    const std::string_view word = tokens.take();
    if (word == ".align") {
      declared.align = take_number(tokens);
    } else if (word == ".ptr") {  // what the parameter points to
      tokens.take_if(".global");
      if (tokens.take_if(".align")) tokens.take();
    } else if (each = bytes_of_type(word); each == 0) {
      throw Error("a variable of the type " + std::string(word));
    }
  }
  declared.name = tokens.take();
  declared.align = std::max(declared.align, each);
  declared.bytes = each;
  if (tokens.take_if("[")) {
    // Without a number: as much as the launch gives.
    declared.bytes = tokens.peek() == "]" ? 0 : each * take_number(tokens);
    tokens.expect("]");
  }
  return declared;
}

std::size_t place_behind(std::size_t& bytes, const Declaration& declared) {
  const std::size_t place = (bytes + declared.align - 1) / declared.align * declared.align;
  bytes = place + declared.bytes;
  return place;
}

}  // namespace gpubench::ptx
