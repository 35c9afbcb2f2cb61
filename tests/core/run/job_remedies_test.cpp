#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <string>
#include <vector>

#include "core/base/resources.h"
#include "core/diagnose/findings.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

class JobRemedies : public TemporaryFolder {};

/// The words in quotes of the last tuple of the statement that sets CAUSES.
std::vector<std::string> causes_of(const std::string& text) {
  const std::size_t begin = text.find("(", text.find("CAUSES ="));
  std::size_t open = begin, end = begin;
  // The statement ends with the first line at whose end all brackets are closed.
  for (int depth = 0; end < text.size() && (text[end] != '\n' || depth > 0); ++end) {
    if (text[end] == '(' && depth++ == 0) open = end;
    if (text[end] == ')') --depth;
  }
  const std::string tuple = text.substr(open, end - open);
  const std::regex word("\"(\\w+)\"");
  std::vector<std::string> words;
  for (std::sregex_iterator found(tuple.begin(), tuple.end(), word), none; found != none; ++found)
    words.push_back((*found)[1]);
  return words;
}

TEST_F(JobRemedies, AreForFindingsThatThereAre) {
  std::size_t remedies = 0;
  for (const auto& entry : std::filesystem::directory_iterator(resource("agent/gpubench_agent/remedies"))) {
    const std::string text = contents(entry.path());
    if (entry.path().extension() != ".py" || text.find("CAUSES =") == std::string::npos) continue;
    ++remedies;
    const std::vector<std::string> causes = causes_of(text);
    EXPECT_FALSE(causes.empty()) << entry.path();
    for (const std::string& cause : causes)
      EXPECT_TRUE(std::ranges::any_of(finding_rules(), [&](const FindingRule* rule) { return rule->name == cause; }))
          << entry.path() << ": there is no finding " << cause;
  }
  EXPECT_GE(remedies, 20U);
}

}  // namespace
}  // namespace gpubench
