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

}  // namespace
}  // namespace gpubench
