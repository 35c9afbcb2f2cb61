#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/diagnose/findings.h"
#include "tests/support/generated_file.h"

namespace gpubench {
namespace {

constexpr std::string_view first_heading = "\n### ";
constexpr std::string_view behind = "\n## Remedies\n";

std::string finding_section(const FindingRule& rule) {
  std::string text = fmt::format("### {}\n\n{}\n\n**Rule.** {}\n\n| limit | value | source |\n|---|---|---|\n",
                                 rule.name, rule.meaning, rule.rule);
  for (const Threshold& limit : rule.thresholds)
    text += fmt::format("| {} | {} | {} |\n", limit.name, limit.text, limit.source);
  std::string names;
  for (const Remedy remedy : rule.remedies)
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", to_string(remedy));
  if (!names.empty()) text += fmt::format("\n**Remedies.** {}.\n", names);
  return text + fmt::format("\n**Proof.** {}.\n", rule.proof.in(Words::lua));
}

std::string remedy_table() {
  std::string text = "| remedy | what to do | line | findings |\n|---|---|---|---|\n";
  for (const RemedyText& remedy : remedies()) {
    std::string names;
    for (const std::string_view name : findings_with(remedy.remedy))
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    text += fmt::format("| `{}` | {}{} | `{}` | {} |\n", remedy.name, remedy.advice,
                        remedy.changes_results ? " (changes what is computed)" : "", remedy.line(Words::lua), names);
  }
  return text;
}

/// The lines of other frameworks, which tests/peers/words executes.
std::string words_table() {
  std::string text = "| remedy | PyTorch | Keras | JAX |\n|---|---|---|---|\n";
  const auto code = [](std::string_view line) { return line.empty() ? "" : fmt::format("`{}`", line); };
  for (const RemedyText& remedy : remedies())
    text += fmt::format("| `{}` | {} | {} | {} |\n", remedy.name, code(remedy.line(Words::pytorch)),
                        code(remedy.line(Words::keras)), code(remedy.line(Words::jax)));
  return text;
}

TEST(DiagnosisPage, HasTheTablesOfTheProgram) {
  const std::string text = repository_file("docs/diagnosis.md");
  const std::size_t begin = text.find(first_heading), end = text.find(behind);
  ASSERT_TRUE(begin < end && end != std::string::npos) << "no findings and remedies";
  std::string sections;
  for (const FindingRule* const rule : finding_rules()) sections += "\n" + finding_section(*rule);
  const std::size_t table = text.find("| remedy |", end), table_end = text.find("\n\n", table) + 1;
  const std::size_t words = text.find("| remedy |", table_end), words_end = text.find("\n\n", words) + 1;
  ASSERT_TRUE(table != std::string::npos && words != std::string::npos && words_end != 0);
  const std::string right = text.substr(0, begin) + sections + text.substr(end, table - end) + remedy_table() +
                            text.substr(table_end, words - table_end) + words_table() + text.substr(words_end);
  expect_generated("docs/diagnosis.md", right);
}

}  // namespace
}  // namespace gpubench
