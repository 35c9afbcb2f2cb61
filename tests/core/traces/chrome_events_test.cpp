#include "core/traces/chrome_events.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/codec/checksum.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

std::unique_ptr<ByteSource> source_of(const std::string& text) {
  return std::make_unique<ByteSpanSource>("trace.json", std::as_bytes(std::span(text)));
}

/// In deflate's form for bytes as they are.
std::string gzip_of(const std::string& text) {
  std::string packed("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10);
  constexpr std::size_t block = 65535;
  for (std::size_t at = 0; at < text.size(); at += block) {
    const std::string part = text.substr(at, block);
    const auto size = static_cast<std::uint16_t>(part.size());
    packed +=
        (at + block >= text.size() ? '\1' : '\0') + little(size) + little(static_cast<std::uint16_t>(~size)) + part;
  }
  return packed + little(crc32_of(std::as_bytes(std::span(text)))) + little(static_cast<std::uint32_t>(text.size()));
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
  EXPECT_EQ(nanoseconds_of("9e-06"), 0);
  EXPECT_EQ(nanoseconds_of("9.9999999999999995e-07"), 0);
  EXPECT_EQ(nanoseconds_of("0.0005"), 1);
  EXPECT_EQ(nanoseconds_of("1e-2147483648"), 0);
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

TEST(ChromeEvents, FieldsWithoutEndAreGivenUpSoon) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"a" + std::to_string(i) + "\":1,";
  text += R"("traceEvents":[{"ph":"X","name":"a"}]})";
  ReadReport report;
  ChromeEvents events(source_of(text), report);
  ASSERT_NE(events.next(), nullptr);
  EXPECT_EQ(events.header().fields()->size(), 1000U);
}

TEST(ChromeEvents, StringsWithoutEndAreGivenUpSoon) {
  // Each event alone looks at 64 MiB before it is given up.
  std::string text = "[";
  while (text.size() < (std::size_t{66} << 20)) text += R"({"name {)";
  const ReadEvents result = read(text);
  EXPECT_TRUE(result.names.empty());
  EXPECT_LT(result.report.damaged, 10U);
  EXPECT_GT(result.report.cut_at, 0U);
}

TEST(ChromeEvents, AFieldThatIsTooLargeIsNamed) {
  const ReadEvents result = read(R"({"a": ")" + std::string(std::size_t{100} << 20, 'x') + R"(", "traceEvents": []})");
  EXPECT_EQ(result.report.damage, "a field of the file is larger than 64 MiB");
}

TEST(ChromeEvents, ManyFormsOfDamageCostSingleEvents) {
  const std::string good = R"({"ph": "X", "name": "b", "ts": 1})";
  for (const std::string& bad :
       {R"({"ph": "X", "args": )" + std::string(100, '[') + std::string(100, ']') + "}", std::string("{\"ph\"}"),
        std::string("{\"ph\": {}: 1}"), std::string(R"({"ph": "X", "name": "a\", "ts": 1})"),
        std::string("{\"ph\": \"X\" \"name\": 3}"), std::string("{1: 2}"), std::string("nonsense"),
        std::string("{\"ph\": \"X\", \"ts\": 1:2}"), std::string("\xEF\xBF\xBD")}) {
    const ReadEvents result = read("[" + bad + ", " + good + "]");
    ASSERT_FALSE(result.names.empty()) << bad;
    EXPECT_EQ(result.names.back(), "b") << bad;
    EXPECT_GT(result.report.damaged, 0U) << bad;
    EXPECT_EQ(result.report.first_damage, 1U) << bad;
  }
}

TEST(ChromeEvents, ACutGzipFileKeepsWhatIsWhole) {
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i)
    text += R"({"ph": "X", "name": "a", "ts": )" + std::to_string(i * 7919 % 10007) + "},";
  text += "{}]";
  std::string packed = gzip_of(text);
  for (const std::size_t left : {packed.size() / 2, packed.size() - 40, std::size_t{30}}) {
    ReadReport report;
    const std::string part = packed.substr(0, left);
    ChromeEvents events(std::make_unique<InflateSource>(source_of(part)), report);
    std::size_t count = 0;
    while (events.next() != nullptr) ++count;
    EXPECT_GE(count, left > 30 ? 1000U : 0U);
    EXPECT_EQ(report.damage, "trace.json: the compressed data is cut short") << left;
  }
}

}  // namespace
}  // namespace gpubench
