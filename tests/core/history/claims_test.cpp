#include "core/history/claims.h"

#include <gmock/gmock.h>

#include "tests/core/history/nights.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ClaimsTest : public TemporaryFolder {
 protected:
  /// A night with this verdict: "news" or "known" for each refuted claim that it returns.
  std::vector<std::string> night(const std::string& verdict, const NightJob& of = {"night", "matmul on gpu:0"}) {
    gpubench::Run run = support::run_of({});
    run.info.set("expectations",
                 Info::List{Info::Fields{{"claim", "it is fast"}, {"verdict", verdict}, {"reason", "r"}}});
    std::vector<std::string> all;
    for (const RefutedClaim& one : judge_claims(history_, run, of)) {
      EXPECT_EQ(one.line, "matmul: it is fast (r)");
      all.push_back(one.news ? "news" : "known");
    }
    return all;
  }
  RunHistory history_{file("history.db")};
};

TEST_F(ClaimsTest, WhatWasConfirmedTheNightBeforeIsNewsOnce) {
  EXPECT_THAT(night("confirmed"), IsEmpty());
  EXPECT_THAT(night("refuted"), ElementsAre("news"));
  EXPECT_THAT(night("refuted"), ElementsAre("known"));
  EXPECT_THAT(night("inconclusive"), IsEmpty());
  EXPECT_THAT(night("refuted"), ElementsAre("known")) << "an open claim changes nothing";
  EXPECT_THAT(night("confirmed"), IsEmpty());
  EXPECT_THAT(night("refuted"), ElementsAre("news"));
}

TEST_F(ClaimsTest, WhatWasNeverConfirmedIsNoNews) {
  EXPECT_THAT(night("refuted"), IsEmpty());
  EXPECT_THAT(night("refuted"), IsEmpty());
}

TEST_F(ClaimsTest, OtherDevicesAndSuitesHaveTheirOwnVerdicts) {
  night("confirmed");
  EXPECT_THAT(night("refuted", {"night", "matmul on gpu:1"}), IsEmpty());
  EXPECT_THAT(night("refuted", {"other", "matmul on gpu:0"}), IsEmpty());
  EXPECT_THAT(night("refuted"), ElementsAre("news"));
}

TEST_F(ClaimsTest, AMachineThatIsNotSoundIsNewsEachNight) {
  const NightJob of{.suite = "night", .job = "health on gpu:0", .always_news = true};
  EXPECT_THAT(night("refuted", of), ElementsAre("news"));
  EXPECT_THAT(night("refuted", of), ElementsAre("news"));
  EXPECT_THAT(night("inconclusive", of), IsEmpty());
}

}  // namespace
}  // namespace gpubench
