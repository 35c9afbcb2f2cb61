#include "lua/host/script_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <regex>
#include <string_view>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/shell_text.h"

namespace gpubench {
namespace {

// Also ends reading a device without an end.
constexpr std::size_t largest_script = std::size_t{64} << 20;

[[noreturn]] void no_script(const std::string& path, const std::string& reason) {
  throw Error(fmt::format("run: '{}' {}", path, reason));
}

// The newline stays, so that lines keep their numbers.
void drop_first_line_of_a_shell(std::string& text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  if (text.starts_with('#')) text.erase(0, text.find('\n'));
}

// Whether the text begins as Python programs do, where Lua would have a syntax error.
bool is_python(std::string_view text) {
  if (text.starts_with("#!") && text.substr(0, text.find('\n')).find("python") != std::string_view::npos) return true;
  static const std::regex statement(
      R"((import [A-Za-z_][\w.]*( as \w+)?(,.*)?|from [\w.]+ import .*|def \w+\(.*|class \w+(\(.*\))?:|@\w.*|""".*|'''.*))"
      R"(\s*(#.*)?)");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    constexpr std::size_t longest = 200;  // a regular expression takes stack for every letter
    const std::string_view begin = line.substr(0, longest);
    return std::regex_match(begin.begin(), begin.end(), statement);
  }
  return false;
}

}  // namespace

std::string read_script(const std::string& path) {
  if (!std::filesystem::exists(path)) throw Error(fmt::format("run: no script '{}'", path));
  if (std::filesystem::is_directory(path)) no_script(path, "is a folder; a script is expected");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) no_script(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string text;
  std::array<char, 1 << 16> buffer{};
  ssize_t count = 0;
  while (text.size() <= largest_script && (count = ::read(descriptor, buffer.data(), buffer.size())) != 0) {
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      const int error = errno;
      ::close(descriptor);
      no_script(path, fmt::format("cannot be read: {}", std::strerror(error)));
    }
  }
  ::close(descriptor);
  if (text.size() > largest_script) no_script(path, "has more than 64 MiB, which no script has");
  if (path.ends_with(".py") || is_python(text)) {
    no_script(path,
              fmt::format("is a Python program, and scripts here are Lua; gpubench watch -- python {} looks at it "
                          "as it runs, and gpubench new NAME writes a script",
                          shell_text(std::array{path})));
  }
  drop_first_line_of_a_shell(text);
  return text;
}

}  // namespace gpubench
