// Finds types of two files that have one name in one namespace. The compiler sees one file at a time, and the linker
// keeps one destructor for both.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/files.h"

namespace gpubench::checks {
namespace {

/// The types that a source defines at namespace scope, but for anonymous namespaces: "gpubench::cpu::Rows".
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

/// Below core and lua of a repository, as "gpubench::Rows: core/a.h and core/b.h".
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

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TypeNames, AreThoseOfNamespacesThatOtherFilesSee) {
  std::istringstream source(
      "namespace gpubench {\n"
      "struct Declared;\n"
      "struct Launch {\n"
      "  struct Inner {\n"
      "  };\n"
      "};\n"
      "class Device final : public Base {\n"
      "struct Launch::State {\n"
      "struct Special<int> {\n"
      "namespace {\n"
      "struct Own {\n"
      "}  // namespace\n"
      "namespace cpu {\n"
      "enum class Kind { a };\n"
      "enum class Wide {\n"
      "}  // namespace cpu\n"
      "}  // namespace gpubench\n");
  EXPECT_THAT(types_of(source), ElementsAre("gpubench::Launch", "gpubench::Device", "gpubench::cpu::Wide"));
}

using TypeNamesOfFiles = TemporaryFolder;

TEST_F(TypeNamesOfFiles, OfTwoFilesAreFound) {
  const std::filesystem::path root = file("");
  std::filesystem::create_directories(root / "core/a");
  std::filesystem::create_directories(root / "lua");
  for (const char* name : {"core/a/one.h", "lua/other.h"}) {
    std::ofstream(root / name) << "namespace gpubench {\nstruct Launch {\n};\n}  // namespace gpubench\n";
  }
  EXPECT_THAT(types_of_two_files(root), ElementsAre("gpubench::Launch: core/a/one.h and lua/other.h"));
}

TEST(TypeNames, OfTheSourcesAreOfOneFileEach) {
  EXPECT_THAT(types_of_two_files(GPUBENCH_SOURCE_DIR), IsEmpty());
}

}  // namespace

}  // namespace gpubench::checks
