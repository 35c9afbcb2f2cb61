#include "core/base/host_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

constexpr const char* host_variable = "GPUBENCH_HOST";
constexpr std::size_t longest = 64;

}  // namespace

std::string own_host_name() {
  if (const char* const given = std::getenv(host_variable); given != nullptr && *given != '\0') return given;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

void set_host_name(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  if (name.empty() || name.size() > longest || name[0] == '.' || name[0] == '-' || !std::ranges::all_of(name, fits))
    throw Error(
        fmt::format("host: '{}' cannot name a machine: letters, digits, '_', '-' and '.', not '.' or '-' first, "
                    "at most {}",
                    shown_text(name, longest), longest));
  ::setenv(host_variable, name.c_str(), 1);
}

}  // namespace gpubench
