#include "core/compare/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/compare/sides.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Side with_facts(const std::string& name, const std::string& commit, const std::string& driver, double load) {
  Side side = side_with(name, "step_time_s", {1, 2});
  for (MeasuringProcess& process : side.processes) {
    process.info.set("program", Info::Fields{{"commit", commit}, {"file", name}});
    process.info.set("machine", Info::Fields{{"host", "h"}, {"load_1min", load}});
    process.info.set("data", Info::Fields{{"mnist train", Info::Fields{{"checksum", "1"}, {"directory", name}}}});
    process.info.set("devices",
                     Info::List{Info::Fields{{"name", "gpu:0"}, {"details", Info::Fields{{"driver", driver}}}}});
  }
  return side;
}

TEST(Fingerprint, OnlyWhatDiffersIsListedAndSortedByOrigin) {
  const std::vector<Side> sides{with_facts("a", "one", "570", 0.1), with_facts("b", "two", "580", 3)};
  const std::vector<Difference> differences = differences_between(sides);
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].key, "program.commit");
  EXPECT_EQ(differences[0].origin, FactOrigin::code);
  EXPECT_THAT(differences[0].values, ElementsAre("one", "two"));
  EXPECT_EQ(differences[1].key, "devices.gpu:0.details.driver");
  EXPECT_EQ(differences[1].origin, FactOrigin::environment);
  EXPECT_EQ(cause_text(differences, 1, CauseDetail::keys),
            "code (program.commit); environment (devices.gpu:0.details.driver)");
  EXPECT_EQ(cause_text(differences, 1, CauseDetail::values),
            "code (program.commit one -> two); environment (devices.gpu:0.details.driver 570 -> 580)");
}

TEST(Fingerprint, WhatVariesFromRunToRunIsNoDifference) {
  const std::vector<Side> sides{with_facts("a", "one", "570", 0.1), with_facts("b", "one", "570", 3)};
  EXPECT_THAT(differences_between(sides), IsEmpty());
  EXPECT_EQ(cause_text({}, 1, CauseDetail::keys), "");
}

TEST(Fingerprint, AnotherScriptIsAnotherMethod) {
  std::vector<Side> sides{with_facts("a", "one", "570", 0), with_facts("b", "one", "570", 0)};
  for (MeasuringProcess& process : sides[0].processes) process.script = "print(1)";
  for (MeasuringProcess& process : sides[1].processes) process.script = "print(2)";
  const std::vector<Difference> differences = differences_between(sides);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].key, "script.lua");
  EXPECT_EQ(differences[0].origin, FactOrigin::method);
}

TEST(Fingerprint, ASideOfSeveralCommitsNamesThem) {
  std::vector<Side> sides{with_facts("a", "one", "570", 0), with_facts("b", "one", "570", 0)};
  sides[1].processes[1].info.set("program", Info::Fields{{"commit", "two"}});
  EXPECT_THAT(differences_between(sides).at(0).values, ElementsAre("one", "one | two"));
}

TEST(Fingerprint, ResultsOfOthersWithoutFactsDifferInNothing) {
  const std::vector<Side> sides{with_facts("a", "one", "570", 0), side_with("b", "step_time_s", {1})};
  EXPECT_THAT(differences_between(sides), IsEmpty());
}

}  // namespace
}  // namespace gpubench
