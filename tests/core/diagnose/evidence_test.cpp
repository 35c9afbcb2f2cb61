#include "core/diagnose/evidence.h"

#include <cmath>
#include <gmock/gmock.h>
#include <utility>

#include "core/results/host_cause.h"
#include "tests/core/diagnose/row.h"

namespace gpubench::evidence_test {
namespace {

using support::trained_row;

TEST(Evidence, SharesHaveTheIntervalsThatTheRowHas) {
  const RunFacts facts;
  const Record row = trained_row({{"mfu_low", 0.68}, {"mfu_high", 0.72}});
  const Evidence evidence(row, facts);
  EXPECT_EQ(evidence.share("mfu")->interval, (Interval{0.68, 0.72}));
  EXPECT_EQ(evidence.share("compute_share")->interval, std::nullopt);
  EXPECT_FALSE(evidence.share("peer_wait_share"));
  EXPECT_DOUBLE_EQ(*evidence.step_s(), 0.01);
  EXPECT_TRUE(evidence.has_own_memory());
}

TEST(Evidence, WhatARowDoesNotSayIsNotKnown) {
  const RunFacts facts;
  Record row = trained_row();
  for (const char* column : {"execution", "replicas", "batch_size"}) row.set(column, Cell{});
  const Evidence evidence(row, facts);
  EXPECT_FALSE(evidence.is_loop() || evidence.is_eager() || evidence.is_planned() || evidence.is_inference());
  EXPECT_FALSE(evidence.replicas());
  EXPECT_FALSE(evidence.step_s());
  EXPECT_FALSE(has_steps(row));
  row.set("traced_step_time_s", 0.25);
  EXPECT_EQ(evidence.step_s(), 0.25);
  EXPECT_TRUE(has_steps(row)) << "as a trace of another program";
}

TEST(Evidence, WhatIsNoNumberIsNotKnown) {
  const RunFacts facts;
  for (const Cell& cell : {Cell(std::nan("")), Cell(HUGE_VAL), Cell(std::string("much")), Cell(true)}) {
    const Record row = trained_row({{"launch_share", cell}, {"examples_per_s", cell}});
    EXPECT_FALSE(Evidence(row, facts).number("launch_share"));
    EXPECT_FALSE(Evidence(row, facts).step_s());
    EXPECT_FALSE(has_steps(row));
  }
}

TEST(Evidence, RunFactsComeFromRunJson) {
  const RunFacts facts = facts_of(parse_json(R"({
    "devices": [
      {"name": "gpu:0", "library": "x", "allows_tf32": true, "shares_host_memory": false, "memory_bytes": 1000,
       "peaks": {"float32_flops_per_s": 67e12, "float16_flops_per_s": 1, "bfloat16_flops_per_s": 2}},
      {"name": "cpu:0", "library": "float32 as TF32", "shares_host_memory": true}],
    "machine_checks": [{"name": "load", "state": "costs speed", "found": "3", "consequence": "c", "remedy": "r"}]
  })",
                                             "test"));
  ASSERT_EQ(facts.devices.size(), 2U);
  EXPECT_EQ(facts.devices[0].peaks.float32, 67e12);
  EXPECT_EQ(facts.devices[0].peaks.half, 2);
  EXPECT_EQ(facts.devices[0].memory_bytes, 1000);
  EXPECT_TRUE(facts.devices[0].allows_tf32);
  EXPECT_FALSE(facts.devices[1].allows_tf32) << "what the library's description says is for people";
  EXPECT_EQ(facts.devices[0].shares_host_memory, false);
  EXPECT_EQ(facts.devices[1].shares_host_memory, true);
  EXPECT_FALSE(facts.devices[1].peaks.float32);
  EXPECT_EQ(facts.machine.at(0).found, "3");
  EXPECT_EQ(facts.machine.at(0).state, CheckState::costs_speed);
}

TEST(Evidence, WhetherADeviceHasItsOwnMemoryIsAFactAndNotItsName) {
  RunFacts facts;
  facts.devices = {{.name = "cpu:0", .shares_host_memory = false}, {.name = "gpu:0", .shares_host_memory = true}};
  const auto has_own_memory = [&](const char* device) {
    const Record row = trained_row({{"device", std::string(device)}});
    return Evidence(row, facts).has_own_memory();
  };
  EXPECT_TRUE(has_own_memory("cpu:0"));
  EXPECT_FALSE(has_own_memory("gpu:0"));
  facts.devices.clear();  // of an older run
  EXPECT_FALSE(has_own_memory("cpu:0"));
  EXPECT_TRUE(has_own_memory("gpu:0"));
}

TEST(Evidence, ADoubtHasItsKindAndItsSentence) {
  const RunFacts facts;
  const auto doubt_of = [&](const char* quality, const char* kind) {
    const Record row = trained_row({{"quality", std::string(quality)}, {"doubt", std::string(kind)}});
    return Evidence(row, facts).doubt();
  };
  EXPECT_FALSE(doubt_of("ok", "busy"));
  EXPECT_EQ(doubt_of("unreliable: x", "busy").kind, DoubtKind::busy);
  EXPECT_EQ(doubt_of("unreliable: x", "busy").text, "x");
  EXPECT_EQ(doubt_of("x", "").kind, DoubtKind::unknown) << "of an older run";
}

TEST(Evidence, MalformedFactsAreLeftOut) {
  for (const char* json : {"{}", R"({"devices": 3, "machine_checks": {"a": 1}})",
                           R"({"devices": [4, {"name": ["x"], "peaks": [1], "memory_bytes": "much"}]})"}) {
    for (const DeviceFacts& device : facts_of(parse_json(json, "test")).devices) {
      EXPECT_EQ(device.name, "") << json;
      EXPECT_FALSE(device.memory_bytes) << json;
    }
  }
}

TEST(Evidence, TheDeviceIsTheFirstThatTheRowNames) {
  RunFacts facts;
  facts.devices = {{"gpu:1", {}, 1.0, false}, {"gpu:10", {}, 2.0, false}};
  const auto memory_of = [&](const char* device) {
    const Record row = trained_row({{"device", std::string(device)}});
    const DeviceFacts* const found = Evidence(row, facts).device();
    return found == nullptr ? 0.0 : *found->memory_bytes;
  };
  EXPECT_EQ(memory_of("gpu:1"), 1);
  EXPECT_EQ(memory_of("gpu:10"), 2);
  EXPECT_EQ(memory_of("gpu:0 gpu:10"), 2);
  EXPECT_EQ(memory_of("cpu:0+gpu:1"), 1);
  EXPECT_EQ(memory_of("gpu:100"), 0);
}

TEST(Evidence, WordsOfOtherVersionsHaveNoKind) {
  static const RunFacts facts;
  for (const auto& [word, known] : {std::pair{"readback", true}, {"", false}, {"a later word", false}}) {
    const Record row{{"copy_cause_kind", std::string(word)}, {"input_cause_kind", std::string(word)}};
    EXPECT_EQ(Evidence(row, facts).kind("copy_cause_kind", copy_cause_kinds).has_value(), known) << word;
    EXPECT_EQ(Evidence(row, facts).input_cause(), InputCauseKind::unknown) << word;
  }
}

}  // namespace
}  // namespace gpubench::evidence_test
