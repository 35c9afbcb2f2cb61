// Reads every #include of the sources against the table of layering.txt. It reads text and not the build, so that an
// include that happens to compile, through a folder that another target linked, is found all the same.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <istream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench::checks {
namespace {

struct Include {
  std::string file;  ///< path from the repository's root
  int line;
  std::string header;
  bool quoted;
};

class LayeringTable {
 public:
  /// Throws std::runtime_error with the line that it cannot read.
  explicit LayeringTable(std::istream& text);

  /// What is wrong with an include, or an empty string.
  std::string violation(const Include& include) const;
  /// The folders and files of its rows that the repository does not have.
  std::set<std::string> absent_paths(const std::filesystem::path& root) const;

 private:
  struct VendorRule {
    std::string prefix;
    std::vector<std::string> folders;
    bool sources_only;
  };

  void add_row(const std::string& kind, const std::string& subject, std::vector<std::string> folders);
  std::string row_of(std::string_view file) const;
  void collect(const std::string& folder, std::set<std::string>& reachable) const;
  std::string project_violation(const Include& include) const;
  std::string vendor_violation(const Include& include) const;

  std::map<std::string, std::vector<std::string>, std::less<>> folders_;
  std::map<std::string, std::vector<std::string>, std::less<>> files_;
  std::vector<VendorRule> vendors_;
};

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_below_any(std::string_view path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) { return is_below(path, folder); });
}

std::string folder_of(std::string_view file) {
  return std::string(file.substr(0, file.rfind('/')));
}

bool is_header(const std::filesystem::path& file) {
  return file.extension() == ".h" || file.extension() == ".cuh";
}

bool is_source(const std::filesystem::path& file) {
  return is_header(file) || file.extension() == ".cpp" || file.extension() == ".cu";
}

LayeringTable::LayeringTable(std::istream& text) {
  std::string line;
  while (std::getline(text, line)) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string kind;
    std::string subject;
    std::vector<std::string> folders;
    words >> kind >> subject;
    if (!subject.ends_with(':')) throw std::runtime_error("layering table: no colon in '" + line + "'");
    subject.pop_back();
    for (std::string folder; words >> folder;) folders.push_back(folder);
    add_row(kind, subject, std::move(folders));
  }
}

void LayeringTable::add_row(const std::string& kind, const std::string& subject, std::vector<std::string> folders) {
  if (kind == "allow") {
    folders_[subject] = std::move(folders);
  } else if (kind == "file") {
    files_[subject] = std::move(folders);
  } else if (kind == "vendor" || kind == "source") {
    vendors_.push_back({subject, std::move(folders), kind == "source"});
  } else {
    throw std::runtime_error("layering table: unknown kind of row '" + kind + "'");
  }
}

std::string LayeringTable::row_of(std::string_view file) const {
  for (std::string folder = folder_of(file);; folder = folder_of(folder)) {
    if (folders_.contains(folder)) return folder;
    if (folder.find('/') == std::string::npos) return {};
  }
}

void LayeringTable::collect(const std::string& folder, std::set<std::string>& reachable) const {
  if (!reachable.insert(folder).second) return;
  const auto row = folders_.find(folder);
  if (row == folders_.end()) return;
  for (const std::string& next : row->second) collect(next, reachable);
}

std::set<std::string> LayeringTable::absent_paths(const std::filesystem::path& root) const {
  std::set<std::string> absent;
  const auto look_for = [&](const std::string& path) {
    if (!std::filesystem::exists(root / path)) absent.insert(path);
  };
  for (const auto* rows : {&folders_, &files_}) {
    for (const auto& [path, folders] : *rows) {
      look_for(path);
      std::ranges::for_each(folders, look_for);
    }
  }
  for (const VendorRule& rule : vendors_) std::ranges::for_each(rule.folders, look_for);
  return absent;
}

std::string LayeringTable::violation(const Include& include) const {
  return include.quoted ? project_violation(include) : vendor_violation(include);
}

std::string LayeringTable::project_violation(const Include& include) const {
  if (include.header.find('/') == std::string::npos) {
    return fmt::format("\"{}\" is not rooted at the repository", include.header);
  }
  if (include.file.starts_with("tests/")) return {};
  if (const auto file = files_.find(include.file); file != files_.end() && is_below_any(include.header, file->second)) {
    return {};
  }
  const std::string from = row_of(include.file);
  const std::string to = row_of(include.header);
  if (from.empty()) return "its folder has no row in tests/checks/layering.txt";
  std::set<std::string> reachable;
  collect(from, reachable);
  if (reachable.contains(to) || (reachable.contains("core") && to.starts_with("core/"))) return {};
  return fmt::format("{} may not include {} (\"{}\")", from, to.empty() ? folder_of(include.header) : to,
                     include.header);
}

std::string LayeringTable::vendor_violation(const Include& include) const {
  for (const VendorRule& rule : vendors_) {
    if (!include.header.starts_with(rule.prefix)) continue;
    if (!is_below_any(include.file, rule.folders)) {
      return fmt::format("<{}> belongs below {} only", include.header, fmt::join(rule.folders, ", "));
    }
    if (rule.sources_only && is_header(include.file)) {
      return fmt::format("<{}> belongs into source files, not headers", include.header);
    }
  }
  return {};
}

std::vector<Include> includes_of(std::istream& source, const std::string& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*(["<])([^">]+)[">].*)");
  std::vector<Include> includes;
  std::string text;
  for (int line = 1; std::getline(source, text); ++line) {
    std::smatch match;
    if (text.find('#') == std::string::npos || !std::regex_match(text, match, pattern)) continue;
    includes.push_back({file, line, match[2], match[1] == "\""});
  }
  return includes;
}

/// Every violation below core, lua and tests of a repository, as "file:line: what is wrong".
std::vector<std::string> layering_violations(const LayeringTable& table, const std::filesystem::path& root) {
  std::vector<std::string> violations;
  for (const char* top : {"core", "lua", "tests"}) {
    if (!std::filesystem::exists(root / top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / top)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      const std::string file = std::filesystem::relative(entry.path(), root).generic_string();
      std::ifstream source(entry.path());
      for (const Include& include : includes_of(source, file)) {
        std::string wrong = table.violation(include);
        if (wrong.empty() && include.quoted && !std::filesystem::exists(root / include.header)) {
          wrong = fmt::format("there is no \"{}\"", include.header);
        }
        if (!wrong.empty()) violations.push_back(fmt::format("{}:{}: {}", file, include.line, wrong));
      }
    }
  }
  std::sort(violations.begin(), violations.end());
  return violations;
}

using ::testing::HasSubstr;
using ::testing::IsEmpty;

LayeringTable small_table() {
  std::istringstream text(
      "# comment\n"
      "allow core/base:\n"
      "allow core/tensor: core/base\n"
      "allow core/backend: core/tensor\n"
      "allow core/backend/cpu: core/backend\n"
      "allow lua/bind:\n"
      "allow lua/api: lua/bind core\n"
      "file core/backend/registry.cpp: core/backend/cpu\n"
      "vendor dnnl: core/backend/cpu\n"
      "source heavy.h: core\n");
  return LayeringTable(text);
}

std::string quoted(const std::string& file, const std::string& header) {
  return small_table().violation({file, 1, header, true});
}

std::string system(const std::string& file, const std::string& header) {
  return small_table().violation({file, 1, header, false});
}

TEST(Layering, AllowsWhatTheTableReaches) {
  EXPECT_EQ(quoted("core/tensor/a.cpp", "core/tensor/a.h"), "");
  EXPECT_EQ(quoted("core/backend/cpu/a.cpp", "core/base/a.h"), "");
  EXPECT_EQ(quoted("core/backend/cpu/deep/a.cpp", "core/tensor/a.h"), "");
  EXPECT_EQ(quoted("lua/api/a.cpp", "core/backend/cpu/a.h"), "");
  EXPECT_EQ(quoted("tests/core/base/a_test.cpp", "core/backend/a.h"), "");
}

TEST(Layering, RefusesTheOtherDirection) {
  EXPECT_EQ(quoted("core/base/a.cpp", "core/tensor/b.h"),
            "core/base may not include core/tensor (\"core/tensor/b.h\")");
  EXPECT_THAT(quoted("core/backend/a.cpp", "core/backend/cpu/b.h"), HasSubstr("may not include core/backend/cpu"));
  EXPECT_THAT(quoted("core/tensor/a.cpp", "lua/bind/b.h"), HasSubstr("may not include lua/bind"));
  EXPECT_THAT(quoted("core/tensor/a.cpp", "tests/support/b.h"), HasSubstr("may not include tests/support"));
  EXPECT_THAT(quoted("lua/bind/a.cpp", "core/base/b.h"), HasSubstr("may not include core/base"));
  EXPECT_THAT(quoted("core/unknown/a.cpp", "core/base/b.h"), HasSubstr("has no row"));
}

TEST(Layering, OneNamedFileListsTheBackends) {
  EXPECT_EQ(quoted("core/backend/registry.cpp", "core/backend/cpu/a.h"), "");
  EXPECT_THAT(quoted("core/backend/registry.cpp", "lua/bind/a.h"), HasSubstr("may not include lua/bind"));
}

TEST(Layering, IncludesAreRooted) {
  EXPECT_THAT(quoted("core/base/a.cpp", "a.h"), HasSubstr("not rooted"));
}

TEST(Layering, VendorHeadersStayBelowTheirFolder) {
  EXPECT_EQ(system("core/backend/cpu/a.h", "dnnl.hpp"), "");
  EXPECT_EQ(system("core/base/a.h", "vector"), "");
  EXPECT_EQ(system("core/base/a.cpp", "dnnl.hpp"), "<dnnl.hpp> belongs below core/backend/cpu only");
  EXPECT_EQ(system("core/base/a.cpp", "heavy.h"), "");
  EXPECT_EQ(system("core/base/a.h", "heavy.h"), "<heavy.h> belongs into source files, not headers");
}

TEST(Layering, ReadsIncludesWithTheirLines) {
  std::istringstream source(
      "#pragma once\n#include <vector>\n\n  # include \"core/base/a.h\"  // why\n// #include \"no.h\"\n");
  const std::vector<Include> includes = includes_of(source, "core/x/y.h");
  ASSERT_EQ(includes.size(), 2U);
  EXPECT_EQ(includes[0].header, "vector");
  EXPECT_FALSE(includes[0].quoted);
  EXPECT_EQ(includes[1].header, "core/base/a.h");
  EXPECT_EQ(includes[1].line, 4);
}

TEST(Layering, RefusesATableThatItCannotRead) {
  std::istringstream no_colon("allow core/base\n");
  EXPECT_THROW(LayeringTable{no_colon}, std::runtime_error);
  std::istringstream unknown("permit core/base:\n");
  EXPECT_THROW(LayeringTable{unknown}, std::runtime_error);
}

TEST(Layering, TheSourcesKeepToTheTable) {
  std::ifstream text(GPUBENCH_SOURCE_DIR "/tests/checks/layering.txt");
  const LayeringTable table(text);
  EXPECT_THAT(layering_violations(table, GPUBENCH_SOURCE_DIR), IsEmpty());
  EXPECT_THAT(table.absent_paths(GPUBENCH_SOURCE_DIR), IsEmpty()) << "rows of layering.txt name what is not there";
}

}  // namespace

}  // namespace gpubench::checks
