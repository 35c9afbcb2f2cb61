#include "core/ops/activation.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace gpubench::activation_test {
namespace {

TEST(ActivationTest, GradientsAreMadeOfTheResultWhereThatIsEnough) {
  Graph graph;
  const Value x = graph.input({{2}, Dtype::f32}, "x");
  EXPECT_EQ(ops::activation_gradient(graph, Activation::none, x, x), x);
  for (const Activation activation : {Activation::relu, Activation::sigmoid, Activation::tanh}) {
    const Value dx = ops::activation_gradient(graph, activation, x, x);
    EXPECT_EQ(graph.node(dx).op->name(), std::string(to_string(activation)) + "_gradient");
  }
  EXPECT_ERROR("gelu: its gradient needs the input, which a fused kernel does not keep",
               ops::activation_gradient(graph, Activation::gelu, x, x));
}

}  // namespace
}  // namespace gpubench::activation_test
