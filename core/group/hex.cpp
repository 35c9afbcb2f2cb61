#include "core/group/hex.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench::nccl {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

int value_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::string as_hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value / 16];
    text += digits[value % 16];
  }
  return text;
}

std::string from_hex(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 2);
  bool right = text.size() % 2 == 0;
  for (std::size_t i = 0; right && i < text.size(); i += 2) {
    const int high = value_of(text[i]), low = value_of(text[i + 1]);
    right = high >= 0 && low >= 0;
    bytes += static_cast<char>(high * 16 + low);
  }
  if (!right) throw Error(fmt::format("nccl: a process said '{}', which is no text of gpubench's", text.substr(0, 80)));
  return bytes;
}

}  // namespace gpubench::nccl
