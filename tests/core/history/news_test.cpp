#include "core/history/news.h"

#include <gmock/gmock.h>

#include "core/history/judge.h"
#include "core/history/merge.h"
#include "core/history/night_state.h"
#include "tests/core/history/nights.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::near;
using support::Night;
using support::run_of;
using support::runs_with;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class NewsTest : public TemporaryFolder {
 protected:
  static gpubench::Run night_of(Night night, int day, double value) {
    night.started = support::date_of(day);
    night.step_time_s = value;
    gpubench::Run run = run_of(night);
    run.info.set("tags", Info::List{"suite=" + night.suite, "night=n" + std::to_string(day)});
    return run;
  }
  /// Nights of three experiments that become 10 % slower on day 20.
  void append_fault(RunHistory& history) const {
    for (int day = 0; day < 40; ++day) {
      for (const char* const name : {"one", "two", "three"}) {
        const bool slow = day >= 20;
        history.append(night_of({.experiment = name}, day, (slow ? 0.011 : 0.01) * (1 + 0.001 * (day * 7 % 5 - 2))));
      }
    }
  }
  RunHistory history_{file("history.db")};
};

TEST_F(NewsTest, OneCauseIsOneLine) {
  append_fault(history_);
  EXPECT_THAT(judge(history_), SizeIs(6)) << "time and rate of three experiments";
  const auto news = untold_news(history_, "night", "a");
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_TRUE(is_alarm(news[0].kind));
  EXPECT_THAT(news[0].line, AllOf(HasSubstr("a: 6 of 6 figures 10.0"), HasSubstr(" % slower since 2026-01-21"),
                                  HasSubstr("cause: machine: no recorded fact differs"), HasSubstr("all on gpu:0")));
  for (const ReportedChange& change : history_.changes()) EXPECT_EQ(change.alarm, news[0].id);
  EXPECT_EQ(history_.resolve(news[0].id, "", "now"), 6u);
}

TEST_F(NewsTest, AreToldOnce) {
  append_fault(history_);
  judge(history_);
  const auto news = untold_news(history_);
  ASSERT_THAT(news, SizeIs(1));
  set_told(history_, {news[0].id}, "n40");
  EXPECT_THAT(untold_news(history_), IsEmpty());
  judge(history_);
  EXPECT_THAT(untold_news(history_), IsEmpty());
}

TEST_F(NewsTest, HaveTheSameIdWhereverTheyAreFound) {
  append_fault(history_);
  judge(history_);
  RunHistory rebuilt(file("rebuilt.db"));
  append_fault(rebuilt);
  judge(rebuilt);
  ASSERT_THAT(untold_news(rebuilt), SizeIs(1));
  EXPECT_EQ(untold_news(rebuilt)[0].id, untold_news(history_)[0].id);
  RunHistory other(file("other.db"));
  for (int day = 0; day < 40; ++day)
    other.append(night_of({.host = "b"}, day, (day < 20 ? 0.01 : 0.011) + 1e-6 * (day % 3)));
  judge(other);
  EXPECT_NE(untold_news(other)[0].id, untold_news(history_)[0].id);
}

TEST_F(NewsTest, AMergeTakesOverWhatWasTold) {
  RunHistory there(file("there.db"));
  append_fault(there);
  judge(there);
  support::merge(history_, file("there.db"));
  judge(history_);
  ASSERT_THAT(untold_news(history_), SizeIs(1)) << "nobody was told there";
  set_told(there, {untold_news(there)[0].id}, "n40");
  support::merge(history_, file("there.db"));
  EXPECT_THAT(untold_news(history_), IsEmpty());
}

TEST_F(NewsTest, ARepairNamesItsAlarm) {
  for (const auto& run : runs_with(near(0.01, 20))) history_.append(run);
  for (const auto& run : runs_with(near(0.02, 8), {}, 20)) history_.append(run);
  judge(history_);
  const auto alarm = untold_news(history_);
  ASSERT_THAT(alarm, SizeIs(1));
  set_told(history_, {alarm[0].id}, "n28");
  for (const auto& run : runs_with(near(0.01, 3), {}, 28)) history_.append(run);
  judge(history_);
  const auto repair = untold_news(history_);
  ASSERT_THAT(repair, SizeIs(1));
  EXPECT_EQ(repair[0].kind, NewsKind::recovered);
  EXPECT_FALSE(is_alarm(repair[0].kind));
  EXPECT_THAT(repair[0].line, HasSubstr("#" + alarm[0].id + ": 2 figures of a, since 20260129T"));
}

TEST_F(NewsTest, TheCauseIsLookedForNearThePlace) {
  // The driver changed on the night before the one in which the change is seen.
  for (int day = 0; day < 40; ++day)
    history_.append(
        night_of({.driver = day < 18 ? "580.1" : "590.2"}, day, (day < 20 ? 0.01 : 0.0103) * (1 + 0.0005 * (day % 3))));
  const auto changes = judge(history_);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].cause, "environment (devices.gpu:0.details.driver 580.1 -> 590.2)");
}

TEST_F(NewsTest, AStateIsToldWhenItBegins) {
  const News news{.host = "a", .suite = "s", .kind = NewsKind::device, .night = "n1", .line = "gpu: there is none"};
  EXPECT_EQ(tell_state(history_, news, "absent gpu", "2026-01-01"), "");
  EXPECT_EQ(tell_state(history_, news, "absent gpu", "2026-01-02"), "2026-01-01");
  EXPECT_THAT(untold_news(history_), SizeIs(1));
  remember(history_, "a", "s", "absent gpu", "");
  EXPECT_FALSE(remembered(history_, "a", "s", "absent gpu"));
  News later = news;
  later.night = "n9";
  EXPECT_EQ(tell_state(history_, later, "absent gpu", "2026-01-09"), "");
  EXPECT_THAT(untold_news(history_), SizeIs(2)) << "it was lost again";
}

class CardsTest : public NewsTest {
 protected:
  gpubench::Run on_slot(const std::string& slot, const std::string& uuid, int day, double value = 0.01) const {
    gpubench::Run run = night_of({.uuid = uuid}, day, value);
    Info device = Info::Fields{{"name", slot}, {"description", "a GPU"}, {"details", Info::Fields{{"uuid", uuid}}}};
    run.info.set("devices", Info::List{std::move(device)});
    run.records[0].set("device", slot);
    return run;
  }
};

TEST_F(CardsTest, ACardTakesItsSeriesToAnotherSlot) {
  for (int day = 0; day < 12; ++day) history_.append(on_slot("gpu:1", "GPU-b", day));
  history_.append(on_slot("gpu:0", "GPU-b", 12));
  EXPECT_THAT(history_.series(), SizeIs(3));
  EXPECT_EQ(history_.series()[0].key.slot, "gpu:0");
  EXPECT_THAT(cards_of(history_, "a"), testing::ElementsAre(Pair("GPU-b", "gpu:0")));
  std::size_t points = 0;
  history_.for_each_series(history_.series(), [&](const HistorySeries&, const auto& all) { points = all.size(); });
  EXPECT_EQ(points, 13u);
}

TEST_F(CardsTest, AnOlderRunDoesNotMoveItBack) {
  history_.append(on_slot("gpu:0", "GPU-b", 12));
  history_.append(on_slot("gpu:1", "GPU-b", 3));
  EXPECT_THAT(history_.series(), SizeIs(3));
  EXPECT_EQ(history_.series()[0].key.slot, "gpu:0");
}

TEST_F(CardsTest, ASlotWithAnotherCardIsAnotherSeries) {
  history_.append(on_slot("gpu:0", "GPU-b", 1));
  history_.append(on_slot("gpu:0", "GPU-c", 2));
  EXPECT_THAT(history_.series(), SizeIs(6));
}

TEST_F(CardsTest, DevicesWithoutAnIdStayInTheirSlots) {
  history_.append(on_slot("gpu:0", "", 1));
  history_.append(on_slot("gpu:1", "", 2));
  EXPECT_THAT(history_.series(), SizeIs(6));
  EXPECT_THAT(cards_of(history_, "a"), IsEmpty());
}

TEST_F(CardsTest, SeriesOfOneCardInTwoSlotsAreJoined) {
  history_.append(on_slot("gpu:1", "GPU-b", 1));
  history_.database().execute("UPDATE series SET card = 'x'");
  history_.append(on_slot("gpu:0", "GPU-b", 2));
  history_.database().execute("UPDATE series SET card = 'GPU-b'");  // as an older program kept them
  ASSERT_THAT(history_.series(), SizeIs(6));
  history_.append(on_slot("gpu:0", "GPU-b", 3));
  EXPECT_THAT(history_.series(), SizeIs(3));
  std::size_t points = 0;
  history_.for_each_series(history_.series(), [&](const HistorySeries&, const auto& all) { points = all.size(); });
  EXPECT_EQ(points, 3u);
}

TEST_F(CardsTest, TheAlarmsOfACardThatIsGoneAreClosed) {
  for (int day = 0; day < 30; ++day)
    history_.append(on_slot("gpu:0", "GPU-b", day, (day < 20 ? 0.01 : 0.02) + 1e-6 * (day % 5)));
  ASSERT_THAT(judge(history_), SizeIs(2));
  EXPECT_EQ(close_changes_of_card(history_, "a", "GPU-b", "2026-02-01"), 2u);
  for (const ReportedChange& change : history_.changes()) EXPECT_EQ(change.state, ChangeState::resolved);
}

TEST_F(CardsTest, TwoMachinesOfOneNameAreToldApart) {
  const auto of_machine = [&](const std::string& id, int day) {
    gpubench::Run run = on_slot("gpu:0", "GPU-b", day);
    run.info.set("machine", Info::Fields{{"host", "a"}, {"id", id}});
    history_.append(run);
  };
  of_machine("11111111", 1);
  of_machine("22222222", 2);
  EXPECT_FALSE(machines_of_one_name(history_, "a")) << "it may have been set up anew";
  of_machine("11111111", 3);
  const auto found = machines_of_one_name(history_, "a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, "11111111");
  EXPECT_EQ(found->second, "22222222");
}

}  // namespace
}  // namespace gpubench
