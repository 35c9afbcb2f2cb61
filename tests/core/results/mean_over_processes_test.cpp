#include "core/results/mean_over_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Record row(int point, int process, double share, std::int64_t steps, const std::string& quality = "ok") {
  return {{"point", std::int64_t{point}},
          {"process", std::int64_t{process}},
          {"share", share},
          {"steps", steps},
          {"quality", quality}};
}

TEST(MeanOverProcesses, MeasurementsAreMeansAndCountsOfProcess0) {
  const std::vector<Record> rows{row(1, 0, 0.25, 7), row(1, 1, 0.5, 9), row(1, 2, 0.75, 9), row(2, 0, 1.0, 3),
                                 row(2, 1, 3.0, 4)};
  EXPECT_THAT(mean_over_processes(rows), ElementsAre(row(1, 0, 0.5, 7), row(2, 0, 2.0, 3)));
}

TEST(MeanOverProcesses, RowsOfAPointBelongTogetherInTheirOrder) {
  const std::vector<Record> rows{row(1, 0, 1.0, 1), row(1, 0, 2.0, 2),  row(1, 1, 3.0, 1),
                                 row(1, 1, 4.0, 2), row(1, 1, 99.0, 3), row(2, 0, 5.0, 4)};
  EXPECT_THAT(mean_over_processes(rows), ElementsAre(row(1, 0, 2.0, 1), row(1, 0, 3.0, 2), row(2, 0, 5.0, 4)));
}

TEST(MeanOverProcesses, OneProcessKeepsItsRows) {
  const std::vector<Record> rows{row(1, 0, 1.5, 1), row(1, 0, 2.5, 2), row(2, 0, 3.5, 3)};
  EXPECT_EQ(mean_over_processes(rows), rows);
  EXPECT_THAT(mean_over_processes({}), IsEmpty());
}

TEST(MeanOverProcesses, WhatOneHasNotMeasuredIsTheMeanOfTheOthers) {
  Record without = row(1, 1, 0.0, 1);
  without.set("share", Cell());
  EXPECT_THAT(mean_over_processes(std::vector{row(1, 0, 1.0, 1), without, row(1, 2, 2.0, 1)}),
              ElementsAre(row(1, 0, 1.5, 1)));
}

TEST(MeanOverProcesses, OneThatIsUnreliableMakesTheRowSo) {
  const std::vector<Record> rows{row(1, 0, 1.0, 1), row(1, 1, 3.0, 1, "unreliable: throttled"),
                                 row(1, 2, 2.0, 1, "unreliable: later")};
  EXPECT_THAT(mean_over_processes(rows), ElementsAre(row(1, 0, 2.0, 1, "unreliable: throttled")));
}

TEST(MeanOverProcesses, AFigureThatIsWholeInOneProcessIsTheMeanAllTheSame) {
  Record first, second;
  first.set("process", std::int64_t{0});
  first.set("point", std::int64_t{1});
  first.set("whole", std::int64_t{2});
  first.set("count", std::int64_t{3});
  second.set("process", std::int64_t{1});
  second.set("point", std::int64_t{1});
  second.set("whole", 2.5);
  second.set("count", std::int64_t{5});
  second.set("elsewhere", 7.5);
  const std::vector<Record> means = mean_over_processes(std::vector{first, second});
  ASSERT_EQ(means.size(), 1U);
  EXPECT_EQ(means[0].get("whole"), Cell(2.25));
  EXPECT_EQ(means[0].get("count"), Cell(std::int64_t{3}));
  EXPECT_EQ(means[0].get("elsewhere"), Cell(7.5));
}

}  // namespace
}  // namespace gpubench
