// The pages for people: README.md, CHANGELOG.md and docs/. What their blocks do is tested by documents_test.sh.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace gpubench::checks {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Le;

const fs::path source_root = GPUBENCH_SOURCE_DIR;

std::vector<std::string> lines_of(const fs::path& page) {
  std::ifstream text(page);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found = {source_root / "README.md", source_root / "CHANGELOG.md"};
  for (const auto& entry : fs::recursive_directory_iterator(source_root / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  return found;
}

/// The files that a page links to or shows, outside of its blocks; addresses on the web are left out.
std::vector<fs::path> links_of(const fs::path& page) {
  static const std::regex link(R"(\]\(([^)#]+)(#[^)]*)?\))");
  std::vector<fs::path> links;
  bool in_block = false;
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("```")) in_block = !in_block;
    if (in_block) continue;
    for (auto match = std::sregex_iterator(line.begin(), line.end(), link); match != std::sregex_iterator(); ++match) {
      const std::string target = (*match)[1];
      if (!target.starts_with("http")) links.push_back((page.parent_path() / target).lexically_normal());
    }
  }
  return links;
}

TEST(Documents, LinksLeadToFiles) {
  for (const fs::path& page : pages()) {
    for (const fs::path& link : links_of(page)) EXPECT_TRUE(fs::exists(link)) << page << " links to " << link;
  }
}

TEST(Documents, EveryPageIsReachedFromTheReadme) {
  std::set<fs::path> reached;
  std::vector<fs::path> open = {source_root / "README.md"};
  while (!open.empty()) {
    const fs::path page = open.back();
    open.pop_back();
    if (!reached.insert(page).second || page.extension() != ".md") continue;
    std::ranges::copy(links_of(page), std::back_inserter(open));
  }
  for (const fs::path& page : pages()) EXPECT_THAT(reached, Contains(page));
}

TEST(Documents, TheReadmeIsShort) {
  EXPECT_THAT(lines_of(source_root / "README.md").size(), Le(150U));
}

TEST(Documents, TheReadmeNamesEveryExperiment) {
  const std::vector<fs::path> links = links_of(source_root / "README.md");
  for (const auto& entry : fs::directory_iterator(source_root / "experiments")) {
    if (entry.path().extension() == ".lua") {
      EXPECT_THAT(links, Contains(entry.path()));
    }
  }
}

TEST(Documents, BlocksAreRunOrSayWhyNot) {
  constexpr std::array<std::string_view, 4> languages = {"```lua", "```bash", "```text", "```"};
  static const std::regex not_run("<!-- not run: .{8,} -->");
  for (const fs::path& page : pages()) {
    const std::vector<std::string> lines = lines_of(page);
    bool in_block = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].starts_with("<!-- not run")) {
        EXPECT_TRUE(std::regex_match(lines[i], not_run)) << page << ":" << i + 1 << ": " << lines[i];
        EXPECT_TRUE(i + 1 < lines.size() && lines[i + 1].starts_with("```")) << page << ":" << i + 1;
      }
      if (!lines[i].starts_with("```")) continue;
      EXPECT_THAT(languages, Contains(lines[i])) << page << ":" << i + 1;
      EXPECT_TRUE(in_block || lines[i] != "```") << page << ":" << i + 1 << ": a block has to name its language";
      in_block = !in_block;
    }
    EXPECT_FALSE(in_block) << page << " ends in a block";
  }
}

TEST(Documents, TheChangesBeginWithThisVersion) {
  const std::vector<std::string> changes = lines_of(source_root / "CHANGELOG.md");
  const auto release = std::ranges::find_if(
      changes, [](const std::string& line) { return line.starts_with("## ") && line != "## Unreleased"; });
  ASSERT_NE(release, changes.end());
  EXPECT_TRUE(std::regex_match(*release, std::regex("## " GPUBENCH_VERSION ", 20[0-9]{2}-[0-9]{2}-[0-9]{2}")))
      << *release;
}

TEST(Documents, TheCitationIsOfThisVersion) {
  const std::vector<std::string> citation = lines_of(source_root / "CITATION.cff");
  EXPECT_THAT(citation, Contains("version: " GPUBENCH_VERSION));
  EXPECT_THAT(citation, Contains("license: Apache-2.0"));
}

TEST(Documents, TheLicenceIsNamed) {
  const std::vector<std::string> licence = lines_of(source_root / "LICENSE");
  EXPECT_THAT(licence, Contains("SPDX-License-Identifier: Apache-2.0"));
}

}  // namespace
}  // namespace gpubench::checks
