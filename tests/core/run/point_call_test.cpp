#include "core/run/point_call.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "core/base/error.h"
#include "tests/core/group/thread_group.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(PointCall, RowsAreCheckedAndComplete) {
  const PointCall call({{{{"loss", NAN}, {"detail", std::string("why")}}}, {{{"status", std::string("skipped")}}}}, {});
  EXPECT_EQ(to_text(call.rows()[0].get("status")), "ok");
  EXPECT_EQ(to_text(call.rows()[0].get("detail")), "loss is NaN; why");
  EXPECT_EQ(to_text(call.rows()[1].get("status")), "skipped");
  EXPECT_TRUE(call.has_failed());
  EXPECT_THAT(
      [] {
        PointCall({{{{"point", std::int64_t{1}}}}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("the column 'point', which the program fills in")));
}

TEST(PointCall, ARowOfAnotherProcessKeepsItsConditions) {
  PointCall call({{{{"cpu_lost_share", 0.5}}}, {}}, {});
  call.set_conditions(0.02, 1e9, "1 MiB of cpu:0 still in use");
  EXPECT_EQ(call.rows()[0].get("cpu_lost_share"), Cell(0.5));
  EXPECT_EQ(call.rows()[1].get("cpu_lost_share"), Cell(0.02));
  EXPECT_EQ(call.rows()[0].get("cpu_clock_hz"), Cell(1e9));
  EXPECT_EQ(doubt_in(call.rows()[1], "memory_quality").kind, DoubtKind::kept_memory);
  EXPECT_FALSE(doubt_in(call.rows()[1]));
  EXPECT_EQ(call.disturbance().text, "other programs took 50 % of the processor time that it wanted");
  EXPECT_FALSE(PointCall({{{{"cpu_lost_share", 0.049}}}}, {}).disturbance());
}

struct Outcome {
  std::string status = "ok";
  std::optional<std::string> detail = {};
};

/// What processes with these outcomes agree on; each has a row of its own.
struct Agreed {
  std::vector<std::string> statuses;
  std::vector<PointCall> calls;

  explicit Agreed(const std::vector<Outcome>& outcomes) : statuses(outcomes.size()) {
    Threads processes(static_cast<int>(outcomes.size()));
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
      calls.push_back(PointCall({{{{"loss", 0.5 + static_cast<double>(rank)}, {"n", std::int64_t{7}}}, {0.25}}},
                                {{"n", std::int64_t{7}}}));
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
      threads.emplace_back([&, rank] {
        ThreadGroup group(processes, static_cast<int>(rank));
        statuses[rank] = calls[rank].agree(group, outcomes[rank].status, outcomes[rank].detail);
      });
    }
  }
  Record row(std::size_t process, std::size_t index) const { return calls[process].rows().at(index); }
};

TEST(PointCall, ProcessesHaveTheRowsOfAll) {
  const Agreed agreed({{}, {}});
  EXPECT_THAT(agreed.statuses, ElementsAre("ok", "ok"));
  for (std::size_t process = 0; process < 2; ++process) {
    for (std::size_t index = 0; index < 2; ++index) {
      EXPECT_EQ(agreed.row(process, index).get("process"), Cell(static_cast<std::int64_t>(index)));
      EXPECT_EQ(agreed.row(process, index).get("loss"), Cell(0.5 + static_cast<double>(index)));
      EXPECT_THAT(agreed.calls[process].measured()[index].samples, ElementsAre(0.25));
    }
  }
}

TEST(PointCall, TheGravestOutcomeIsThatOfAllProcesses) {
  const Agreed agreed({{"peer_lost", "another failed"}, {"out_of_memory", "9 GiB"}, {"error", "broken"}});
  EXPECT_THAT(agreed.statuses, ElementsAre("out_of_memory", "out_of_memory", "out_of_memory"));
  for (std::size_t process = 0; process < 3; ++process) {
    const Record row = agreed.row(process, 2);
    EXPECT_EQ(to_text(row.get("status")) + ": " + to_text(row.get("detail")), "out_of_memory: worker-1: 9 GiB");
    EXPECT_EQ(row.get("n"), Cell(std::int64_t{7}));
    EXPECT_EQ(row.get("process"), Cell(std::int64_t{2}));
    EXPECT_FALSE(row.has("loss"));
  }
  const Agreed lost({{"device_lost", "gone"}, {}});
  EXPECT_EQ(lost.statuses[1], "device_lost");
  EXPECT_EQ(to_text(lost.row(1, 0).get("status")), "error");
}

TEST(PointCall, WhatAllProcessesSayNamesNone) {
  const Agreed agreed({{"skipped", "no GPU"}, {"skipped", "no GPU"}});
  EXPECT_EQ(to_text(agreed.row(1, 0).get("detail")), "no GPU");
}

}  // namespace
}  // namespace gpubench
