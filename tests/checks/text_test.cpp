#include "tests/checks/text.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <sstream>

namespace gpubench::checks {
namespace {

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
