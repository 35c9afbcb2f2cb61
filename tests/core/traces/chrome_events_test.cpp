#include "core/traces/chrome_events.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace gpubench {
namespace {

std::unique_ptr<ByteSource> source_of(const std::string& text) {
  return std::make_unique<ByteSpanSource>("trace.json", std::as_bytes(std::span(text)));
}

struct ReadEvents {
  std::vector<std::string> names;
  ReadReport report;
};

ReadEvents read(const std::string& text) {
  ReadEvents result;
  ChromeEvents events(source_of(text), result.report);
  while (const ChromeEvent* const event = events.next()) result.names.emplace_back(event->name);
  return result;
}

TEST(Nanoseconds, AreExactForTimesOfAnyLength) {
  EXPECT_EQ(nanoseconds_of("1712195495519703.772"), 1712195495519703772);
  EXPECT_EQ(nanoseconds_of("12"), 12000);
  EXPECT_EQ(nanoseconds_of("-3.5"), -3500);
  EXPECT_EQ(nanoseconds_of("1e-06"), 0);
  EXPECT_EQ(nanoseconds_of("9.9999999999999995e-04"), 1);
  EXPECT_EQ(nanoseconds_of("2.5E+2"), 250000);
  EXPECT_EQ(nanoseconds_of("0.12345678901234567890123456789"), 123);
  for (const char* none : {"", "-", "nan", "1e", "1e99", "12a", "99999999999999999999"})
    EXPECT_EQ(nanoseconds_of(none), std::nullopt) << none;
}

TEST(ChromeEvents, FieldsAroundTheEventsMayComeInAnyOrder) {
  const std::string text =
      R"({"a": 1, "traceEvents": [{"name": "k", "ph": "X", "ts": 1, "dur": 2, "args": {"b": [1, {"c": 2}],
    "stream": 7}}, {}], "deviceProperties": [{"id": 0}]})";
  ReadReport report;
  ChromeEvents events(source_of(text), report);
  const ChromeEvent* const event = events.next();
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->begin_ns, 1000);
  EXPECT_EQ(event->length_ns, 2000);
  EXPECT_EQ(event->arg("stream"), "7");
  EXPECT_EQ(event->arg("b"), "");
  EXPECT_EQ(events.next(), nullptr);
  EXPECT_EQ(events.header().items("deviceProperties").size(), 1U);
  EXPECT_EQ(report.events, 1U);
  EXPECT_EQ(report.damaged, 0U);
  EXPECT_EQ(report.cut_at, 0U);
}

TEST(ChromeEvents, AnUnescapedQuoteCostsNothing) {
  EXPECT_EQ(read(R"([{"ph": "X", "name": "op "x" end", "ts": 1}, {"ph": "X", "name": "b", "ts": 2}])").names,
            (std::vector<std::string>{"op \"x\" end", "b"}));
}

TEST(ChromeEvents, ADamagedEventCostsItselfAlone) {
  const std::string text = R"([{"ph": "X", "name": "a"}, {"ph": "X", "name" "b"}, {"ph": "X", "name": "c"}])";
  const ReadEvents result = read(text);
  EXPECT_EQ(result.names, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(result.report.damaged, 1U);
  EXPECT_EQ(result.report.first_damage, text.find(R"({"ph": "X", "name" "b")"));
}

TEST(ChromeEvents, ACutFileKeepsWhatIsWhole) {
  const std::string text = R"({"traceEvents": [{"ph": "X", "name": "a"}, {"ph": "X", "name": "b)";
  const ReadEvents result = read(text);
  EXPECT_EQ(result.names, (std::vector<std::string>{"a"}));
  EXPECT_EQ(result.report.cut_at, text.size());
}

TEST(ChromeEvents, AnEventOfMegabytesIsReadInPieces) {
  const std::string large(3 << 20, 'x');
  EXPECT_EQ(
      read(R"([{"ph": "X", "name": "a", "args": {"shapes": ")" + large + R"("}}, {"ph": "X", "name": "b"}])").names,
      (std::vector<std::string>{"a", "b"}));
}

TEST(ChromeEvents, TextThatIsNoTraceEnds) {
  for (const char* text :
       {"", " ", "hello", "{", "{}", "[", "[]", "[[[[", R"({"a")", R"({"traceEvents": 3})", "[1, 2]"})
    EXPECT_TRUE(read(text).names.empty()) << text;
}

TEST(ChromeEvents, TextOfBracesEndsSoon) {
  std::string text = "[";
  for (int i = 0; i < 300'000; ++i) text += R"({"name)";
  EXPECT_TRUE(read(text).names.empty());
}

}  // namespace
}  // namespace gpubench
