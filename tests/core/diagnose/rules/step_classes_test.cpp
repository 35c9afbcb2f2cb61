// Findings that rest on one class of the step: host, copies, crossings, exchanges and late replicas.
#include <gmock/gmock.h>

#include "tests/core/diagnose/row.h"

namespace gpubench::step_classes_test {
namespace {

using support::judged;
using support::trained_row;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct ClassCase {
  const FindingRule* rule;
  const char* column;
  double limit;
  Record more;  ///< what else the finding needs
};

class ClassRule : public ::testing::TestWithParam<ClassCase> {};

TEST_P(ClassRule, FiresFromTheLimitOn) {
  const auto& [rule, column, limit, more] = GetParam();
  Record row = trained_row(more);
  row.set(column, limit - 1e-6);
  EXPECT_FALSE(judged(*rule, row));
  row.set(column, limit);
  const auto finding = judged(*rule, row);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain.value, limit);
  EXPECT_EQ(finding->doubt, "");
  EXPECT_FALSE(finding->remedies.empty());
  EXPECT_THAT(finding->evidence, HasSubstr("of the step"));
}

TEST_P(ClassRule, IsInDoubtWhereTheIntervalReachesBelowTheLimit) {
  const auto& [rule, column, limit, more] = GetParam();
  Record row = trained_row(more);
  std::string low = column, high = column;
  low.insert(low.rfind('_'), "_low");
  high.insert(high.rfind('_'), "_high");
  row.set(column, 2 * limit);
  row.set(low, limit);
  row.set(high, 3 * limit);
  EXPECT_EQ(judged(*rule, row)->doubt, "");
  row.set(low, limit - 1e-6);
  EXPECT_THAT(judged(*rule, row)->doubt, HasSubstr("reaches below the limit"));
  EXPECT_THAT(judged(*rule, row)->flag, HasSubstr("--budget"));
}

TEST_P(ClassRule, IsSilentWithoutItsColumn) {
  const auto& [rule, column, limit, more] = GetParam();
  Record row = trained_row(more);
  row.set(column, Cell{});
  EXPECT_FALSE(judged(*rule, row));
}

INSTANTIATE_TEST_SUITE_P(
    Classes, ClassRule,
    ::testing::Values(ClassCase{&host_bound, "host_share", 0.03, {}}, ClassCase{&copy_bound, "copy_share", 0.05, {}},
                      ClassCase{&placement_crossings, "copy_share", 0.05, {{"device_copies", std::int64_t{4}}}},
                      ClassCase{&communication_bound, "communication_share", 0.03, {{"replicas", std::int64_t{2}}}},
                      ClassCase{&uneven_replicas, "peer_wait_share", 0.03, {{"replicas", std::int64_t{2}}}},
                      ClassCase{&memory_limit, "copy_share", 0.05, {{"offloaded_bytes", std::int64_t{4096}}}}),
    [](const auto& one) { return std::string(one.param.rule->name); });

TEST(HostBound, NamesWhoKeepsTheDeviceWaiting) {
  EXPECT_EQ(judged(host_bound, trained_row({{"host_share", 0.5}}))->kind, "callbacks or synchronization");
  EXPECT_EQ(judged(host_bound, trained_row({{"host_share", 0.5}, {"execution", std::string("eager")}}))->kind,
            "eager execution");
  Record loop = trained_row({{"host_share", 0.5}, {"host_time_s", 0.004}});
  loop.set("execution", Cell{});
  EXPECT_EQ(judged(host_bound, loop)->kind, "") << "what the steps are of is not known";
  EXPECT_THAT(judged(host_bound, loop)->remedies,
              ::testing::ElementsAre(Remedy::compiled_step, Remedy::graph, Remedy::fewer_callbacks,
                                     Remedy::fewer_synchronizations, Remedy::larger_batch));
  loop.set("steps_of", std::string("loop"));
  EXPECT_EQ(judged(host_bound, loop)->kind, "Lua in every step");
  EXPECT_THAT(judged(host_bound, loop)->evidence, HasSubstr("the host needs 4 ms for a step"));
}

TEST(CopyBound, LeavesCrossingsAndSwappingToTheirFindings) {
  const Record copies{{"copy_share", 0.5}};
  EXPECT_TRUE(judged(copy_bound, trained_row(copies)));
  for (const char* column : {"device_copies", "offloaded_bytes"}) {
    Record row = trained_row(copies);
    row.set(column, std::int64_t{1});
    EXPECT_FALSE(judged(copy_bound, row)) << column;
  }
  EXPECT_FALSE(judged(placement_crossings, trained_row(copies)));
}

TEST(UnevenReplicas, NamesTheLateOne) {
  Record row = trained_row({{"peer_wait_share", 0.3},
                            {"replicas", std::int64_t{2}},
                            {"last_rank", 1.0},
                            {"last_rank_device", std::string("gpu:1")},
                            {"last_rank_share", 0.9},
                            {"imbalance", 0.4}});
  const auto late = judged(uneven_replicas, row);
  EXPECT_EQ(late->kind, "one replica is late");
  EXPECT_THAT(late->evidence,
              HasSubstr("(gpu:1) comes last to 90 % of the exchanges; the slowest computes 40 % longer"));
  EXPECT_THAT(late->remedies, ElementsAre(Remedy::balanced_shares));
}

TEST(UnevenReplicas, AreNotOneLateReplicaByChance) {
  Record row = trained_row({{"peer_wait_share", 0.3}, {"replicas", std::int64_t{2}}, {"last_rank_share", 0.74}});
  EXPECT_EQ(judged(uneven_replicas, row)->kind, "") << "two replicas: half of the exchanges by chance";
  EXPECT_THAT(judged(uneven_replicas, row)->remedies, IsEmpty());
  row.set("replicas", std::int64_t{8});
  EXPECT_EQ(judged(uneven_replicas, row)->kind, "one replica is late");
  row.set("last_rank_share", 0.56);
  EXPECT_EQ(judged(uneven_replicas, row)->kind, "");
  row.set("last_rank_share", Cell{});
  EXPECT_THAT(judged(uneven_replicas, row)->remedies, ElementsAre(Remedy::balanced_shares));
}

// Point 4 of results/samples/uneven_workload: the host of the late replica waits, for which the other one waits.
TEST(UnevenReplicas, HaveTheHostsTimeOfTheLateOne) {
  Record row = trained_row({{"compute_share", 0.4949},
                            {"peer_wait_share", 0.2422},
                            {"host_share", 0.2493},
                            {"replicas", std::int64_t{2}},
                            {"last_rank_share", 1.0}});
  EXPECT_NEAR(judged(uneven_replicas, row)->gain.value, 2 * 0.2422, 1e-12);
  EXPECT_FALSE(judged(host_bound, row)) << "0.7 % are left";
  // Seven of eight wait, and one works: a seventh of the wait is the late one's own time.
  row.set("replicas", std::int64_t{8});
  EXPECT_NEAR(judged(uneven_replicas, row)->gain.value, 0.2422 * 8 / 7, 1e-12);
  EXPECT_NEAR(judged(host_bound, row)->gain.value, 0.2493 - 0.2422 / 7, 1e-12);
  // By chance each is last now and then.
  row.set("last_rank_share", 0.3);
  EXPECT_NEAR(judged(uneven_replicas, row)->gain.value, 0.2422, 1e-12);
  EXPECT_NEAR(judged(host_bound, row)->gain.value, 0.2493, 1e-12);
  row.set("last_rank_share", 1.0);
  row.set("replicas", Cell{});
  EXPECT_NEAR(judged(host_bound, row)->gain.value, 0.2493, 1e-12) << "how many there are is not known";
}

TEST(CopyBound, OfARowWithoutAPlanMayBeOfCrossings) {
  Record loop = trained_row({{"copy_share", 0.5}});
  EXPECT_THAT(judged(copy_bound, loop)->remedies, Not(::testing::Contains(Remedy::one_device)));
  loop.set("kernels", Cell{});
  EXPECT_THAT(judged(copy_bound, loop)->remedies, ::testing::Contains(Remedy::one_device));
  EXPECT_THAT(judged(copy_bound, loop)->evidence, HasSubstr("is not known"));
}

TEST(CopyBound, RemediesFollowFromWhatIsCopied) {
  Record row = trained_row({{"copy_share", 0.5},
                            {"copy_cause", std::string("copies from the device to the host, 1 a step")},
                            {"copy_cause_kind", std::string("readback")}});
  EXPECT_EQ(judged(copy_bound, row)->headline, "copy bound (readback): 50 % of the step");
  EXPECT_THAT(judged(copy_bound, row)->evidence, HasSubstr("of the step: copies from the device to the host"));
  EXPECT_THAT(judged(copy_bound, row)->remedies, ElementsAre(Remedy::fewer_synchronizations));
  row.set("kernels", Cell{});
  EXPECT_THAT(judged(copy_bound, row)->remedies, ElementsAre(Remedy::fewer_synchronizations)) << "the cause is known";
  row.set("copy_cause_kind", std::string("a word of a later version"));
  EXPECT_THAT(judged(copy_bound, row)->remedies, IsEmpty()) << "a wrong one would lead away";
  row.set("copy_cause_kind", std::string("pageable"));
  EXPECT_THAT(judged(copy_bound, row)->remedies, ElementsAre(Remedy::pinned_memory, Remedy::prefetch_to_device));
  row.set("copy_cause_kind", std::string("input"));
  EXPECT_THAT(judged(copy_bound, row)->remedies, ElementsAre(Remedy::prefetch_to_device, Remedy::larger_batch));
  row.set("input_slots", std::int64_t{1});
  EXPECT_THAT(judged(copy_bound, row)->remedies,
              ElementsAre(Remedy::prefetch_to_device, Remedy::larger_batch, Remedy::input_slots));
}

}  // namespace
}  // namespace gpubench::step_classes_test
