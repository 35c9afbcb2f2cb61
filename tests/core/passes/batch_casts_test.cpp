// That a device computes the same in one kernel, the op's cases and the training tests of the CUDA backend hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/leaf_ops.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

class BatchCasts : public testing::Test {
 protected:
  Devices devices_{DeviceConfig{}};
  Runtime runtime_{devices_};  // outlives the graphs, whose variables it holds

  /// A variable of `size` numbers, which is updated at the end of the step.
  Value weight(std::int64_t size, bool updated = true) {
    const VariablePtr made = runtime_.variables().create("w", random_values({{size}, Dtype::f32}, 1), {});
    const Value value = graph_.variable(made);
    if (updated) updated_.push_back(value);
    return value;
  }
  Value cast(Value value, Dtype to = Dtype::bf16) {
    program_.outputs.push_back(ops::square(graph_, ops::cast(graph_, value, to)));
    return program_.outputs.back();
  }
  /// The ops that are neither leaves nor the squares that read casts.
  std::vector<std::string> batched(const Fuses& fuses = &fuses_all) {
    for (const Value value : updated_) ops::assign_add(graph_, value, value);
    result_ = batch_casts(std::move(program_), fuses);
    std::vector<std::string> names;
    for (const Node& node : result_.graph.nodes()) {
      const std::string name(node.op->name());
      if (name == "cast" || name == "assign_add") names.push_back(name);
      if (name == "cast_all") names.push_back(std::to_string(node.inputs.size()) + " " + node.op->attributes());
    }
    return names;
  }

  Program program_, result_;
  Graph& graph_ = program_.graph;

 private:
  std::vector<Value> updated_;
};

TEST_F(BatchCasts, CastsOfAllWeightsBecomeOne) {
  cast(weight(3));
  cast(weight(4));  // this variable's node comes behind the first cast
  cast(weight(5));
  EXPECT_THAT(batched(), ElementsAre("3 dtype=bfloat16", "assign_add", "assign_add", "assign_add"));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result_.graph.type(result_.outputs[i]), (TensorType{{static_cast<std::int64_t>(i) + 3}, Dtype::bf16}));
  }
}

TEST_F(BatchCasts, EachTypeApartAndOneAloneStays) {
  cast(weight(3));
  cast(weight(4), Dtype::f16);
  cast(weight(5));
  EXPECT_THAT(batched(), ElementsAre("2 dtype=bfloat16", "cast", "assign_add", "assign_add", "assign_add"));
}

TEST_F(BatchCasts, LeavesWhatIsNoWeightOfTheStep) {
  cast(weight(3));
  cast(weight(4, false));                      // never changes: cast once and kept
  cast(graph_.input({{5}, Dtype::f32}, "x"));  // no variable
  cast(ops::square(graph_, weight(6)));        // computed
  cast(weight(7), Dtype::i64);
  EXPECT_THAT(batched(), testing::Not(testing::Contains(testing::HasSubstr("dtype"))));
}

TEST_F(BatchCasts, ACastBehindAnUpdateIsNotMovedBeforeIt) {
  const Value early = weight(3), late = weight(4), also = weight(5);
  cast(early);
  ops::assign_add(graph_, late, late);
  cast(late);
  cast(also);
  EXPECT_THAT(batched(),
              ElementsAre("2 dtype=bfloat16", "assign_add", "cast", "assign_add", "assign_add", "assign_add"));
}

TEST_F(BatchCasts, OnlyWhereTheDeviceHasTheOp) {
  cast(weight(3));
  cast(weight(4));
  const auto none = [](const DeviceId&, const Op&, TensorTypes) { return false; };
  EXPECT_THAT(batched(none), ElementsAre("cast", "cast", "assign_add", "assign_add"));
}

}  // namespace
}  // namespace gpubench
