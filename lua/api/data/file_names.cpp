#include "lua/api/data/file_names.h"

#include <fmt/format.h>

namespace gpubench::lua {

std::vector<std::string> listed(lua_State* L, const FileNames& names) {
  if (const auto* one = std::get_if<std::string>(&names)) return {*one};
  if (const auto* all = std::get_if<std::vector<std::string>>(&names)) return *all;
  const HostTensor bytes = download(L, std::get<Tensor>(names));
  if (bytes.dtype() != Dtype::u8 || bytes.shape().size() != 1) {
    throw ArgumentError(fmt::format("a path is a string or its bytes, uint8[n] as list_files gives them; this is {}",
                                    to_string(bytes.type())));
  }
  const auto text = bytes.values<std::uint8_t>();
  return {std::string(text.begin(), text.end())};
}

}  // namespace gpubench::lua
