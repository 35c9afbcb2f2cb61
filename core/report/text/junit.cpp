#include "core/report/text/junit.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/report/text/text.h"

namespace gpubench {
namespace {

/// XML has neither control characters nor U+FFFE and U+FFFF.
std::string xml_text(std::string_view text) {
  std::string escaped = escape_html(one_line(text));
  for (const std::string_view character : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (std::size_t at = 0; (at = escaped.find(character, at)) != std::string::npos;)
      escaped.replace(at, character.size(), "?");
  return escaped;
}

std::string_view element_of(TestOutcome outcome) {
  switch (outcome) {
    case TestOutcome::passed:
      return "";
    case TestOutcome::failed:
      return "failure";
    case TestOutcome::error:
      return "error";
    case TestOutcome::skipped:
      return "skipped";
  }
  return "";
}

std::string xml_case(const TestCase& one) {
  const std::string begin =
      fmt::format("  <testcase classname=\"{}\" name=\"{}\"", xml_text(one.classname), xml_text(one.name));
  const std::string_view element = element_of(one.outcome);
  if (element.empty()) return begin + "/>\n";
  return begin + fmt::format(">\n    <{} message=\"{}\"/>\n  </testcase>\n", element, xml_text(one.message));
}

}  // namespace

std::string junit_suite(std::string_view name, std::string_view timestamp, std::span<const TestCase> cases) {
  std::string text;
  for (const TestCase& one : cases) text += xml_case(one);
  const auto count = [&](TestOutcome outcome) { return std::ranges::count(cases, outcome, &TestCase::outcome); };
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\"{}>\n{}</testsuite>\n",
      xml_text(name), cases.size(), count(TestOutcome::failed), count(TestOutcome::error), count(TestOutcome::skipped),
      timestamp.empty() ? "" : fmt::format(" timestamp=\"{}\"", xml_text(timestamp)), text);
}

}  // namespace gpubench
