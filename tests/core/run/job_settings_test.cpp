#include "core/run/job_settings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>

namespace gpubench {
namespace {

AgentProcess process_with(const std::string& fact) {
  AgentProcess process;
  process.facts.push_back(parse_json(fact, "fact"));
  return process;
}

/// Steps in which the optimizer takes this share.
struct OptimizerSteps : JobSteps {
  explicit OptimizerSteps(double share) {
    site.kind = SiteKind::loop_optimizer;
    sites.push_back({.site = &site, .share = share});
  }
  AgentSite site;
};

TEST(Execution, IsThatOfTheStepsThatAreMarked) {
  AgentProcess process;
  const auto marked = [&](const char* mark) {
    process.step_mark = mark;
    return execution_of(process);
  };
  EXPECT_EQ(marked("gradient main"), "eager");
  EXPECT_EQ(marked("jit train_step"), "graph");
  EXPECT_EQ(marked("tf.function train_step"), "graph");
  EXPECT_EQ(marked("torch optimizer Adam"), "") << "nothing is known of the model";
  process = process_with(R"({"fact": "model", "compiled": false})");
  EXPECT_EQ(marked("torch optimizer Adam"), "eager");
  process = process_with(R"({"fact": "model", "compiled": true})");
  EXPECT_EQ(marked("torch optimizer Adam"), "graph");
}

TEST(Execution, OfKerasDependsOnItsBackend) {
  const auto keras = [](const char* backend, const char* eagerly, const char* jit) {
    AgentProcess process =
        process_with(fmt::format(R"({{"fact": "framework", "name": "keras", "backend": "{}"}})", backend));
    process.facts.push_back(
        parse_json(fmt::format(R"({{"fact": "model", "run_eagerly": {}, "jit_compile": {}}})", eagerly, jit), "fact"));
    process.step_mark = "keras train batch";
    return execution_of(process);
  };
  EXPECT_EQ(keras("tensorflow", "false", "false"), "graph");
  EXPECT_EQ(keras("tensorflow", "true", "false"), "eager");
  EXPECT_EQ(keras("jax", "false", "true"), "graph");
  EXPECT_EQ(keras("torch", "false", "false"), "eager");
  EXPECT_EQ(keras("torch", "false", "true"), "graph");
}

TEST(OperatorsSetting, IsEagerExecutionWhereTheModelWasCompiled) {
  const AgentProcess process =
      process_with(R"({"fact": "model", "compile_file": "/b/train.py", "compile_line": 41, "run_eagerly": true})");
  EXPECT_EQ(operators_setting(process, {}), "run_eagerly=True, compiled at train.py:41");
}

TEST(OperatorsSetting, IsOneStepACallWhereTheModelWasCompiled) {
  const auto compiled = [](int steps) {
    return process_with(fmt::format(
        R"({{"fact": "model", "compile_file": "a.py", "compile_line": 7, "run_eagerly": false, "steps_per_execution": {}}})",
        steps));
  };
  EXPECT_EQ(operators_setting(compiled(1), {}), "steps_per_execution=1, compiled at a.py:7");
  EXPECT_EQ(operators_setting(compiled(16), {}), "");
  AgentProcess on_torch = compiled(1);
  on_torch.facts.push_back(parse_json(R"({"fact": "framework", "name": "keras", "backend": "torch"})", "fact"));
  EXPECT_EQ(operators_setting(on_torch, {}), "") << "Keras on PyTorch takes no other number";
}

TEST(OperatorsSetting, IsAnOptimizerThatIsNotFusedWhereItTakesMuch) {
  const AgentProcess process = process_with(
      R"({"fact": "model", "optimizer": "AdamW", "optimizer_file": "/b/train.py", "optimizer_line": 42, "fused": null})");
  EXPECT_EQ(operators_setting(process, OptimizerSteps(0.47)),
            "AdamW of train.py:42 without fused=True takes 47 % of the step");
  EXPECT_EQ(operators_setting(process, OptimizerSteps(0.1)), "");
  const AgentProcess fused = process_with(
      R"({"fact": "model", "optimizer": "AdamW", "optimizer_file": "/b/train.py", "optimizer_line": 42, "fused": true})");
  EXPECT_EQ(operators_setting(fused, OptimizerSteps(0.47)), "");
}

TEST(OperatorsSetting, OfAProcessWithoutAModelIsUnknown) {
  EXPECT_EQ(operators_setting({}, OptimizerSteps(0.9)), "");
}

TEST(CompileReason, IsTheArgumentThatChangedLast) {
  AgentProcess process = process_with(R"({"fact": "compile", "what": "jit step", "count": 1})");
  EXPECT_EQ(compile_reason(process), "") << "the first compilation has no reason";
  process.facts.push_back(parse_json(
      R"json({"fact": "compile", "count": 2, "argument": "argument 2", "before": "int32 (8, 97)",
              "after": "int32 (8, 120)", "array": true})json",
      "fact"));
  EXPECT_EQ(compile_reason(process), "argument 2 changes: int32 (8, 97), then int32 (8, 120)");
  process.facts.push_back(parse_json(
      R"({"fact": "compile", "count": 3, "argument": "argument 3", "before": "0.95", "after": "0.941", "array": false})",
      "fact"));
  EXPECT_EQ(compile_reason(process), "argument 3 changes: 0.95, then 0.941; as an array or a tensor it is no constant");
}

/// list_files, map (52), map (53), batch (54), prefetch (54).
AgentProcess pipeline() {
  return process_with(
      R"({"fact": "dataset", "stages": [{"name": "TensorSlice", "file": "t.py", "line": 51},
          {"name": "Map", "file": "t.py", "line": 52}, {"name": "ParallelMap", "file": "t.py", "line": 53},
          {"name": "Batch", "file": "t.py", "line": 54}, {"name": "Prefetch", "file": null, "line": null}]})");
}

TEST(LineOfStage, IsThatOfTheStageOfTheSamePlace) {
  EXPECT_EQ(line_of_stage(pipeline(), "Iterator::Root::Prefetch::BatchV2::ParallelMapV2"), "t.py:53");
  EXPECT_EQ(line_of_stage(pipeline(), "Iterator::Root::Prefetch::BatchV2::ParallelMapV2::Map"), "t.py:52");
  EXPECT_EQ(line_of_stage(pipeline(), "Iterator::Root::Prefetch::BatchV2"), "t.py:54");
  EXPECT_EQ(line_of_stage(pipeline(), "Iterator::Root::Prefetch::BatchV2::ParallelMapV2::Map::TensorSlice[0]"),
            "t.py:51");
}

TEST(LineOfStage, AMapThatWasJoinedWithItsBatchIsAMap) {
  EXPECT_EQ(line_of_stage(pipeline(), "Iterator::Root::Prefetch::MapAndBatch"), "t.py:53");
  EXPECT_EQ(line_of_stage(pipeline(), "Iterator::Root::Prefetch::MapAndBatch::ParallelMapV2"), "t.py:52");
}

TEST(LineOfStage, OfAStageThatNobodyWroteIsUnknown) {
  EXPECT_EQ(line_of_stage(pipeline(), "Iterator::Root::Prefetch::MaxIntraOpParallelism"), "");
  EXPECT_EQ(line_of_stage(pipeline(), "Iterator::Root::Map::Map::Map"), "");
  EXPECT_EQ(line_of_stage(pipeline(), "Iterator::Root::Prefetch"), "") << "the stage has no line";
  EXPECT_EQ(line_of_stage(pipeline(), ""), "");
  EXPECT_EQ(line_of_stage({}, "Iterator::Root::Map"), "");
}

}  // namespace
}  // namespace gpubench
