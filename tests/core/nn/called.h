// A layer that is built and called once, and what it makes of types.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/layer_kind.h"
#include "tests/support/fake_variables.h"

namespace gpubench::support {

inline TensorType f32(Shape shape) {
  return {std::move(shape), Dtype::f32};
}

/// The layer built for `inputs` and called in a graph on batches of `batch`.
struct Called {
  Called(std::string_view kind, const ConfigEntries& options, std::vector<TensorType> inputs, bool training = false,
         std::int64_t batch = 8)
      : layer(make_layer(kind, options)) {
    layer->build(variables, inputs);
    std::vector<Value> values;
    for (TensorType type : inputs) {
      type.shape.insert(type.shape.begin(), batch);
      values.push_back(graph.input(type, "x"));
    }
    const Value step = graph.input({{}, Dtype::i64}, "step");
    output = layer->call({graph, training, step}, values);
  }
  Shape shape() const { return graph.type(output).shape; }
  std::vector<std::string> ops() const {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) {
      if (!node.inputs.empty()) names.emplace_back(node.op->name());
    }
    return names;
  }

  FakeVariables variables;
  LayerPtr layer;
  Graph graph;
  Value output;
};

inline Shape infer(std::string_view kind, const ConfigEntries& options, std::vector<TensorType> inputs) {
  return make_layer(kind, options)->infer(inputs).shape;
}

}  // namespace gpubench::support
