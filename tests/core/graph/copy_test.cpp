#include "core/graph/copy.h"

#include <array>
#include <gtest/gtest.h>

#include "core/graph/leaf_ops.h"

namespace gpubench {
namespace {

TEST(Splice, PutsAGraphInPlaceOfItsInputs) {
  const TensorType type{{2}, Dtype::f32};
  const auto variable = std::make_shared<const Variable>(Variable{0, "w", type, {}, true});
  Graph part;
  const Value a = part.input(type, "a");
  const Value w = part.variable(variable);
  const DeviceId second{DeviceId::Kind::cpu, 1, ""};
  Value sum;
  {
    const GraphScope scope(part, second, "inner");
    sum = part.apply(std::make_shared<const AddN>(), {a, w, a});
  }

  Graph whole;
  const Value own = whole.variable(variable);
  const Value x = whole.input(type, "x");
  const std::array inputs{x};
  const std::array outputs{sum, a};
  const std::vector<Value> results = splice(whole, part, inputs, outputs);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1], x);
  const Node& node = whole.node(results[0]);
  EXPECT_EQ(node.inputs, (std::vector<Value>{x, own, x}));
  EXPECT_EQ(node.device, second);
  EXPECT_EQ(node.label, "inner");
  EXPECT_EQ(whole.variables().size(), 1U);
}

}  // namespace
}  // namespace gpubench
