#include "core/experiment/steps/slowest_thread.h"

#include <gmock/gmock.h>

#include "core/data/source/range.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/prefetch.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Seconds second{1.0};

ThreadTimes times(double cpu, double ready = 0) {
  return {Seconds(cpu), Seconds(ready)};
}
StageStatistics plain(std::string_view stage) {
  return {.stage = stage};
}
/// Waits all of its time.
StageStatistics throttle_for(double time) {
  return {.stage = "throttle", .busy = Seconds(time), .waiting = Seconds(time)};
}
std::string judged(const std::vector<StageStatistics>& stages, const ThreadTimes& consumer) {
  return read_or_processing_bound(slowest_thread(stages, consumer, second)).text;
}

TEST(SlowestThread, HasAKindBesideItsSentence) {
  const auto kind = [](double least, double most) {
    return read_or_processing_bound(SlowestThread{.stage = "map", .waited_least = least, .waited_most = most}).kind;
  };
  EXPECT_EQ(kind(0.6, 0.9), InputCauseKind::reading);
  EXPECT_EQ(kind(0.1, 0.4), InputCauseKind::processing);
  EXPECT_EQ(kind(0.1, 0.9), InputCauseKind::unknown);
}

TEST(SlowestThread, InTheConsumersOwn) {
  EXPECT_EQ(judged({plain("range"), throttle_for(0.95)}, times(0.02)),
            "read bound, its slowest thread (the consumer's own) waits 98 % of its time");
  EXPECT_EQ(judged({plain("synthetic"), {.stage = "map", .busy = Seconds(0.9)}}, times(0.97)),
            "processing bound, its slowest thread (the consumer's own) computes 97 % of its time");
}

/// A serial map behind a prefetch has one core of two, so that the process computes half of what it could.
TEST(SlowestThread, IsTheOneThatTheOthersWaitFor) {
  const std::vector<StageStatistics> stages = {
      plain("synthetic"),
      {.stage = "map", .busy = Seconds(0.9)},
      plain("batch"),
      {.stage = "prefetch", .starved = Seconds(0.96), .workers = 1, .source = Seconds(0.98), .threads = times(0.97)}};
  EXPECT_EQ(judged(stages, times(0.03)), "processing bound, its slowest thread (prefetch's) computes 99 % of its time");
}

TEST(SlowestThread, LosesTimeToOthersWithoutWaiting) {
  const std::vector<StageStatistics> stages = {
      plain("synthetic"),
      {.stage = "map", .busy = Seconds(0.9)},
      {.stage = "prefetch", .starved = Seconds(0.9), .workers = 1, .source = Seconds(1), .threads = times(0.2, 0.8)}};
  EXPECT_EQ(judged(stages, times(0.02, 0.08)),
            "processing bound, its slowest thread (prefetch's) computes 100 % of its time");
}

TEST(SlowestThread, OfAParallelMapComputesReadsOrPulls) {
  const auto map = [](double source, double busy, const ThreadTimes& threads) {
    return StageStatistics{.stage = "map",
                           .busy = Seconds(busy),
                           .starved = Seconds(0.9),
                           .workers = 4,
                           .source = Seconds(source),
                           .threads = threads};
  };
  EXPECT_THAT(judged({plain("synthetic"), map(0.05, 3.9, times(1.9, 2.0))}, times(0.05)),
              StartsWith("processing bound, its slowest thread (map's)"));
  // Reading files in the map.
  EXPECT_THAT(judged({plain("list_files"), map(0.05, 3.9, times(0.3))}, times(0.05)),
              StartsWith("read bound, its slowest thread (map's)"));
  // One pulls, and three wait for their turn.
  EXPECT_THAT(judged({plain("range"), throttle_for(0.97), map(0.98, 0.8, times(0.8))}, times(0.05)),
              StartsWith("read bound, its slowest thread (map's)"));
  EXPECT_THAT(judged({plain("csv"), map(0.98, 0.2, times(1.1))}, times(0.05)),
              StartsWith("processing bound, its slowest thread (map's)"));
  // Which of the two waits?
  EXPECT_EQ(judged({plain("csv"), map(0.9, 3.0, times(3.1))}, times(0.05)),
            "read or processing bound, which cannot be told: its slowest thread "
            "(map's) waits between 0 and 89 % of its time");
}

TEST(SlowestThread, ThatSaysNothingLeavesItOpen) {
  const StageStatistics silent{.stage = "interleave", .starved = Seconds(0.9), .workers = 2};
  EXPECT_THAT(judged({plain("csv"), silent}, times(0.05)), HasSubstr("which cannot be told"));
  EXPECT_THAT(judged({plain("range"), throttle_for(1.9), silent}, times(0.05)), StartsWith("read bound"));
  EXPECT_THAT(judged({plain("csv")}, times(0)), HasSubstr("which cannot be told"));
}

TEST(SlowestThread, IsNotLookedForInBranches) {
  const DatasetPtr branches = zip({prefetch(range(0, 4, 1), 1), prefetch(range(0, 4, 1), 1)});
  const std::unique_ptr<Cursor> cursor = branches->open();
  EXPECT_EQ(read_or_processing_bound(*branches, cursor->statistics(), times(1), second).text,
            "read or processing bound, which cannot be told: branches of the pipeline have threads side by side");
  const DatasetPtr alone = zip({range(0, 4, 1), range(0, 4, 1)});
  EXPECT_THAT(read_or_processing_bound(*alone, alone->open()->statistics(), times(1), second).text,
              StartsWith("processing bound"));
}

}  // namespace
}  // namespace gpubench
