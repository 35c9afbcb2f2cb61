#include "core/telemetry/proc/proc_file.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace gpubench {
namespace {
constexpr std::string_view blanks = " \t\r";
}

std::string read_small_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // As the process of a file of /proc may end before it is read, reading fails too.
  return file && text << file.rdbuf() ? std::move(text).str() : std::string();
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
