// The one way to verify a pass: a program gives the same outputs with and without it.
#pragma once
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/exec/executor.h"

namespace gpubench {

inline HostTensor random_values(const TensorType& type, unsigned seed) {
  HostTensor tensor(type);
  std::mt19937 random(seed);
  if (type.dtype == Dtype::f32) {
    std::uniform_real_distribution<float> values(-1, 1);
    for (float& value : tensor.values<float>()) value = values(random);
  } else {
    for (std::int64_t& value : tensor.values<std::int64_t>()) value = static_cast<std::int64_t>(random() % 3);
  }
  return tensor;
}

/// Names of the ops in `graph`, in order.
inline std::vector<std::string> op_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) names.emplace_back(node.op->name());
  return names;
}

/// A device that has an op for everything that a pass would make.
inline bool fuses_all(const DeviceId&, const Op&, TensorTypes) {
  return true;
}

/// Runs `build()` with all passes and without `pass`; inputs are random (int64 ones in [0, 3)). `fuses` stands for what
/// the CPU would answer.
template <class Build>
void expect_equal_results(const std::string& pass, const Build& build, float tolerance = 1e-5F,
                          const Fuses& fuses = {}) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  std::vector<std::vector<float>> results;
  for (const bool on : {true, false}) {
    Program program = build();
    std::vector<HostTensor> values;
    std::vector<TensorView> inputs;
    for (std::size_t i = 0; i < program.graph.inputs().size(); ++i) {
      values.push_back(random_values(program.graph.type(program.graph.inputs()[i]), static_cast<unsigned>(i) + 1));
    }
    for (const HostTensor& value : values) inputs.push_back(value.view());
    ExecutorOptions options;
    if (!on) options.passes.disabled.insert(pass);
    if (fuses) program = apply_passes(std::move(program), options.passes, {.fuses = fuses});
    const std::size_t outputs = program.outputs.size();
    const auto executor = make_executor(runtime, std::move(program.graph), program.outputs, options);
    executor->run(inputs);
    results.emplace_back();
    for (std::size_t o = 0; o < outputs; ++o) {
      const HostTensor output = executor->read(static_cast<int>(o));
      results.back().insert(results.back().end(), output.values<float>().begin(), output.values<float>().end());
    }
  }
  ASSERT_EQ(results[0].size(), results[1].size());
  ASSERT_FALSE(results[0].empty());
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_NEAR(results[0][i], results[1][i], tolerance * std::max(1.0F, std::abs(results[1][i]))) << "element " << i;
  }
}

}  // namespace gpubench
