#include "core/fleet/common_nights.h"

#include <gmock/gmock.h>

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t hour = 3600, day = 24 * hour;

TEST(CommonNights, HostsThatBeginHoursApartShareANight) {
  const CommonNights nights = common_nights(
      {{0, 2 * hour}, {1, 5 * hour}, {0, day + 2 * hour + 300}, {1, day + 5 * hour - 300}, {0, 2 * day + 2 * hour}});
  EXPECT_EQ(nights.interval, day);
  EXPECT_THAT(nights.night, ElementsAre(0, 0, 1, 1, 2));
  EXPECT_THAT(nights.started, ElementsAre(2 * hour, day + 2 * hour + 300, 2 * day + 2 * hour));
}

TEST(CommonNights, MidnightPartsNone) {
  const CommonNights nights = common_nights({{0, day - 600}, {1, day + 600}, {0, 2 * day - 600}, {1, 2 * day + 600}});
  EXPECT_THAT(nights.night, ElementsAre(0, 0, 1, 1));
}

TEST(CommonNights, NightsInWhichNobodyMeasuredAreNone) {
  const CommonNights nights = common_nights({{0, 0}, {1, 0}, {0, day}, {1, day}, {0, 4 * day}, {1, 4 * day}});
  EXPECT_THAT(nights.night, ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(CommonNights, AClockThatIsAheadOfAllOthersIsWrong) {
  const CommonNights nights = common_nights({{0, 0}, {1, 0}, {2, 0}, {0, day}, {1, day}, {2, 300 * day}});
  EXPECT_THAT(nights.ahead, ElementsAre(2u));
  EXPECT_THAT(nights.night, ElementsAre(0, 0, 0, 1, 1, std::nullopt));
}

TEST(CommonNights, AWeekIsANightToo) {
  const CommonNights nights = common_nights({{0, 0}, {1, hour}, {0, 7 * day + hour}, {1, 7 * day}});
  EXPECT_EQ(nights.interval, 7 * day);
  EXPECT_THAT(nights.night, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(common_nights({}).started, IsEmpty());
}

TEST(CommonNights, TimesAreThoseOfRuns) {
  EXPECT_EQ(seconds_of("1970-01-02T00:00:01Z"), day + 1);
  EXPECT_EQ(seconds_of("yesterday"), std::nullopt);
  EXPECT_EQ(seconds_of("2026-02-30T00:00:00Z"), std::nullopt);
  EXPECT_EQ(date_text(seconds_of("2026-03-01T02:00:00Z").value()), "2026-03-01");
}

}  // namespace
}  // namespace gpubench
