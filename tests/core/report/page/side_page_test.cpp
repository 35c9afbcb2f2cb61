#include "core/report/page/side_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/compare/sides.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SidePage, SaysWhatWasMeasuredAndHowFarToTrustIt) {
  Side side = side_with("night", "step_time_s", seven_around(0.01));
  side.processes[0].info.set("answers", Info::List{Info::Fields{{"answer", "Use <64>."}, {"verdict", "confirmed"}}});
  side.processes[0].info.set("program", Info::Fields{{"commit", "abc"}});
  const std::string page = side_page(side, {}, "");
  EXPECT_THAT(page, AllOf(HasSubstr("<h1>1 row measured by 7 processes</h1>"), HasSubstr("✓ e: Use &lt;64&gt;."),
                          HasSubstr("download=\"figures.csv\""), HasSubstr("<th scope=\"row\">e batch_size=32</th>"),
                          HasSubstr("10 ms"), HasSubstr("program.commit"), HasSubstr("id=\"runs\"")));
  EXPECT_THAT(page, Not(HasSubstr("gives verdicts from")));
  EXPECT_THAT(experiments_of(side), ElementsAre("e"));
}

TEST(SidePage, FewProcessesAndRowsThatFailedAreNamed) {
  Side side = side_with("one", "step_time_s", {0.01});
  side.processes[0].records.push_back(
      {{"batch_size", std::int64_t{64}}, {"status", std::string("error")}, {"detail", std::string("why")}});
  EXPECT_THAT(side_page(side, {}, ""),
              AllOf(HasSubstr("<li>e batch_size=64: error: why</li>"),
                    HasSubstr("a comparison gives verdicts from 7 processes a side on: run --repeat 7")));
}

TEST(SidePage, NothingMeasuredIsSaid) {
  Side side = side_with("one", "step_time_s", {0.01});
  side.processes[0].records.clear();
  EXPECT_THAT(side_page(side, {}, ""), HasSubstr("<h1>0 rows measured by 1 process</h1>"));
}

}  // namespace
}  // namespace gpubench
