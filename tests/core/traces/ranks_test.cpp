#include "core/traces/ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/core/traces/kineto_trace.h"

namespace gpubench {
namespace {

/// One of two ranks, whose five exchanges begin at 1000 us of each step plus `late`, and end together.
TraceAnalysis rank_of(double late) {
  KinetoTrace trace;
  for (int i = 0; i < 7; ++i) {
    const double step = 10'000 * i;
    trace.kernel(step, step + 10, 900);
    trace.host("cuda_runtime", "cudaLaunchKernel", step + 1000 + late, 2, 1, 100 + i)
        .device("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", step + 1010 + late, 4000 - late, 100 + i)
        .host("user_annotation", "Optimizer.step#SGD.step", step + 9500, 400);
    for (int k = 0; k < 3; ++k) trace.kernel(step + 6000 + 1000 * k, step + 6010 + 1000 * k, 900);
  }
  return trace.analysis();
}

TEST(Ranks, WaitForTheOneThatComesLast) {
  std::vector<TraceAnalysis> ranks;
  ranks.push_back(rank_of(0));
  ranks.push_back(rank_of(3000));
  const RankWaits waits = rank_waits(ranks);
  ASSERT_EQ(waits.ranks.size(), 2U);
  EXPECT_EQ(waits.exchanges, 4U);
  EXPECT_EQ(waits.ranks[1].last, 4);
  EXPECT_NEAR(waits.ranks[0].waiting_s, 4 * 0.003, 1e-9);
  EXPECT_NEAR(waits.ranks[1].waiting_s, 0, 1e-9);
  EXPECT_NEAR(waits.ranks[0].transfer_s, 4 * 0.001, 1e-9);
  std::vector<Record> rows{row_of(ranks[0]), row_of(ranks[1])};
  set_waits(rows, waits, ranks);
  EXPECT_NEAR(share_of(rows[0], "peer_wait_share"), 0.3, 1e-6);
  EXPECT_EQ(number_in(rows[0].get("last_rank")), 1);
}

/// One of four ranks in two groups of two for models and two for batches. The one that is `late` comes 2000 us later to
/// each exchange; its clock is `ahead` us ahead. `kernel`: what its stage of the model runs.
TraceAnalysis rank_of_groups(int rank, bool is_late, double ahead, const char* kernel = "gemm") {
  KinetoTrace trace;
  const double late = is_late ? 2000 : 0;
  for (int i = 0; i < 7; ++i) {
    const double step = 20'000 * i + ahead;
    trace.kernel(step, step + 10, 900, kernel);
    trace.exchange(step + 1000 + late, 4000 - late, 1000 + 2 * i, rank < 2 ? "0, 1" : "2, 3", 50 + i);
    trace.exchange(step + 6000 + late, 4000 - late, 1001 + 2 * i, rank % 2 == 0 ? "0, 2" : "1, 3", 90 + i);
    trace.host("user_annotation", "Optimizer.step#SGD.step", step + 19'000, 400);
  }
  return trace.analysis();
}

TEST(Ranks, MeetInTheirGroups) {
  std::vector<TraceAnalysis> ranks;
  for (int rank = 0; rank < 4; ++rank) ranks.push_back(rank_of_groups(rank, rank == 2, 300 * rank));
  const RankWaits waits = rank_waits(ranks);
  ASSERT_EQ(waits.ranks.size(), 4U);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(waits.ranks[rank].last, rank == 2 ? 8 : 0) << rank;
    EXPECT_EQ(waits.ranks[rank].exchanges, 8U) << rank;
  }
  EXPECT_NEAR(waits.ranks[0].waiting_s, 4 * 0.002, 1e-9) << "for the batches that it shares with rank 2";
  EXPECT_NEAR(waits.ranks[3].waiting_s, 4 * 0.002, 1e-9) << "for the model that it shares with rank 2";
  EXPECT_NEAR(waits.ranks[1].waiting_s, 0, 1e-9);
  EXPECT_NEAR(waits.ranks[2].waiting_s, 0, 1e-9);
}

TEST(Ranks, StagesMeetThoseOfTheirOwnStage) {
  std::vector<TraceAnalysis> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.push_back(rank_of_groups(rank, rank == 3, 0, rank < 2 ? "first_stage" : "second_stage"));
  const RankWaits waits = rank_waits(ranks);
  ASSERT_EQ(waits.ranks.size(), 4U) << waits.note;
  EXPECT_EQ(waits.ranks[3].last, 4) << "in the group of its stage";
  EXPECT_NEAR(waits.ranks[2].waiting_s, 4 * 0.002, 1e-9);
  EXPECT_EQ(waits.ranks[0].waiting_s, 0);
  EXPECT_FALSE(waits.note.empty());
}

}  // namespace
}  // namespace gpubench
