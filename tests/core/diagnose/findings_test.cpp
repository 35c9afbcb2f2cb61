#include "core/diagnose/findings.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

#include "core/results/step_classes.h"
#include "tests/core/diagnose/row.h"

namespace gpubench::findings_test {
namespace {

using support::trained_row;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string verdict_of(const Record& more) {
  return diagnose(trained_row(more), {}).verdict();
}

TEST(FindingTable, EveryFindingIsDescribed) {
  std::set<std::string_view> names;
  for (const FindingRule* const rule : finding_rules()) {
    EXPECT_TRUE(names.insert(rule->name).second) << rule->name;
    for (const std::string_view text :
         {rule->title, rule->meaning, rule->rule, rule->proof.lua, rule->proof.pytorch, rule->proof.keras})
      EXPECT_NE(text, "") << rule->name;
    EXPECT_FALSE(rule->thresholds.empty()) << rule->name;
    for (const Threshold& limit : rule->thresholds) {
      EXPECT_NE(limit.text, "") << rule->name;
      EXPECT_NE(limit.source, "") << rule->name;
    }
  }
}

TEST(FindingTable, EveryRemedyBelongsToAFinding) {
  for (const RemedyText& remedy : remedies()) EXPECT_THAT(findings_with(remedy.remedy), Not(IsEmpty())) << remedy.name;
  EXPECT_THAT(findings_with(Remedy::one_device), ElementsAre("copy_bound", "placement_crossings", "compute_bound"));
}

TEST(FindingTable, FindingsProposeOnlyDeclaredRemedies) {
  const Record losing{{"input_wait_share", 0.1},
                      {"launch_share", 0.1},
                      {"host_share", 0.1},
                      {"copy_share", 0.1},
                      {"compute_share", 0.6}};
  for (const Finding& finding : diagnose(trained_row(losing), {}).findings) {
    for (const Remedy remedy : finding.remedies) {
      EXPECT_NE(std::ranges::find(finding.rule->remedies, remedy), finding.rule->remedies.end())
          << finding.rule->name << ": " << to_string(remedy);
    }
  }
}

TEST(Verdict, IsTheFindingWithTheLargestGain) {
  EXPECT_EQ(verdict_of({{"input_wait_share", 0.42}, {"launch_share", 0.1}, {"compute_share", 0.45}}),
            "input bound: 42 % of the step");
  EXPECT_EQ(verdict_of({{"input_wait_share", 0.1}, {"launch_share", 0.42}, {"compute_share", 0.45}}),
            "launch bound (batch too small): 42 % of the step");
}

TEST(Verdict, WithNothingToGainItIsTheGoodEnd) {
  EXPECT_EQ(verdict_of({}), "compute bound: 70 % of the best rate");
}

TEST(Verdict, BusyKernelsAreNoFindingBesideOthers) {
  EXPECT_THAT(diagnose(trained_row(), {}).findings, SizeIs(1));
  const Diagnosis diagnosis = diagnose(trained_row({{"host_share", 0.2}, {"compute_share", 0.76}}), {});
  ASSERT_THAT(diagnosis.findings, SizeIs(1));
  EXPECT_EQ(diagnosis.cause(), "host bound (callbacks or synchronization)");
}

TEST(Verdict, OfKernelsBelowTheirPeakNamesTheirRateBeforeALittleGain) {
  EXPECT_EQ(verdict_of({{"host_share", 0.04}, {"compute_share", 0.9}, {"mfu", 0.34}}),
            "compute bound (kernels below their peak): 34 % of the best rate, then host bound (callbacks or "
            "synchronization): 4 % of the step");
}

TEST(Verdict, OfABusyStepWithLittleToGainNamesBoth) {
  const Diagnosis little = diagnose(trained_row({{"host_share", 0.04}, {"compute_share", 0.9}}), {});
  EXPECT_EQ(little.verdict(), "compute bound, then host bound (callbacks or synchronization): 4 % of the step");
  EXPECT_EQ(little.cause(), "compute bound, then host bound (callbacks or synchronization)");
  EXPECT_EQ(verdict_of({{"host_share", 0.11}, {"compute_share", 0.85}}),
            "host bound (callbacks or synchronization): 11 % of the step");
  EXPECT_EQ(
      verdict_of({{"host_share", 0.04}, {"input_wait_share", 0.035}, {"compute_share", 0.65}, {"launch_share", 0.0}}),
      "host bound (callbacks or synchronization): 4 % of the step")
      << "kernels do not take most of it";
}

TEST(Verdict, OfAnUnreliableRowIsOpen) {
  EXPECT_EQ(verdict_of({{"quality", std::string("unreliable: the median is known to 24 % only")}, {"host_share", 0.5}}),
            "cannot tell: the row is unreliable");
}

TEST(Verdict, OfAShareInDoubtIsOpen) {
  const std::string verdict = verdict_of({{"input_wait_share", 0.06},
                                          {"input_wait_low_share", 0.01},
                                          {"input_wait_high_share", 0.11},
                                          {"compute_share", 0.9}});
  EXPECT_EQ(verdict,
            "cannot tell: input bound: 6 % of the step, but its interval 6 % [1 %, 11 %] reaches below the "
            "limit of 5 %");
}

TEST(Verdict, IsOpenWhereMoreIsUnknownThanFound) {
  const auto row = [](double waiting) {
    Record record = trained_row({{"input_wait_share", waiting}});
    for (const char* column : {"compute_share", "launch_share", "host_share", "other_share", "copy_share", "mfu"})
      record.set(column, Cell{});
    return diagnose(record, {}).verdict();
  };
  EXPECT_EQ(row(0.3), "cannot tell: 70 % of the step is divided among no class");
  EXPECT_EQ(row(0.6), "input bound: 60 % of the step");  // no other class can have more
}

TEST(Verdict, IsInTheWordsOfTheFramework) {
  Record loop = trained_row({{"host_share", 0.4}, {"host_low_share", 0.0}, {"host_high_share", 0.8}});
  loop.set("execution", Cell{});
  loop.set("steps_of", std::string("loop"));
  EXPECT_THAT(diagnose(loop, {}).verdict(), HasSubstr("Lua in every step"));
  EXPECT_THAT(diagnose(loop, {}).findings.front().flag, HasSubstr("--budget"));
  const Diagnosis diagnosis = diagnose(loop, {}, Words::pytorch);
  EXPECT_THAT(diagnosis.verdict(), HasSubstr("Python in every step"));
  EXPECT_EQ(diagnosis.findings.front().flag, "measure more steps");
  for (const FindingRule* const rule : finding_rules()) {
    for (const std::string_view proof : {rule->proof.pytorch, rule->proof.keras})
      EXPECT_THAT(std::string(proof), Not(ContainsRegex("gb[.]|--|_share|_per_s|resident = |execution = ")))
          << rule->name;
  }
}

TEST(Verdict, IsForRowsWithStepsOnly) {
  EXPECT_THAT(diagnose(Record{{"status", std::string("ok")}, {"elements_per_s", 3.0}}, {}).findings, IsEmpty());
  EXPECT_NE(diagnose(trained_row({{"op", std::string("matmul")}}), {}).verdict(), "") << "an axis of the script";
  Record traced{{"traced_step_time_s", 0.01}, {"input_wait_share", 0.9}};
  EXPECT_EQ(diagnose(traced, {}).verdict(), "");
  traced.set("steps_of", std::string("foreign"));
  EXPECT_EQ(diagnose(traced, {}).verdict(), "input bound: 90 % of the step");
  EXPECT_EQ(diagnose(trained_row({{"status", std::string("error")}}), {}).verdict(), "");
  EXPECT_EQ(diagnose(Record{{"status", std::string("out_of_memory")}}, {}).verdict(), "out of memory");
}

TEST(Verdict, EveryRowWithStepsHasOne) {
  // Any split of a step has a largest class.
  for (int seed = 0; seed < 500; ++seed) {
    Record row = trained_row();
    double rest = 1;
    std::size_t index = 0;
    for (const StepClass& one : step_classes) {
      const double share =
          ++index == step_classes.size() ? rest : rest * ((seed * 37 + static_cast<int>(index) * 61) % 100) / 100;
      row.set(one.column, share);
      rest -= share;
    }
    const Diagnosis diagnosis = diagnose(row, {});
    EXPECT_NE(diagnosis.verdict(), "") << seed;
    for (std::size_t i = 1; i < diagnosis.findings.size(); ++i)
      EXPECT_GE(diagnosis.findings[i - 1].gain.value, diagnosis.findings[i].gain.value);
  }
}

TEST(Verdict, NamesFindingsTogetherThatNoNoiseTellsApart) {
  const Record losing{{"input_wait_share", 0.25}, {"host_share", 0.24}, {"compute_share", 0.5}};
  EXPECT_EQ(verdict_of(losing),
            "input bound: 25 % of the step; as much: host bound (callbacks or synchronization): 24 % of the step");
  EXPECT_EQ(diagnose(trained_row(losing), {}).cause(), "input bound and host bound (callbacks or synchronization)");
  Record known = losing;
  for (const auto& [column, value] : {std::pair{"input_wait_low_share", 0.246},
                                      {"input_wait_high_share", 0.254},
                                      {"host_low_share", 0.236},
                                      {"host_high_share", 0.244}})
    known.set(column, value);
  EXPECT_EQ(verdict_of(known), "input bound: 25 % of the step") << "both are known well enough";
  known.set("host_high_share", 0.247);
  EXPECT_THAT(verdict_of(known), ::testing::HasSubstr("; as much: host bound"));
  EXPECT_EQ(verdict_of({{"input_wait_share", 0.25}, {"host_share", 0.22}, {"compute_share", 0.5}}),
            "input bound: 25 % of the step");
}

TEST(Verdict, RemediesThatAreOfNoUseAreLeftOut) {
  const Record row = trained_row({{"input_wait_share", 0.5},
                                  {"compute_share", 0.45},
                                  {"pipeline_stages", std::string("idx; map workers=autotune; batch; prefetch")}});
  const Finding finding = diagnose(row, {}).findings.front();
  EXPECT_THAT(finding.remedies, ElementsAre(Remedy::cache));
  ASSERT_THAT(finding.left_out, SizeIs(2));
  EXPECT_EQ(finding.left_out[0],
            std::pair(Remedy::prefetch, std::string("the pipeline runs ahead of the training already")));
}

TEST(Machine, FactsThatCostSpeedStandBesideTheFindings) {
  RunFacts facts;
  facts.machine = {{"load", "", CheckState::costs_speed, "3 programs run", "cores are shared", "stop them"},
                   {"governor", "", CheckState::ok, "performance", "", ""},
                   {"gpu_memory", "gpu:1", CheckState::costs_speed, "90 % taken", "less is left", "end them"}};
  const Diagnosis diagnosis = diagnose(trained_row({{"throttle", std::string("thermal slowdown")}}), facts);
  ASSERT_THAT(diagnosis.machine, SizeIs(2));
  EXPECT_EQ(diagnosis.machine[0].name, "load");
  EXPECT_EQ(diagnosis.machine[1].found, "thermal slowdown");
}

}  // namespace
}  // namespace gpubench::findings_test
