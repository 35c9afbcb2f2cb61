#include "tests/checks/type_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <map>
#include <regex>
#include <set>

namespace gpubench::checks {

std::vector<std::string> types_of(std::istream& source) {
  static const std::regex opened(R"(^namespace ([\w:]*) ?\{.*)"), closed(R"(^\}\s+// namespace.*)");
  // Neither a declaration without a body, nor a nested or specialized type.
  static const std::regex type(R"(^(struct|class|union|enum class|enum) (\w+)(?![\w:<])[^;]*$)");
  std::vector<std::string> types, spaces;
  std::smatch match;
  for (std::string line; std::getline(source, line);) {
    if (std::regex_match(line, match, opened)) {
      spaces.push_back(match[1]);
    } else if (std::regex_match(line, closed)) {
      if (!spaces.empty()) spaces.pop_back();
    } else if (std::ranges::find(spaces, "") == spaces.end() && std::regex_match(line, match, type)) {
      types.push_back(fmt::format("{}::{}", fmt::join(spaces, "::"), match[2].str()));
    }
  }
  return types;
}

std::vector<std::string> types_of_two_files(const std::filesystem::path& root) {
  std::map<std::string, std::set<std::string>> files;
  for (const char* top : {"core", "lua"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / top)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".h" && ending != ".cpp" && ending != ".cu" && ending != ".cuh") continue;
      std::ifstream source(entry.path());
      for (const std::string& type : types_of(source)) {
        files[type].insert(std::filesystem::relative(entry.path(), root).generic_string());
      }
    }
  }
  std::vector<std::string> found;
  for (const auto& [type, places] : files) {
    if (places.size() > 1) found.push_back(fmt::format("{}: {}", type, fmt::join(places, " and ")));
  }
  return found;
}

}  // namespace gpubench::checks
