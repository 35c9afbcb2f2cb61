#include "core/ops/pool.h"

#include <gtest/gtest.h>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::pool_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

/// Calls visit(image element, index inside the window) for the elements of one result's window.
template <class Visit>
void for_each_element(const Pool2DAttributes& options, const Shape& image, const Shape& at, Visit visit) {
  const auto axes = slide("test", options, image);
  for (std::int64_t i = 0; i < options.size[0] * options.size[1]; ++i) {
    const std::int64_t y = at[1] * options.strides[0] - axes[0].padding_before + i / options.size[1];
    const std::int64_t x = at[2] * options.strides[1] - axes[1].padding_before + i % options.size[1];
    if (y >= 0 && y < image[1] && x >= 0 && x < image[2]) visit(support::offset({at[0], y, x, at[3]}, image), i);
  }
}

TensorType floats(Shape shape) {
  return {std::move(shape), Dtype::f32};
}

std::vector<TensorType> pooled(const Pool2DAttributes& options, const Shape& image) {
  const std::vector<TensorType> inputs = {floats(image)};
  return MaxPool2D(options).infer(inputs);
}

OpCase max_case(std::string name, Shape image, Pool2DAttributes options = {}) {
  return {.name = std::move(name),
          .op = std::make_shared<const MaxPool2D>(options),
          .inputs = {CaseInput{.type = floats(std::move(image))}},
          .reference = [options](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t i = 0; i < out[0].size(); ++i) {
              bool first = true;
              for_each_element(options, in[0].type.shape, support::coordinates(i, out[0].type.shape),
                               [&](std::int64_t x, std::int64_t index) {
                                 if (!first && in[0][x] <= out[0][i]) return;
                                 first = false;
                                 out[0][i] = in[0][x];
                                 out[1][i] = static_cast<double>(index);
                               });
            }
          }};
}

OpCase average_case(std::string name, Shape image, Pool2DAttributes options = {}) {
  return {.name = std::move(name),
          .op = std::make_shared<const AveragePool2D>(options),
          .inputs = {CaseInput{.type = floats(std::move(image))}},
          .reference = [options](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t i = 0; i < out[0].size(); ++i) {
              double count = 0;
              for_each_element(options, in[0].type.shape, support::coordinates(i, out[0].type.shape),
                               [&](std::int64_t x, std::int64_t) {
                                 out[0][i] += in[0][x];
                                 count += 1;
                               });
              out[0][i] /= count;
            }
          }};
}

OpCase max_gradient_case(std::string name, const Shape& image, Pool2DAttributes options = {}) {
  const auto types = pooled(options, image);
  const double last = static_cast<double>(options.size[0] * options.size[1]) - 1;
  return {.name = std::move(name),
          .op = std::make_shared<const MaxPool2DGradient>(options, image),
          .inputs = {CaseInput{.type = types[0]}, CaseInput{.type = types[1], .low = 0, .high = last}},
          .reference =
              [options](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  for_each_element(options, out[0].type.shape, support::coordinates(i, in[0].type.shape),
                                   [&](std::int64_t x, std::int64_t index) {
                                     if (static_cast<double>(index) == in[1][i]) out[0][x] += in[0][i];
                                   });
                }
              },
          .differentiable = false};
}

OpCase average_gradient_case(std::string name, const Shape& image, Pool2DAttributes options = {}) {
  return {.name = std::move(name),
          .op = std::make_shared<const AveragePool2DGradient>(options, image),
          .inputs = {CaseInput{.type = pooled(options, image)[0]}},
          .reference = [options](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              const Shape at = support::coordinates(i, in[0].type.shape);
              double count = 0;
              for_each_element(options, out[0].type.shape, at, [&](std::int64_t, std::int64_t) { count += 1; });
              for_each_element(options, out[0].type.shape, at,
                               [&](std::int64_t x, std::int64_t) { out[0][x] += in[0][i] / count; });
            }
          }};
}

const Pool2DAttributes overlapping{.size = {3, 3}, .strides = {2, 2}, .padding = Padding::same},
    gaps{.size = {2, 1}, .strides = {3, 2}}, uneven{.size = {2, 2}, .strides = {2, 2}, .padding = Padding::same},
    huge{.size = {17, 17}, .strides = {1, 1}};

std::vector<OpCase> pool_cases() {
  return {
      max_case("max", {2, 4, 6, 3}),
      max_case("max_odd_extent", {2, 5, 5, 33}),
      max_case("max_on_threads", {4, 12, 12, 64}),
      max_case("max_overlapping", {2, 6, 7, 5}, overlapping),
      max_case("max_gaps", {2, 6, 7, 5}, gaps),
      max_case("max_same", {2, 5, 7, 4}, uneven),
      max_case("max_huge_window", {1, 18, 17, 2}, huge),
      average_case("average", {2, 4, 6, 3}),
      average_case("average_on_threads", {4, 12, 12, 64}),
      average_case("average_overlapping", {2, 6, 7, 5}, overlapping),
      average_case("average_gaps", {2, 6, 7, 5}, gaps),
      max_gradient_case("max_gradient", {2, 4, 6, 3}),
      max_gradient_case("max_gradient_odd_extent", {2, 5, 5, 33}),
      max_gradient_case("max_gradient_on_threads", {4, 12, 12, 64}),
      max_gradient_case("max_gradient_overlapping", {2, 6, 7, 5}, overlapping),
      max_gradient_case("max_gradient_gaps", {2, 6, 7, 5}, gaps),
      max_gradient_case("max_gradient_huge_window", {1, 18, 17, 2}, huge),
      average_gradient_case("average_gradient", {2, 4, 6, 3}),
      average_gradient_case("average_gradient_overlapping", {2, 6, 7, 5}, overlapping),
      average_gradient_case("average_gradient_gaps", {2, 6, 7, 5}, gaps),
  };
}

GPUBENCH_OP_CASES(Pool, pool_cases);

TEST(PoolTest, EqualElementsGoToTheFirst) {
  const MaxPool2D op;
  OpCase ties = max_case("ties", {2, 4, 4, 5});
  ties.inputs[0].fill = [](Array& array, std::mt19937_64&) {
    for (double& value : array.values) value = 1;
  };
  support::check_forward(ties);
}

TEST(PoolTest, RefusesWindowsThatDoNotFit) {
  Graph graph;
  const Value image = graph.input(floats({1, 4, 4, 1}), "x");
  EXPECT_ERROR(
      "max_pool2d: a window of 5 does not fit into 4 without padding; use padding "
      "\"same\" or a smaller window",
      ops::max_pool2d(graph, image, {.size = {5, 5}}));
  EXPECT_ERROR(
      "average_pool2d: the image [batch, height, width, channels] must have 4 "
      "dimensions, got float32[4, 4]",
      ops::average_pool2d(graph, graph.input(floats({4, 4}), "x")));
}

}  // namespace
}  // namespace gpubench::pool_test
