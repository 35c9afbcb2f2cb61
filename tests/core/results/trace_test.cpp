#include "core/results/trace.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using namespace std::chrono_literals;

class TraceTest : public TemporaryFolder {
 protected:
  void add(SpanClass span_class, const std::string& name, const std::string& lane, Clock::duration begin,
           Clock::duration end) {
    Span span;
    span.span_class = span_class;
    span.name = timeline_.name(name);
    span.lane = timeline_.name(lane);
    span.begin = Clock::time_point(begin);
    span.end = Clock::time_point(end);
    timeline_.add(span);
  }
  nlohmann::json written() const {
    write_chrome_trace(timeline_, file("trace.json"));
    return nlohmann::json::parse(contents(file("trace.json")));
  }

  Timeline timeline_{3};
};

TEST_F(TraceTest, SpansAreEventsInMicroseconds) {
  add(SpanClass::launch, "launch", "host", 1s, 1s + 2500ns);
  add(SpanClass::compute, "gemm", "gpu:0 stream 7", 1s + 3us, 1s + 13us);
  const nlohmann::json trace = written();
  const auto& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 2U + 2 * 2);
  EXPECT_EQ(events[0]["name"], "launch");
  EXPECT_EQ(events[0]["ph"], "X");
  EXPECT_EQ(events[0]["ts"], 0);
  EXPECT_EQ(events[0]["dur"], 2.5);
  EXPECT_EQ(events[1]["cat"], "compute");
  EXPECT_EQ(events[1]["ts"], 3);
  EXPECT_EQ(events[1]["tid"], 1);
  EXPECT_EQ(events[1]["args"]["exact"], true);
  EXPECT_EQ(events[4]["args"]["name"], "gpu:0 stream 7");
  EXPECT_EQ(trace["dropped_spans"], 0);
}

TEST_F(TraceTest, NamesAreEscaped) {
  const std::string name = "k<\"a\\b\">(\n\t\x01)é";
  add(SpanClass::compute, name, "lane \"1\"", 0s, 1s);
  EXPECT_EQ(written()["traceEvents"][0]["name"], name);
  EXPECT_EQ(written()["traceEvents"][1]["args"]["name"], "lane \"1\"");
}

TEST_F(TraceTest, ANameThatIsNoTextIsReadableAllTheSame) {
  add(SpanClass::compute, "bad\xff", "lane", 0s, 1s);
  EXPECT_EQ(written()["traceEvents"][0]["name"], "bad\uFFFD");
}

TEST_F(TraceTest, SaysWhatWasDropped) {
  for (int i = 0; i < 5; ++i) add(SpanClass::copy, "copy", "lane", 0s, 1s);
  EXPECT_EQ(written()["dropped_spans"], 2);
}

TEST_F(TraceTest, AnEmptyTimelineIsAnEmptyTrace) {
  EXPECT_TRUE(written()["traceEvents"].empty());
}

TEST_F(TraceTest, ThrowsWhereItCannotWrite) {
  EXPECT_THAT([&] { write_chrome_trace(timeline_, file("no/such/folder/trace.json")); },
              ThrowsMessage<Error>(HasSubstr("trace.json")));
}

}  // namespace
}  // namespace gpubench
