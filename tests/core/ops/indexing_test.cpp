#include "core/ops/indexing.h"

#include <array>
#include <gtest/gtest.h>
#include <memory>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::indexing_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

CaseInput indices(Shape shape, double last, Dtype dtype = Dtype::i64) {
  return {.type = {std::move(shape), dtype}, .low = 0, .high = last};
}

OpCase one_hot_case(std::string name, CaseInput input, std::int64_t depth, Dtype dtype) {
  return {.name = std::move(name),
          .op = std::make_shared<const OneHot>(depth, dtype),
          .inputs = {std::move(input)},
          .reference =
              [depth](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  out[0][i * depth + static_cast<std::int64_t>(in[0][i])] = 1;
                }
              },
          .differentiable = false};
}

OpCase gather_case(std::string name, Shape params, CaseInput at, Dtype dtype = Dtype::f32) {
  return {.name = std::move(name),
          .op = std::make_shared<const Gather>(),
          .inputs = {{{std::move(params), dtype}}, std::move(at)},
          .reference =
              [](std::span<const Array> in, std::span<Array> out) {
                const std::int64_t width = in[0].size() / in[0].extent(0);
                for (std::int64_t i = 0; i < out[0].size(); ++i) {
                  out[0][i] = in[0][static_cast<std::int64_t>(in[1][i / width]) * width + i % width];
                }
              },
          .differentiable = is_floating(dtype)};
}

OpCase gather_gradient_case(std::string name, CaseInput dy, CaseInput at, std::int64_t rows) {
  return {.name = std::move(name),
          .op = std::make_shared<const GatherGradient>(rows),
          .inputs = {std::move(dy), std::move(at)},
          .reference = [](std::span<const Array> in, std::span<Array> out) {
            const std::int64_t width = out[0].size() / out[0].extent(0);
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              out[0][static_cast<std::int64_t>(in[1][i / width]) * width + i % width] += in[0][i];
            }
          }};
}

OpCase flat_index_case(std::string name, CaseInput places, Shape extents) {
  return {.name = std::move(name),
          .op = std::make_shared<const FlatIndex>(extents, "scatter"),
          .inputs = {std::move(places)},
          .reference =
              [extents](std::span<const Array> in, std::span<Array> out) {
                const auto axes = static_cast<std::int64_t>(extents.size());
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  double& flat = out[0][i / axes];
                  flat = flat * static_cast<double>(extents[static_cast<std::size_t>(i % axes)]) + in[0][i];
                }
              },
          .differentiable = false};
}

OpCase scatter_update_case(std::string name, CaseInput x, CaseInput at) {
  TensorType updates{at.type.shape, x.type.dtype};
  updates.shape.insert(updates.shape.end(), x.type.shape.begin() + 1, x.type.shape.end());
  const bool floating = is_floating(x.type.dtype);
  const CaseInput rows{.type = std::move(updates), .low = x.low, .high = x.high};
  return {.name = std::move(name),
          .op = std::make_shared<const ScatterUpdate>(),
          .inputs = {std::move(x), std::move(at), rows},
          .reference =
              [](std::span<const Array> in, std::span<Array> out) {
                out[0].values = in[0].values;
                const std::int64_t width = out[0].size() / out[0].extent(0);
                for (std::int64_t i = 0; i < in[2].size(); ++i) {
                  out[0][static_cast<std::int64_t>(in[1][i / width]) * width + i % width] = in[2][i];
                }
              },
          .differentiable = floating};
}

std::vector<OpCase> indexing_cases() {
  return {
      flat_index_case("flat_index", indices({13, 3}, 3), {4, 5, 6}),
      flat_index_case("flat_index_of_one_place", indices({2}, 3, Dtype::u8), {4, 4}),
      flat_index_case("flat_index_of_one_axis", indices({3, 4, 1}, 6, Dtype::i32), {7}),
      flat_index_case("flat_index_of_nothing", indices({0, 2}, 3), {4, 5}),
      scatter_update_case("scatter_update", {{{6, 5}, Dtype::f32}}, indices({3}, 5)),
      scatter_update_case("scatter_update_of_some_rows_twice", {{{6, 5}, Dtype::f32}}, indices({13}, 5)),
      scatter_update_case("scatter_update_numbers", {{{6}, Dtype::f32}}, indices({2, 3}, 5, Dtype::i32)),
      scatter_update_case("scatter_update_one", {{{6, 2, 3}, Dtype::f32}}, indices({}, 5, Dtype::u8)),
      scatter_update_case("scatter_update_nothing", {{{6, 5}, Dtype::f32}}, indices({0}, 5)),
      scatter_update_case("scatter_update_many_rows", {{{100, 3}, Dtype::f32}}, indices({300}, 99)),
      scatter_update_case("scatter_update_long_rows", {{{3, 9000}, Dtype::f32}}, indices({4}, 2)),
      scatter_update_case("scatter_update_bytes", {{{6, 5}, Dtype::i8}, -9, 9}, indices({13}, 5)),
      scatter_update_case("scatter_update_int16", {{{6, 5}, Dtype::i16}, -9, 9}, indices({4}, 5)),
      one_hot_case("one_hot", indices({17}, 9), 10, Dtype::f32),
      one_hot_case("one_hot_of_a_scalar", indices({}, 9, Dtype::i32), 10, Dtype::f32),
      one_hot_case("one_hot_bytes", indices({3, 4}, 4, Dtype::u8), 5, Dtype::boolean),
      gather_case("gather", {6, 5}, indices({13}, 5)),
      gather_case("gather_numbers", {6}, indices({2, 3}, 5, Dtype::i32)),
      gather_case("gather_one", {6, 2, 3}, indices({}, 5, Dtype::u8)),
      one_hot_case("one_hot_int16", indices({70}, 4, Dtype::i8), 5, Dtype::i16),
      gather_case("gather_nothing", {6, 5}, indices({0}, 5)),
      gather_case("gather_long_rows", {3, 2100}, indices({4}, 2)),
      gather_case("gather_long_odd_rows", {3, 2101}, indices({4}, 2)),
      gather_case("gather_bytes", {6, 5}, indices({13}, 5), Dtype::i8),
      gather_case("gather_long_odd_rows_of_bytes", {3, 2101}, indices({4}, 2), Dtype::i8),
      gather_gradient_case("gather_gradient_of_nothing", {{{0, 5}, Dtype::f32}}, indices({0}, 3), 4),
      gather_gradient_case("gather_gradient_of_many", {{{9000, 3}, Dtype::f32}}, indices({9000}, 6, Dtype::u8), 40),
      gather_gradient_case("gather_gradient_of_numbers", {{{2, 300}, Dtype::f32}}, indices({2, 300}, 99), 100),
      gather_case("gather_on_threads", {200, 700}, indices({300}, 199)),
      gather_gradient_case("gather_gradient", {{{13, 5}, Dtype::f32}}, indices({13}, 3), 4),
      gather_gradient_case("gather_gradient_on_threads", {{{300, 700}, Dtype::f32}}, indices({300}, 19), 20),
  };
}

GPUBENCH_OP_CASES(Indexing, indexing_cases);

TEST(IndexingTest, RefusesTypesThatDoNotFit) {
  Graph graph;
  const Value x = graph.input({{2, 3}, Dtype::f32}, "x"), n = graph.input({{4}, Dtype::i64}, "n");
  const Value scalar = graph.input({{}, Dtype::f32}, "scalar");
  EXPECT_ERROR("one_hot: indices must be integers, got float32[2, 3]", ops::one_hot(graph, x, 3));
  EXPECT_ERROR("one_hot: depth must be at least 1, got 0", ops::one_hot(graph, n, 0));
  EXPECT_ERROR("one_hot: cannot make bytes", ops::one_hot(graph, n, 2, Dtype::bytes));
  EXPECT_ERROR("gather: indices must be integers, got float32[2, 3]", ops::gather(graph, x, x));
  EXPECT_ERROR("gather: a scalar has no rows", ops::gather(graph, scalar, n));
  EXPECT_ERROR("scatter_update: indices must be integers, got float32[2, 3]", ops::scatter_update(graph, x, x, x));
  EXPECT_ERROR("scatter_update: a scalar has no rows", ops::scatter_update(graph, scalar, n, x));
  EXPECT_ERROR("scatter_update: the updates must be float32[4, 3], got float32[2, 3]",
               ops::scatter_update(graph, x, n, x));
  const auto flat = [&](Value places, Shape extents) {
    return graph.apply(std::make_shared<const FlatIndex>(std::move(extents), "scatter"), {places});
  };
  EXPECT_ERROR("scatter: indices must be integers, got float32[2, 3]", flat(x, {4, 4, 4}));
  EXPECT_ERROR("scatter: the last dimension of the indices int64[4] must be 2, a place of each axis", flat(n, {4, 4}));
  EXPECT_ERROR("scatter: an index names 1 to 8 axes, got 0", flat(n, {}));
  EXPECT_ERROR(
      "gather_gradient: the gradient float32[2, 3] does not start with the shape of the "
      "indices int64[4]",
      ops::gather_gradient(graph, x, n, 5));
}

TEST(IndexingTest, AnIndexOutOfRangeIsAnError) {
  const std::array options{CpuDeviceOptions{}};
  const CpuBackend cpu(options);
  Device& device = *cpu.devices()[0];
  const auto run = [&](const Op& op, std::vector<HostTensor> inputs) { support::evaluate(cpu, device, op, inputs); };
  const std::array<std::int64_t, 3> numbers{0, 10, 1};
  const HostTensor labels = HostTensor::of<std::int64_t>({3}, numbers),
                   params = HostTensor::zeros({{4, 2}, Dtype::f32});
  EXPECT_ERROR("one_hot: index 10 is outside 0 to 9", run(OneHot(10), {labels}));
  EXPECT_ERROR("gather: index 10 is outside 0 to 3", run(Gather(), {params, labels}));
  EXPECT_ERROR("embedding: token 10 (number 2 of the batch) is outside the vocabulary of 4, 0 to 3",
               run(Gather(Gather::Of::tokens), {params, labels}));
  EXPECT_ERROR("scatter_update: index 10 is outside 0 to 3",
               run(ScatterUpdate(), {params, labels, HostTensor::zeros({{3, 2}, Dtype::f32})}));
  const std::array<std::int64_t, 4> pairs{0, 1, 3, 7};
  EXPECT_ERROR("slice: index 7 of axis 1 is outside 0 to 4",
               run(FlatIndex({4, 5}, "slice"), {HostTensor::of<std::int64_t>({2, 2}, pairs)}));
  EXPECT_ERROR("gather_gradient: index 10 is outside 0 to 3",
               run(GatherGradient(4), {HostTensor::zeros({{3, 2}, Dtype::f32}), labels}));
}

}  // namespace
}  // namespace gpubench::indexing_test
