#include "core/trace/copy_path.h"

#include <gtest/gtest.h>
#include <string>

namespace gpubench {
namespace {

using namespace std::chrono_literals;

TEST(CopyPath, IsReadFromTheNameOfItsSpan) {
  for (std::size_t index = 0; index < copy_path_count; ++index) {
    const auto path = static_cast<CopyPath>(index);
    EXPECT_EQ(copy_path_of(span_name(path)), path) << span_name(path);
    EXPECT_EQ("copy " + std::string(to_string(path)), span_name(path));
  }
  EXPECT_EQ(copy_path_of("copy"), CopyPath::unknown);
  EXPECT_EQ(copy_path_of(""), CopyPath::unknown);
}

TEST(CopyPath, OfMostTimeWithinTheWindow) {
  Timeline timeline(16);
  const auto add = [&](SpanClass span_class, std::string_view name, Clock::duration begin, Clock::duration length) {
    Span span;
    span.span_class = span_class;
    span.name = timeline.name(name);
    span.begin = Clock::time_point(begin);
    span.end = span.begin + length;
    timeline.add(span);
  };
  const Window window{Clock::time_point(100ns), Clock::time_point(200ns)};
  EXPECT_FALSE(most_copied(timeline, window));
  add(SpanClass::compute, span_name(CopyPath::within_device), 100ns, 90ns);
  add(SpanClass::copy, span_name(CopyPath::between_devices), 0ns, 1000ns);  // of steps that do not count
  add(SpanClass::copy, span_name(CopyPath::between_devices), 200ns, 1000ns);
  EXPECT_FALSE(most_copied(timeline, window));
  add(SpanClass::copy, span_name(CopyPath::device_to_host), 100ns, 30ns);
  add(SpanClass::copy, span_name(CopyPath::pageable_to_device), 130ns, 20ns);
  add(SpanClass::copy, span_name(CopyPath::pageable_to_device), 150ns, 20ns);
  const auto most = most_copied(timeline, window);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->path, CopyPath::pageable_to_device);
  EXPECT_EQ(most->count, 2);
}

}  // namespace
}  // namespace gpubench
