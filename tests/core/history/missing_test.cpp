#include "core/history/missing.h"

#include <gmock/gmock.h>

#include "core/history/maintenance.h"
#include "core/history/night_state.h"
#include "tests/core/history/nights.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::date_of;
using support::Night;
using support::run_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class MissingTest : public TemporaryFolder {
 protected:
  /// Appends the runs of a night and reports what it lacks: "<experiment> <metric>", with "since ..." if it is known.
  std::vector<std::string> night(const std::vector<gpubench::Run>& runs) {
    std::vector<std::string> names;
    for (const gpubench::Run& run : runs) {
      history_.append(run);
      names.push_back(run.info.text("experiment") + "/" + run.directory.filename().string());
    }
    std::vector<std::string> all;
    MissingNews news{.line = "missing"};
    for (const auto& [series, since] : find_missing(history_, names, "night", "a")) {
      all.push_back(series.key.experiment + " " + series.key.metric + (since.empty() ? "" : " since " + since));
      news.series.push_back(series.id);
    }
    report_missing(history_, {news}, "night", "a", date_of(day_), date_of(day_).substr(0, 10));
    ++day_;
    return all;
  }
  /// One of tonight.
  gpubench::Run run(Night night = {}) const {
    night.started = date_of(day_);
    return run_of(night);
  }
  gpubench::Run without_rate() const {
    gpubench::Run run = this->run();
    run.records[0].set("flops_per_s", {});
    return run;
  }
  RunHistory history_{file("history.db")};
  int day_ = 0;
};

TEST_F(MissingTest, IsNewsOnceAndNamedUntilItIsMeasuredAgain) {
  EXPECT_THAT(night({run()}), IsEmpty());
  EXPECT_THAT(night({without_rate()}), ElementsAre("matmul flops_per_s"));
  EXPECT_THAT(night({without_rate()}), ElementsAre("matmul flops_per_s since 2026-01-02"));
  EXPECT_THAT(night({without_rate()}), ElementsAre("matmul flops_per_s since 2026-01-02"));
  EXPECT_THAT(night({run()}), IsEmpty());
  EXPECT_THAT(night({without_rate()}), ElementsAre("matmul flops_per_s")) << "lost again";
}

TEST_F(MissingTest, ANightWithoutAnyRunLacksEverything) {
  EXPECT_THAT(night({}), IsEmpty()) << "nothing was ever there";
  night({run(), run({.experiment = "other"})});
  EXPECT_THAT(night({}), UnorderedElementsAre("matmul step_time_s", "matmul flops_per_s", "other step_time_s",
                                              "other flops_per_s"));
}

TEST_F(MissingTest, AnExperimentThatWasNotMeasured) {
  night({run(), run({.experiment = "other"})});
  EXPECT_THAT(night({run()}), UnorderedElementsAre("other step_time_s", "other flops_per_s"));
  EXPECT_THAT(night({run()}),
              UnorderedElementsAre("other step_time_s since 2026-01-02", "other flops_per_s since 2026-01-02"));
}

TEST_F(MissingTest, ANightMayHaveSeveralRunsOfAnExperiment) {
  const auto other_size = [&] {
    gpubench::Run other = run();
    other.directory += "-2";
    other.records[0].set("size", std::int64_t{128});
    return other;
  };
  night({run(), other_size()});
  night({run(), other_size()});
  EXPECT_THAT(night({other_size()}), UnorderedElementsAre("matmul step_time_s", "matmul flops_per_s"));
}

TEST_F(MissingTest, ACardThatIsGoneIsMissedAlsoIfAnotherOneIsInItsSlot) {
  night({run()});
  EXPECT_THAT(night({run({.uuid = "GPU-2"})}), UnorderedElementsAre("matmul step_time_s", "matmul flops_per_s"));
  EXPECT_THAT(night({run({.uuid = "GPU-2"})}),
              UnorderedElementsAre("matmul step_time_s since 2026-01-02", "matmul flops_per_s since 2026-01-02"));
  EXPECT_THAT(night({run({.uuid = "GPU-1"})}), UnorderedElementsAre("matmul step_time_s", "matmul flops_per_s"))
      << "now the other one is gone";
}

TEST_F(MissingTest, OfADeviceWithoutAnIdTheSlotCounts) {
  night({run({.uuid = ""})});
  EXPECT_THAT(night({run({.uuid = ""})}), IsEmpty());
  EXPECT_THAT(night({}), UnorderedElementsAre("matmul step_time_s", "matmul flops_per_s"));
}

TEST_F(MissingTest, OtherSuitesAndHostsAreNotMissed) {
  night({run()});
  gpubench::Run of_other_suite = run({.suite = "other"});
  of_other_suite.directory += "-2";
  night({of_other_suite, run({.host = "b"}), run()});
}

TEST_F(MissingTest, WhatIsAcceptedIsNotNamed) {
  night({run()});
  night({});
  EXPECT_EQ(accept_missing(history_, "other"), 0);
  EXPECT_EQ(accept_missing(history_, ""), 2);
  EXPECT_EQ(accept_missing(history_, ""), 0);
  EXPECT_THAT(night({}), IsEmpty());
  EXPECT_THAT(night({run()}), IsEmpty());
  EXPECT_THAT(night({without_rate()}), ElementsAre("matmul flops_per_s")) << "it had come back";
}

class MissingAfterJudged : public MissingTest {
 protected:
  gpubench::Run of_night(const std::string& id, gpubench::Run run) const {
    run.info.set("tags", Info::List{"suite=night", "night=" + id});
    return run;
  }
  /// A night that looks for what is missing; one that is killed only appends.
  std::vector<std::string> judged(const std::string& id, const std::vector<gpubench::Run>& runs) {
    const auto missing = night(runs);
    remember(history_, "a", "night", judged_night, id);
    return missing;
  }
};

TEST_F(MissingAfterJudged, WhatAKilledNightLackedIsMissedByTheNextOne) {
  for (const char* const id : {"n1", "n2"}) judged(id, {of_night(id, run())});
  history_.append(of_night("n3", without_rate()));  // and then it was killed
  ++day_;
  EXPECT_THAT(judged("n4", {of_night("n4", without_rate())}), ElementsAre("matmul flops_per_s"));
}

TEST_F(MissingAfterJudged, AScriptThatIsThereTwiceMissesWhatEitherLacks) {
  const auto second = [&](const std::string& id) {
    gpubench::Run other = of_night(id, without_rate());
    other.directory += "-2";
    return other;
  };
  for (const char* const id : {"n1", "n2"}) judged(id, {of_night(id, run()), second(id)});
  EXPECT_THAT(judged("n3", {of_night("n3", without_rate()), second("n3")}), ElementsAre("matmul flops_per_s"));
}

TEST_F(MissingTest, PrunedFiguresAreForgotten) {
  night({run()});
  night({});
  prune(history_, 0, std::chrono::system_clock::now());
  EXPECT_THAT(night({}), IsEmpty());
}

}  // namespace
}  // namespace gpubench
