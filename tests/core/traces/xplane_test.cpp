#include "core/traces/xplane.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <string>

#include "core/base/error.h"
#include "core/traces/analysis.h"

namespace gpubench {
namespace {

// Protocol buffers: numbers, and texts or messages with their length.
std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7U) bytes += static_cast<char>((number & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(number);
}
std::string field(unsigned id, std::uint64_t number) {
  return varint(id << 3U) + varint(number);
}
std::string field(unsigned id, const std::string& bytes) {
  return varint((id << 3U) | 2U) + varint(bytes.size()) + bytes;
}

std::string event(std::uint64_t name, std::uint64_t offset_ps, std::uint64_t length_ps) {
  return field(4, field(1, name) + field(2, offset_ps) + field(3, length_ps));
}
/// With one line, whose events are all of one name.
std::string plane(const std::string& name, const std::string& line, std::uint64_t start_ns, const std::string& events,
                  const std::string& event_name = "fusion") {
  return field(1, field(2, name) + field(4, field(1, 1) + field(2, field(1, 1) + field(2, event_name))) +
                      field(3, field(2, line) + field(3, start_ns) + events));
}

ForeignTrace read_space(const std::string& bytes) {
  return read_xplane("t.xplane.pb", std::as_bytes(std::span(bytes)));
}

std::string refusal_of(const std::string& bytes) {
  try {
    read_space(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "read";
}

TEST(XPlane, TimesAreThoseOfTheLineAndTheEvent) {
  const ForeignTrace trace =
      read_space(plane("/device:GPU:3", "Stream #7(Kernel)", 1'700'000'000'000'000'000, event(1, 2'999, 5'001)));
  ASSERT_EQ(trace.device.size(), 1U);
  EXPECT_EQ(trace.device.front().time, (TraceInterval{1'700'000'000'000'000'002, 1'700'000'000'000'000'008}));
  EXPECT_EQ(trace.devices.front().name, "gpu:3");
}

TEST(XPlane, LengthsThatAreNoneAreRefusedWithTheirPlace) {
  const std::string good = plane("/device:GPU:0", "Stream #1", 0, event(1, 0, 1000));
  EXPECT_EQ(refusal_of(good.substr(0, good.size() - 1)), "no valid XSpace: at byte 2: a field needs " +
                                                             std::to_string(good.size() - 2) + " bytes, " +
                                                             std::to_string(good.size() - 3) + " are left");
  EXPECT_EQ(refusal_of("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),
            "no valid XSpace: at byte 11: a field needs 18446744073709551615 bytes, 0 are left");
  EXPECT_EQ(refusal_of(field(1, field(3, "\x22\x7F"))),
            "no valid XSpace: at byte 6: a field needs 127 bytes, 0 are left");
  EXPECT_EQ(refusal_of(field(1, std::uint64_t{3})), "no valid XSpace: at byte 2: field 1 is no string or message");
}

TEST(XPlane, TimesAtTheLimitsAreLeftOut) {
  constexpr auto most = static_cast<std::uint64_t>(INT64_MAX), least = static_cast<std::uint64_t>(INT64_MIN);
  std::string planes;
  for (const std::uint64_t start : {most, least, std::uint64_t{1}})
    planes += plane(
        "/device:GPU:0", "Stream #1", start,
        event(1, most, most) + event(1, least, most) + event(1, 1, most) + event(1, most, 1) + event(1, 1, least));
  EXPECT_EQ(read_space(planes).report.without_time, 15U);
}

TEST(XPlane, EventsWithoutMetadataHaveNoName) {
  std::string events;
  for (std::uint64_t i = 0; i < 1000; ++i) events += event(1000 + i, 1000 * i, 500);
  const ForeignTrace trace = read_space(plane("/device:GPU:0", "Stream #1", 5, events));
  EXPECT_EQ(trace.text(trace.device.front()), "");
  const TraceAnalysis analysis = analyse(read_space(plane("/device:GPU:0", "Stream #1", 5, events)));
  profile_of(analysis);
}

TEST(XPlane, LongNamesOfManyEventsCostLittle) {
  std::string events;
  for (std::uint64_t i = 0; i < 50'000; ++i) events += event(1, 1'000'000 * i, 500'000);
  const std::string name(1 << 20, 'n');
  for (const char* where : {"/device:GPU:0", "/host:CPU"})
    analyse(read_space(plane(where, "Stream #1", 5, events, name)));
}

TEST(XPlane, DevicesHaveALimit) {
  std::string planes;
  for (int i = 0; i < 300; ++i) planes += plane("/device:TPU:" + std::to_string(i), "XLA Ops", 5, event(1, 0, 1000));
  EXPECT_EQ(refusal_of(planes), "the trace has more than 256 devices");
}

TEST(XPlane, IsToldByItsFirstPlane) {
  const auto is = [](const std::string& bytes) { return is_xplane(std::as_bytes(std::span(bytes))); };
  EXPECT_TRUE(is(plane("/host:CPU", "python", 5, "")));
  EXPECT_TRUE(is(field(1, field(1, 7) + field(2, "/device:GPU:0"))));
  for (const std::string& other : {std::string(), std::string("\x0A"), std::string("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
                                   std::string("\x0A\x08\x08\xFF\xFF\xFF\xFF\xFF"), field(1, field(2, "other name"))})
    EXPECT_FALSE(is(other));
}

}  // namespace
}  // namespace gpubench
