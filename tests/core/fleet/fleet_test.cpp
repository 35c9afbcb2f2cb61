// Histories of several machines, and what is said of them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/fleet/verdict.h"
#include "core/report/page/fleet_page.h"
#include "core/report/text/fleet_text.h"
#include "tests/core/history/nights.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::date_of;
using support::run_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

struct Measured {
  std::string host;
  int day = 0;
  double step_time_s = 0.01;
  std::string model = "NVIDIA H100";
  std::string slot = "gpu:0";
  std::string suite = "night";
  std::string quality = "ok";
  std::string machine_id = {};
  std::optional<double> share_of_peak = {};
};

Run run_with(const Measured& one) {
  Run run = run_of({.step_time_s = one.step_time_s,
                    .started = date_of(one.day),
                    .suite = one.suite,
                    .uuid = "GPU-" + one.host + one.slot + one.machine_id,
                    .host = one.host,
                    .experiment = "matmul" + one.slot.substr(one.slot.size() - 1),
                    .quality = one.quality});
  const Info::Fields details{{"uuid", "GPU-" + one.host + one.slot + one.machine_id}, {"name", one.model}};
  run.info.set("devices", Info::List{Info::Fields{{"name", one.slot}, {"description", "a GPU"}, {"details", details}}});
  run.info.set("machine", Info::Fields{{"host", one.host}, {"id", one.machine_id}});
  if (one.suite.empty()) run.info.set("tags", Info::List{});
  run.info.set("experiment", "matmul");
  run.records[0].set("device", one.slot);
  if (one.share_of_peak) {
    run.columns.push_back(column_of("reference_share"));
    run.columns.back().better = Better::higher;
    run.records[0].set("reference_share", *one.share_of_peak);
    run.info.set("figures", Info::List{"step_time_s", "flops_per_s", "reference_share"});
  }
  run.directory += one.slot + one.machine_id;  // runs of one host have names of their own
  return run;
}

/// A little apart, as machines are.
double near(double level, std::size_t machine, int day) {
  const auto step = static_cast<double>((machine * 7 + static_cast<std::size_t>(day) * 5) % 9) - 4;
  return level * (1 + 0.0008 * step);
}

class FleetTest : public TemporaryFolder {
 protected:
  void append(const Measured& one) { history().append(run_with(one)); }
  /// A night of `hosts` machines, the first of which is `factor` as slow.
  void night(int day, std::size_t hosts, double factor = 1) {
    for (std::size_t i = 0; i < hosts; ++i)
      append(
          {.host = fmt::format("node{}", i), .day = day, .step_time_s = near(i == 0 ? 0.01 * factor : 0.01, i, day)});
  }
  void nights(int count, std::size_t hosts, double factor = 1) {
    for (int day = 0; day < count; ++day) night(day, hosts, factor);
  }
  Info verdict(const std::vector<std::string>& hosts = {}, const std::string& suite = {}) {
    FleetReader reader;
    reader.add(history());
    return fleet_verdict(fleet_of(reader, suite), hosts);
  }
  RunHistory& history() {
    if (!history_) history_.emplace(file("history.db"));
    return *history_;
  }

 private:
  std::optional<RunHistory> history_;
};

std::vector<std::string> named(const Info& verdict) {
  std::vector<std::string> names;
  for (const Info& group : verdict.items("groups"))
    for (const Info& one : group.items("stand_outs")) names.push_back(one.text("machine"));
  return names;
}

TEST_F(FleetTest, OneThatWasSlowFromItsFirstNightIsNamedWithWhatToDo) {
  nights(9, 12, 1.4);
  const Info found = verdict();
  EXPECT_EQ(found.text("state"), "stands_out");
  EXPECT_THAT(found.text("headline"), "1 of 12 machines stands out in the night of 2026-01-09: node0");
  const Info& one = found.items("groups").at(0).items("stand_outs").at(0);
  EXPECT_EQ(one.text("since"), "2026-01-01");
  EXPECT_EQ(one.text("since_first"), "true");
  EXPECT_EQ(one.text("action"), "take out");
  EXPECT_THAT(one.text("text"), HasSubstr("2 of 2 figures 40.1 % slower than its siblings"));
  const std::string text = fleet_text(found, false);
  EXPECT_THAT(text, AllOf(HasSubstr("NVIDIA H100, suite night: 12 machines, 2 figures, 9 nights"),
                          HasSubstr("node0 stands out since its first night here, 2026-01-01 (9 nights)"),
                          HasSubstr("-> take it out of service"), HasSubstr("at most 1 of 100 000 figures"),
                          HasSubstr("matmul step_time_s of size=64")));
  EXPECT_THAT(text, Not(HasSubstr("did not report")));
  EXPECT_THAT(fleet_csv(found),
              HasSubstr("night,NVIDIA H100,2026-01-09,node0,gpu:0,matmul,size=64,step_time_s,s,lower"));
}

TEST_F(FleetTest, NobodyStandsOutAmongEqualMachines) {
  nights(9, 12);
  const Info found = verdict();
  EXPECT_EQ(found.text("state"), "calm");
  EXPECT_THAT(fleet_text(found, false), AllOf(HasSubstr("No machine of 12 stands out"), HasSubstr("none of them")));
}

TEST_F(FleetTest, WhoDidNotReportIsNamed) {
  nights(9, 12);
  for (int day = 9; day < 11; ++day) night(day, 10);
  append({.host = "node3", .day = 5, .slot = "gpu:1"});
  const Info found = verdict();
  std::vector<std::string> lines;
  for (const Info& one : found.items("not_reported")) lines.push_back(not_reported_text(one));
  EXPECT_THAT(lines,
              ElementsAre("node10 (last 2026-01-09, 2 nights missed)", "node11 (last 2026-01-09, 2 nights missed)",
                          "gpu:1 of node3 (last 2026-01-06, 5 nights missed)"));
  EXPECT_THAT(found.text("headline"), HasSubstr("; 3 did not report"));
}

TEST_F(FleetTest, ThreeMachinesAreTooFewAndOneHasNoSiblings) {
  nights(9, 3, 2);
  append({.host = "other", .day = 8, .model = "NVIDIA T4"});
  const Info found = verdict();
  EXPECT_EQ(found.text("state"), "not_judged");
  EXPECT_THAT(
      fleet_text(found, false),
      AllOf(HasSubstr("Nothing could be judged: 3 machines of this model: each has 2 siblings, and needs 3"),
            HasSubstr("NVIDIA T4, suite night: 1 machine, 2 figures, 9 nights: one machine of this model has no "
                      "siblings; it needs 3")));
  EXPECT_THAT(found.text("headline"), HasSubstr("(4 machines in all)"));
}

TEST_F(FleetTest, ModelsAreJudgedByThemselves) {
  nights(9, 12);
  for (int day = 0; day < 9; ++day)
    for (std::size_t i = 0; i < 5; ++i)
      append({.host = fmt::format("old{}", i), .day = day, .step_time_s = near(0.05, i, day), .model = "NVIDIA T4"});
  EXPECT_THAT(named(verdict()), IsEmpty());
}

TEST_F(FleetTest, OneOfItsKindIsComparedByTheShareOfItsPeak) {
  for (std::size_t i = 0; i < 12; ++i)
    append({.host = fmt::format("node{}", i), .step_time_s = near(0.01, i, 0), .share_of_peak = near(1.3, i, 0)});
  append({.host = "old", .step_time_s = 0.05, .model = "NVIDIA T4", .share_of_peak = 1.2});
  append({.host = "odd", .step_time_s = 0.05, .model = "NVIDIA L4", .share_of_peak = 0.5});
  const Info found = verdict();
  EXPECT_THAT(named(found), ElementsAre("odd (NVIDIA L4)"));
  EXPECT_THAT(fleet_text(found, false), HasSubstr("All models, by the share of what each should reach"));
}

TEST_F(FleetTest, UnreliableValuesDoNotCountAndAreShown) {
  night(0, 12);
  append({.host = "slow", .step_time_s = 0.03, .quality = "unstable"});
  const Info found = verdict();
  EXPECT_THAT(named(found), IsEmpty());
  EXPECT_THAT(fleet_text(found, true),
              AllOf(HasSubstr("(unreliable)"), HasSubstr("2 values of tonight are not reliable")));
}

TEST_F(FleetTest, CardsOfOneHostAreSiblings) {
  for (int day = 0; day < 9; ++day)
    for (std::size_t i = 0; i < 8; ++i)
      append({.host = "node",
              .day = day,
              .step_time_s = near(i == 3 ? 0.02 : 0.01, i, day),
              .slot = fmt::format("gpu:{}", i)});
  EXPECT_THAT(named(verdict()), ElementsAre("gpu:3 of node"));
}

TEST_F(FleetTest, TwoMachinesOfOneNameAreToldApart) {
  nights(9, 10);
  for (int day = 0; day < 9; ++day)
    for (const std::string id : {"aaaaaaaaaa", "bbbbbbbbbb"})
      append({.host = "twin", .day = day, .step_time_s = near(id[0] == 'b' ? 0.02 : 0.01, 3, day), .machine_id = id});
  const Info found = verdict();
  EXPECT_THAT(named(found), ElementsAre("twin (machine bbbbbbbb)"));
  EXPECT_THAT(fleet_text(found, false), HasSubstr("2 machines have the name twin"));
}

TEST_F(FleetTest, RunsByHandCountOnlyWhereThereIsNoSuite) {
  for (std::size_t i = 0; i < 6; ++i)
    append({.host = fmt::format("node{}", i), .step_time_s = near(0.01, i, 0), .suite = ""});
  EXPECT_EQ(verdict().text("machines"), "6");
  EXPECT_THAT(verdict().items("not_reported"), IsEmpty());
  night(20, 12);
  EXPECT_EQ(verdict().text("machines"), "12");
  EXPECT_THAT(verdict().items("groups"), SizeIs(1));
}

// Older programs gave nights no id.
TEST_F(FleetTest, ANightOverMidnightIsOne) {
  for (int day = 0; day < 3; ++day) {
    for (std::size_t i = 0; i < 6; ++i) {
      for (const char* const slot : {"gpu:0", "gpu:1"}) {
        auto run =
            run_with({.host = fmt::format("node{}", i), .day = day, .step_time_s = near(0.01, i, day), .slot = slot});
        const bool first = std::string_view(slot) == "gpu:0";
        run.info.set("started", fmt::format("2026-01-{:02}T{}:10:00Z", first ? day + 1 : day + 2, first ? "23" : "01"));
        history().append(run);
      }
    }
  }
  const Info found = verdict();
  EXPECT_THAT(found.items("not_reported"), IsEmpty());
  EXPECT_EQ(found.items("groups").at(0).text("nights"), "3");
  EXPECT_EQ(found.text("tonight"), "2026-01-03");
}

TEST_F(FleetTest, HistoriesThatShareRunsCountThemOnce) {
  nights(3, 6);
  FleetReader reader;
  reader.add(history());
  reader.add(history());
  const Info twice = fleet_verdict(fleet_of(reader));
  EXPECT_EQ(twice.text("machines"), "6");
  EXPECT_EQ(to_json(*twice.find("groups")), to_json(*verdict().find("groups")));
}

TEST_F(FleetTest, AskedForOneMachineItShowsThatOneAmongAll) {
  nights(9, 12, 1.4);
  const Info found = verdict({"node5"});
  EXPECT_EQ(found.text("state"), "calm");
  EXPECT_THAT(fleet_text(found, false),
              AllOf(HasSubstr("No machine of 1 stands out"), HasSubstr("node5"),
                    HasSubstr("NVIDIA H100, suite night: 12 machines"), Not(HasSubstr("node0"))));
  EXPECT_ERROR(AllOf(HasSubstr("fleet: no host 'node55' (did you mean"), HasSubstr("known: node0")),
               verdict({"node55"}));
  EXPECT_ERROR(HasSubstr("fleet: no suite 'nigth' (did you mean 'night'?)"), verdict({}, "nigth"));
}

TEST_F(FleetTest, ThePageHasTheAnswerAndTheMatrix) {
  nights(9, 12, 1.4);
  append({.host = "node<b>", .day = 3});
  const Info found = verdict();
  const std::string page = fleet_page(found, fleet_csv(found));
  EXPECT_THAT(
      page, AllOf(HasSubstr("<h1>1 of 12 machines stands out in the night of 2026-01-09: node0; 1 did not report</h1>"),
                  HasSubstr("class=\"right verdict refuted\">40."), HasSubstr("take it out of service"),
                  HasSubstr("node&lt;b&gt; (last 2026-01-04"), HasSubstr("download=\"fleet.csv\"")));
}

TEST_F(FleetTest, ThePageSaysWhetherNobodyStandsOutOrNothingWasJudged) {
  EXPECT_THAT(fleet_page(verdict(), {}), HasSubstr("Nothing could be judged."));
  nights(9, 12);
  EXPECT_THAT(fleet_page(verdict(), {}), HasSubstr("No machine stands out."));
}

TEST_F(FleetTest, AnEmptyHistoryHasNothingToJudge) {
  const Info found = verdict();
  EXPECT_EQ(found.text("state"), "not_judged");
  EXPECT_THAT(found.text("headline"), "Nothing could be judged: there are no figures of tonight");
}

}  // namespace
}  // namespace gpubench
