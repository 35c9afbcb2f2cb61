#include "core/data/function/element_error.h"

#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <typeinfo>

#include "core/base/error.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

constexpr std::size_t longest_path = 4096;

bool names_a_file(std::string_view text) {
  if (text.empty() || text.size() > longest_path || text.find('\0') != std::string_view::npos) return false;
  std::error_code ignored;
  return std::filesystem::is_regular_file(text, ignored);
}

/// Nothing where no input is a file's path.
std::string_view path_among(std::span<const TensorView> inputs) {
  for (const TensorView& input : inputs) {
    if (input.type->dtype != Dtype::u8 || input.type->rank() != 1) continue;
    const std::string_view text(reinterpret_cast<const char*>(input.data), input.type->bytes());
    if (names_a_file(text)) return text;
  }
  return {};
}

}  // namespace

void rethrow_with_place(std::int64_t index, std::span<const TensorView> inputs) {
  try {
    throw;
  } catch (const Error& error) {
    if (typeid(error) != typeid(Error)) throw;
    const std::string text = error.what();
    const std::string path = shown_text(path_among(inputs), longest_path);
    const bool names_it = path.empty() || text.find(path) != std::string::npos;
    throw Error(fmt::format("{} (element {} of the epoch{})", text, index + 1, names_it ? "" : ", '" + path + "'"));
  }
}

}  // namespace gpubench
