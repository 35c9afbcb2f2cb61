#include "lua/host/script_text.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"

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
  drop_first_line_of_a_shell(text);
  return text;
}

}  // namespace gpubench
