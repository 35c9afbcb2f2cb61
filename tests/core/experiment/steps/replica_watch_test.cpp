#include "core/experiment/steps/replica_watch.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

std::string lengths(const std::vector<std::vector<Clock::duration>>& replicas) {
  ReplicaTrace trace;
  for (const auto& replica : replicas) {
    trace.exchanges.emplace_back();
    for (const Clock::duration length : replica) trace.exchanges.back().push_back({length, {}});
  }
  return trace.lengths();
}

std::string absent(const std::string& why) {
  ReplicaTrace trace;
  trace.absence = why;
  return trace.lengths();
}

const std::vector<std::string> two_processes{"process 0 (left)", "process 1 (right)"};

TEST(JoinLengths, PutsTheRanksOfAllProcessesInTheirOrder) {
  const JoinedLengths joined = join_lengths(
      {lengths({{10ns, 3'000'000'000ns}, {12ns, 21ns}}), lengths({{13ns, 22ns}, {14ns, 0ns}})}, two_processes);
  EXPECT_EQ(joined.absence, "");
  EXPECT_THAT(joined.by_rank, ElementsAre(ElementsAre(10ns, 3'000'000'000ns), ElementsAre(12ns, 21ns),
                                          ElementsAre(13ns, 22ns), ElementsAre(14ns, 0ns)));
}

TEST(JoinLengths, KnowsReplicasThatExchangeNothing) {
  const JoinedLengths joined = join_lengths({lengths({{}, {}})}, {"this process"});
  EXPECT_EQ(joined.absence, "");
  EXPECT_THAT(joined.by_rank, ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(JoinLengths, NamesTheProcessWithoutATrace) {
  const JoinedLengths joined =
      join_lengths({lengths({{10ns}}), absent("3 spans of the trace were lost")}, two_processes);
  EXPECT_EQ(joined.absence, "process 1 (right): 3 spans of the trace were lost");
  EXPECT_THAT(joined.by_rank, IsEmpty());
  EXPECT_EQ(join_lengths({absent("no CUPTI")}, {"this process"}).absence, "no CUPTI");
}

TEST(JoinLengths, RefusesTracesOfDifferentExchanges) {
  const JoinedLengths joined = join_lengths({lengths({{10ns, 11ns}, {10ns, 11ns}}), lengths({{10ns}})}, two_processes);
  EXPECT_EQ(joined.absence, "traces of all replicas need the same exchanges; rank 0 has 2, and rank 2 has 1");
  EXPECT_THAT(joined.by_rank, IsEmpty());
}

TEST(RankTimes, AreReadAsTheyWereTold) {
  // A window without a step has no mean, and a name may hold a space.
  RankTimes told;
  told.device = "gpu:0 share 1";
  told.own = std::nan("");
  told.peer_wait = 1.0 / 3;
  told.timed = true;
  told.bytes = std::numeric_limits<double>::infinity();
  told.last_arrivals = {3, 0};
  const std::vector<RankTimes> read = rank_times_in(rank_times_text({told, {}}));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].device, "gpu:0 share 1");
  EXPECT_TRUE(std::isnan(read[0].own));
  EXPECT_EQ(read[0].peer_wait, 1.0 / 3);
  EXPECT_EQ(read[0].bytes, told.bytes);
  EXPECT_TRUE(read[0].timed);
  EXPECT_THAT(read[0].last_arrivals, ElementsAre(3, 0));
  EXPECT_FALSE(read[1].timed);
  EXPECT_THAT(read[1].last_arrivals, IsEmpty());
}

TEST(LastRank, IsTheOneThatAllWaitFor) {
  // Of two exchanges in a step rank 0 comes last to the one for which rank 1 waits long, rank 1 to the other by a hair.
  std::vector<RankTimes> ranks(2);
  ranks[0].peer_wait = 1e-6;
  ranks[1].peer_wait = 8e-3;
  for (RankTimes& rank : ranks) rank.last_arrivals = {10, 12};
  EXPECT_EQ(last_rank(ranks).rank, 0);
  EXPECT_DOUBLE_EQ(last_rank(ranks).share, 10.0 / 22);
}

}  // namespace
}  // namespace gpubench
