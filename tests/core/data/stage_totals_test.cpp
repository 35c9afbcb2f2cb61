#include "core/data/stage_totals.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

std::vector<StageStatistics> map_did(std::int64_t produced, double busy, int workers) {
  return {{.stage = "map", .produced = produced, .bytes = 8 * produced, .busy = Seconds(busy), .workers = workers}};
}

TEST(StageTotals, AddUpOverEpochsFromWhereTheyBegan) {
  StageTotals totals;
  totals.begin(map_did(10, 1, 1));
  EXPECT_EQ(totals.totals(map_did(15, 1.5, 2)).at(0).produced, 5);
  totals.end_epoch(map_did(20, 2, 2));
  const StageStatistics map = totals.totals(map_did(3, 0.25, 4)).at(0);
  EXPECT_EQ(map.produced, 13);
  EXPECT_EQ(map.bytes, 13 * 8);
  EXPECT_DOUBLE_EQ(map.busy.count(), 1.25);
  EXPECT_EQ(map.workers, 4);
}

}  // namespace
}  // namespace gpubench
