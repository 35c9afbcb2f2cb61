#include "core/ops/activation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

using testing::ThrowsMessage;

TEST(ActivationTest, NamesGoBothWays) {
  for (const Activation activation : {Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh,
                                      Activation::gelu, Activation::gelu_tanh}) {
    EXPECT_EQ(parse_activation(to_string(activation)), activation);
  }
  EXPECT_THAT([] { parse_activation("swish"); },
              ThrowsMessage<Error>("unknown activation 'swish' (known: none, relu, sigmoid, tanh, gelu, gelu_tanh)"));
}

TEST(ActivationTest, NamesTheOpThatIsAdded) {
  Graph graph;
  const Value x = graph.input({{2}, Dtype::f32}, "x");
  EXPECT_EQ(ops::activate(graph, Activation::none, x), x);
  EXPECT_EQ(ops::activation_gradient(graph, Activation::none, x, x), x);
  for (const Activation activation :
       {Activation::relu, Activation::sigmoid, Activation::tanh, Activation::gelu, Activation::gelu_tanh}) {
    EXPECT_EQ(graph.node(ops::activate(graph, activation, x)).op->name(), to_string(activation));
  }
  for (const Activation activation : {Activation::relu, Activation::sigmoid, Activation::tanh}) {
    const Value dx = ops::activation_gradient(graph, activation, x, x);
    EXPECT_EQ(graph.node(dx).op->name(), std::string(to_string(activation)) + "_gradient");
  }
  EXPECT_THAT([&] { ops::activation_gradient(graph, Activation::gelu, x, x); },
              ThrowsMessage<Error>("gelu: its gradient needs the input, which a fused kernel does not keep"));
}

}  // namespace
}  // namespace gpubench
