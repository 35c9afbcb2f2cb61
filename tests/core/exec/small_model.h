// A training step small enough to reason about: y = relu(x w + b), mean squared error, momentum SGD.
#pragma once
#include <array>
#include <random>
#include <vector>

#include "core/exec/executor.h"
#include "core/graph/gradients.h"
#include "core/ops/bias.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/optimizer.h"
#include "core/ops/reduce.h"

namespace gpubench {

inline HostTensor random_tensor(Shape shape, unsigned seed) {
  HostTensor tensor(TensorType{std::move(shape), Dtype::f32});
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  for (float& value : tensor.values<float>()) value = values(random);
  return tensor;
}

struct SmallModel {
  static constexpr std::int64_t batch = 6, inputs = 5, outputs = 4;

  explicit SmallModel(Runtime& runtime, const DeviceId& device = {}) {
    VariableStore& store = runtime.variables();
    rate = store.create("rate", HostTensor::scalar(0.1F), device, false);
    kernel = store.create("dense/kernel", random_tensor({inputs, outputs}, 1), device, true, owner);
    bias = store.create("dense/bias", random_tensor({outputs}, 2), device, true, owner);
    kernel_velocity = store.create("dense/kernel/velocity", HostTensor::zeros(kernel->type), device, false, owner);
    bias_velocity = store.create("dense/bias/velocity", HostTensor::zeros(bias->type), device, false, owner);
  }

  Value forward(Graph& graph, Value x) const {
    const GraphScope scope(graph, kernel->device, owner);
    return ops::relu(graph, ops::bias_add(graph, ops::matmul(graph, x, graph.variable(kernel)), graph.variable(bias)));
  }

  /// One step; outputs: the loss.
  Program step() const {
    Program program;
    Graph& graph = program.graph;
    graph.set_device(kernel->device);
    const Value x = graph.input({{batch, inputs}, Dtype::f32}, "x");
    const Value target = graph.input({{batch, outputs}, Dtype::f32}, "target");
    const Value error = ops::sub(graph, forward(graph, x), target);
    const Value loss = ops::reduce_mean(graph, ops::square(graph, error));
    const std::array variables{graph.variable(kernel), graph.variable(bias)};
    const std::vector<Value> slopes = gradients(graph, loss, variables);
    const std::array velocities{graph.variable(kernel_velocity), graph.variable(bias_velocity)};
    SgdAttributes momentum;
    momentum.momentum = 0.9;
    ops::sgd_update(graph, momentum, graph.variable(rate), variables, slopes, velocities);
    program.outputs = {loss};
    return program;
  }

  OwnerPtr owner = make_owner("dense");
  VariablePtr rate, kernel, bias, kernel_velocity, bias_velocity;
};

}  // namespace gpubench
