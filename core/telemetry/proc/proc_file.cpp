#include "core/telemetry/proc/proc_file.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace gpubench {
namespace {
constexpr std::string_view blanks = " \t\r";
}

// By system calls: a stream takes several times as long, and a tree of processes has hundreds of these files.
std::string read_small_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    // As the process of a file of /proc may end before it is read, reading fails too.
    if (count < 0) text.clear();
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(file);
  return text;
}

std::string_view field_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (!line.starts_with(key)) continue;
    std::string_view rest = line.substr(key.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    if (!rest.starts_with(':')) continue;
    rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    return rest.substr(0, rest.find_last_not_of(blanks) + 1);
  }
  return {};
}

std::optional<double> leading_number(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str()) return std::nullopt;
  return value;
}

std::optional<double> bytes_after(std::string_view text, std::string_view key) {
  const auto kilobytes = leading_number(field_after(text, key));
  if (!kilobytes) return std::nullopt;
  return *kilobytes * 1024;
}

}  // namespace gpubench
