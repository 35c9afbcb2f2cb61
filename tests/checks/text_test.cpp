// Reads the repository's own text files line by line against the rules of text.txt. It reads folders and not git, so
// that it also works on an exported tree.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <istream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench::checks {
namespace {

struct TextRule {
  std::string why;
  std::regex pattern;
};

constexpr std::array<std::string_view, 9> folders = {"core", "lua",   "tests",       "cmake", "tools",
                                                     ".ci",  "plots", "experiments", "docs"};
constexpr std::array<std::string_view, 10> extensions = {".h",   ".cpp", ".cu", ".cuh", ".lua",
                                                         ".txt", ".md",  ".sh", ".gp",  ".cmake"};

// Programs such as tests/run have no extension.
bool is_text(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension.empty() || std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Throws std::runtime_error with the line that is no rule.
std::vector<TextRule> read_text_rules(std::istream& text) {
  std::vector<TextRule> rules;
  std::string line;
  while (std::getline(text, line)) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t bar = line.find('|');
    if (bar == std::string::npos) throw std::runtime_error("text rules: no '|' in '" + line + "'");
    rules.push_back({trimmed(line.substr(0, bar)), std::regex(trimmed(line.substr(bar + 1)), std::regex::extended)});
  }
  return rules;
}

/// Our source, script and documentation files below a root, as paths from it, sorted.
std::vector<std::string> text_files(const std::filesystem::path& root) {
  std::vector<std::string> files;
  const auto add = [&](const std::filesystem::directory_entry& entry) {
    if (entry.is_regular_file() && is_text(entry.path())) {
      files.push_back(std::filesystem::relative(entry.path(), root).generic_string());
    }
  };
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().filename() != ".git") add(entry);  // a file in a work tree
  }
  for (const std::string_view folder : folders) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) add(entry);
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Every line of a file that breaks a rule, as "file:line: why: text".
std::vector<std::string> text_violations(const std::vector<TextRule>& rules, std::istream& text,
                                         const std::string& file) {
  std::vector<std::string> violations;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    for (const TextRule& rule : rules) {
      if (std::regex_search(line, rule.pattern)) {
        violations.push_back(fmt::format("{}:{}: {}: {}", file, number, rule.why, trimmed(line)));
      }
    }
  }
  return violations;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::filesystem::path root = GPUBENCH_SOURCE_DIR;

std::vector<TextRule> own_rules() {
  std::ifstream text(root / "tests/checks/text.txt");
  return read_text_rules(text);
}

std::vector<std::string> violations(const std::string& line) {
  std::istringstream text(line);
  return text_violations(own_rules(), text, "a.cpp");
}

TEST(Text, RulesFindWhatTheyName) {
  const std::string slash = "/";
  EXPECT_THAT(violations("open(\"" + slash + "home/me/file\")"),
              ElementsAre("a.cpp:1: path of one machine: open(\"" + slash + "home/me/file\")"));
  EXPECT_EQ(violations(std::string("// TO") + "DO later").size(), 1U);
  EXPECT_EQ(violations("line \nnext").size(), 1U);
  EXPECT_EQ(violations(std::string("<<<<<") + "<< main").size(), 1U);
}

TEST(Text, RulesLeaveTheRestAlone) {
  EXPECT_THAT(violations("// TODO(#12): named issue\nint home/* x */;\n\npath / home\n"), IsEmpty());
}

TEST(Text, RefusesARuleWithoutPattern) {
  std::istringstream text("why without pattern\n");
  EXPECT_THROW(read_text_rules(text), std::runtime_error);
}

TEST(Text, TheRepositoryKeepsTheRules) {
  const std::vector<TextRule> rules = own_rules();
  std::vector<std::string> found;
  for (const std::string& file : text_files(root)) {
    if (file == "tests/checks/text.txt") continue;
    std::ifstream text(root / file);
    for (std::string& violation : text_violations(rules, text, file)) found.push_back(std::move(violation));
  }
  EXPECT_THAT(found, IsEmpty());
}

TEST(Text, EveryHeaderIsIncludedOnce) {
  std::vector<std::string> without;
  for (const std::string& file : text_files(root)) {
    if (!file.ends_with(".h")) continue;
    std::ifstream text(root / file);
    std::stringstream content;
    content << text.rdbuf();
    if (content.str().find("#pragma once") == std::string::npos) without.push_back(file);
  }
  EXPECT_THAT(without, IsEmpty());
}

// A file that is looked at twice (300 lines) is listed; one of twice that length fails.
TEST(Text, FilesStayShort) {
  constexpr int listed = 300;
  constexpr int refused = 600;
  std::vector<std::string> too_long;
  for (const std::string& file : text_files(root)) {
    if (!file.ends_with(".h") && !file.ends_with(".cpp") && !file.ends_with(".lua")) continue;
    std::ifstream text(root / file);
    int lines = 0;
    for (std::string line; std::getline(text, line);) ++lines;
    if (lines > listed) std::cout << file << ": " << lines << " lines\n";
    if (lines > refused) too_long.push_back(file);
  }
  EXPECT_THAT(too_long, IsEmpty());
}

}  // namespace

}  // namespace gpubench::checks
