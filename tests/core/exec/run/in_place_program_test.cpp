#include "core/exec/run/in_place_program.h"

#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"
#include "tests/support/allocations.h"
#include "tests/support/device_configs.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;

const Devices& devices() {
  static const Devices host{support::without_gpus()};
  return host;
}

struct Memory {
  std::array<float, 4> values{};
  std::byte* data() { return reinterpret_cast<std::byte*>(values.data()); }
};

/// x[4] -> sqrt(x), x itself, sqrt(x) again in other dimensions, a constant, exp(sqrt(x)) * 2.
Program program() {
  Program p;
  const Value x = p.graph.input({{4}, Dtype::f32}, "x"), root = ops::sqrt(p.graph, x);
  const Value twice = ops::mul(p.graph, ops::exp(p.graph, root), p.graph.constant(2.0F));
  p.outputs = {root, x, ops::reshape(p.graph, root, {2, 2}), p.graph.constant(HostTensor::zeros({{4}, Dtype::f32})),
               twice};
  return p;
}

TEST(InPlaceProgram, WritesEveryKindOfOutputWhereTheCallerWantsIt) {
  InPlaceProgram host(devices(), program());
  EXPECT_EQ(to_string(host.output_type(2)), "float32[2, 2]");
  for (const float scale : {1.0F, 4.0F}) {
    Memory x{{0, scale, 4 * scale, 9 * scale}};
    std::array<Memory, 5> results;
    results[3].values.fill(1);
    std::array<std::byte*, 5> outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = results[i].data();
    std::byte* const input = x.data();
    host.run({&input, 1}, outputs);
    const float root = std::sqrt(scale);
    EXPECT_THAT(results[0].values, ElementsAre(0, root, 2 * root, 3 * root));
    EXPECT_EQ(results[1].values, x.values);
    EXPECT_EQ(results[2].values, results[0].values);
    EXPECT_THAT(results[3].values, ElementsAre(0, 0, 0, 0));
    EXPECT_FLOAT_EQ(results[4].values[1], 2 * std::exp(root));
  }
}

TEST(InPlaceProgram, AllocatesNothing) {
  InPlaceProgram host(devices(), program());
  Memory x{{1, 2, 3, 4}};
  std::array<Memory, 5> results;
  std::array<std::byte*, 5> outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = results[i].data();
  std::byte* const input = x.data();
  const long allocated = support::count_allocations([&] {
    for (int i = 0; i < 3; ++i) host.run({&input, 1}, outputs);
  });
  EXPECT_EQ(allocated, 0);
}

}  // namespace
}  // namespace gpubench
