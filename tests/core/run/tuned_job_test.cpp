#include "core/run/tuned_job.h"

#include <gmock/gmock.h>

namespace gpubench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TriedRemedy tried(std::vector<std::string> settings, RemedyOutcome outcome, double times) {
  TriedRemedy remedy{.name = settings.front(), .settings = settings, .changes = "nothing", .outcome = outcome};
  remedy.lines = {"line of " + settings.front()};
  remedy.step_s = {0.01};
  remedy.times.value = times;
  return remedy;
}

TunedJob tuned_with(std::vector<TriedRemedy> remedies) {
  return {.run = "results/train", .steps = 40, .warm_steps = 8, .as_it_was = {0.02, 0.04}, .remedies = remedies};
}

TEST(TunedJob, TellsTheLinesOfWhatHelpsAndWhyTheRestWasNotTried) {
  TriedRemedy helps = tried({"workers=4", "pin_memory"}, RemedyOutcome::helps, 2);
  helps.has_interval = true;
  helps.times.interval = {1.5, 2.5};
  helps.place = "train.py:31";
  TriedRemedy none{.name = "tf32", .settings = {"tf32"}, .why = "it is for compute_bound"};
  const std::string text = tuned_text(tuned_with({helps, none}));
  EXPECT_THAT(text, AllOf(HasSubstr("as it is: 30 ms a step (2 processes, 40 steps each behind 8)"),
                          HasSubstr("2.00 [1.50, 2.50]"), HasSubstr("workers=4,pin_memory at train.py:31:"),
                          HasSubstr("  line of workers=4"), HasSubstr("not tried:\n  tf32: it is for compute_bound")));
  EXPECT_THAT(text, Not(HasSubstr("nothing that can be changed")));
}

TEST(TunedJob, TellsWhatIsNotSettledAndWhereNothingHelps) {
  EXPECT_THAT(tuned_text(tuned_with({tried({"workers=4"}, RemedyOutcome::open, 1.2)})),
              AllOf(HasSubstr("1.20, one pair"), HasSubstr("not settled: workers=4 looks 1.20 times as fast"),
                    HasSubstr("no gain is settled; a larger --budget repeats what is open")));
  TriedRemedy failed = tried({"tf32"}, RemedyOutcome::failed, 0);
  failed.why = "no step of training was seen in time";
  EXPECT_THAT(tuned_text(tuned_with({failed})), AllOf(HasSubstr("no step of training was seen in time"),
                                                      HasSubstr("nothing that can be changed from outside helps")));
}

TEST(TunedJob, HasTheSameAsFacts) {
  TriedRemedy slower = tried({"tf32"}, RemedyOutcome::worse, 0.5);
  const Info facts = tuned_info(tuned_with({slower}));
  EXPECT_EQ(facts.text("run"), "results/train");
  EXPECT_EQ(facts.items("as_it_was_s").size(), 2U);
  const Info& one = facts.items("remedies").at(0);
  EXPECT_EQ(one.text("remedy"), "tf32");
  EXPECT_EQ(one.text("outcome"), "slower");
  EXPECT_EQ(one.number("times_as_fast"), 0.5);
  EXPECT_EQ(one.find("times_as_fast_low"), nullptr) << "one process has no interval";
}

}  // namespace
}  // namespace gpubench
