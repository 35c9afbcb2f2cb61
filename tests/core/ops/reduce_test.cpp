#include "core/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <memory>

#include "core/ops/broadcast.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::reduce_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

using Axes = std::vector<std::int64_t>;
using Combine = double (*)(double, double);

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Folds every input element into the output element that its kept coordinates name.
template <class O>
OpCase reduction_case(std::string name, CaseInput input, Axes axes, bool keepdims, Combine combine, double start) {
  const bool floating = is_floating(input.type.dtype);
  auto op = std::make_shared<const O>(std::move(axes), keepdims);
  const std::vector<bool> reduced = op->reduced(input.type);
  const double count = static_cast<double>(input.type.elements());
  const bool mean = std::is_same_v<O, ReduceMean>;
  return {.name = std::move(name),
          .op = op,
          .inputs = {std::move(input)},
          .reference =
              [=](std::span<const Array> in, std::span<Array> out) {
                std::fill(out[0].values.begin(), out[0].values.end(), start);
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  const Shape place = support::coordinates(i, in[0].type.shape);
                  Shape kept, extents;
                  for (std::size_t d = 0; d < place.size(); ++d) {
                    if (reduced[d]) continue;
                    kept.push_back(place[d]);
                    extents.push_back(in[0].type.shape[d]);
                  }
                  double& to = out[0][support::offset(kept, extents)];
                  to = combine(to, in[0][i]);
                }
                if (!mean) return;
                for (double& value : out[0].values) value *= static_cast<double>(out[0].size()) / count;
              },
          .differentiable = floating};
}

/// Not around 0: a sum that cancels has no relative accuracy.
CaseInput floats(Shape shape) {
  return {.type = {std::move(shape), Dtype::f32}, .low = -1, .high = 3};
}

/// Whose sums of some hundred thousand stay within float16.
CaseInput small_floats(Shape shape) {
  return {.type = {std::move(shape), Dtype::f32}, .low = -0.05, .high = 0.15};
}

OpCase cumsum_case(std::string name, CaseInput input, std::int64_t axis, bool reverse = false) {
  const bool floating = is_floating(input.type.dtype);
  return {.name = std::move(name),
          .op = std::make_shared<const Cumsum>(axis, reverse),
          .inputs = {std::move(input)},
          .reference =
              [=](std::span<const Array> in, std::span<Array> out) {
                const Shape& shape = in[0].type.shape;
                const std::size_t along = axis < 0 ? shape.size() - 1 : static_cast<std::size_t>(axis);
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  Shape place = support::coordinates(i, shape);
                  const std::int64_t at = place[along];
                  double sum = 0;
                  for (std::int64_t k = reverse ? at : 0; k < (reverse ? shape[along] : at + 1); ++k) {
                    place[along] = k;
                    sum += in[0][support::offset(place, shape)];
                  }
                  out[0][i] = sum;
                }
              },
          .differentiable = floating};
}

double plus(double a, double b) {
  return a + b;
}
double larger(double a, double b) {
  return std::max(a, b);
}
double smaller(double a, double b) {
  return std::min(a, b);
}

std::vector<OpCase> reduction_cases() {
  const CaseInput counts{{{6, 7}, Dtype::i64}, -9, 9}, bytes{{{6, 70}, Dtype::u8}, 0, 255};
  const CaseInput many{{{700, 2, 9}, Dtype::i32}, -99, 99};
  return {
      reduction_case<ReduceSum>("sum_all", floats({5, 41}), {}, false, plus, 0),
      reduction_case<ReduceSum>("sum_of_a_scalar", floats({}), {}, false, plus, 0),
      reduction_case<ReduceSum>("sum_rows", floats({5, 141}), {1}, false, plus, 0),
      reduction_case<ReduceSum>("sum_columns", floats({300, 7}), {0}, false, plus, 0),
      reduction_case<ReduceSum>("sum_columns_kept", floats({5, 41}), {-2}, true, plus, 0),
      reduction_case<ReduceSum>("sum_middle", floats({3, 5, 4}), {1}, false, plus, 0),
      reduction_case<ReduceSum>("sum_ends", floats({3, 5, 4}), {0, 2}, false, plus, 0),
      reduction_case<ReduceSum>("sum_alternate", floats({2, 3, 2, 3, 2}), {1, 3}, true, plus, 0),
      reduction_case<ReduceSum>("sum_batch_and_space", floats({4, 3, 3, 5}), {0, 1, 2}, false, plus, 0),
      reduction_case<ReduceSum>("sum_on_threads", small_floats({300000}), {}, false, plus, 0),
      reduction_case<ReduceSum>("sum_of_long_rows", floats({3, 20001}), {1}, false, plus, 0),
      reduction_case<ReduceSum>("sum_of_long_columns", floats({5000, 7}), {0}, false, plus, 0),
      reduction_case<ReduceSum>("sum_of_long_columns_by_four", floats({2, 3000, 12}), {1}, false, plus, 0),
      reduction_case<ReduceSum>("sum_of_short_columns", floats({9, 20, 70}), {1}, false, plus, 0),
      reduction_case<ReduceSum>("sum_rows_on_threads", floats({60, 5000}), {1}, false, plus, 0),
      reduction_case<ReduceSum>("sum_columns_on_threads", floats({200, 1500}), {0}, false, plus, 0),
      reduction_case<ReduceSum>("sum_of_nothing", floats({0, 3}), {0}, false, plus, 0),
      reduction_case<ReduceSum>("sum_int64", counts, {1}, false, plus, 0),
      reduction_case<ReduceSum>("sum_int32_rows_and_columns", many, {0, 2}, false, plus, 0),
      cumsum_case("cumsum_first", floats({30, 7}), 0),
      cumsum_case("cumsum_last", floats({5, 41}), -1),
      cumsum_case("cumsum_middle", floats({3, 5, 4}), 1),
      cumsum_case("cumsum_reverse", floats({5, 41}), 1, true),
      cumsum_case("cumsum_of_long_rows", small_floats({2, 1000}), 1),
      cumsum_case("cumsum_of_many_columns", floats({9, 700}), 0, true),
      cumsum_case("cumsum_of_nothing", floats({0, 3}), 0),
      cumsum_case("cumsum_int64", counts, 1),
      cumsum_case("cumsum_int32", many, 0),
      cumsum_case("cumsum_of_long_int64_rows", {{{2, 300}, Dtype::i64}, -9, 9}, 1),
      reduction_case<ReduceMean>("mean_all", floats({5, 41}), {}, false, plus, 0),
      reduction_case<ReduceMean>("mean_space", floats({2, 4, 4, 3}), {1, 2}, false, plus, 0),
      reduction_case<ReduceMean>("mean_last", floats({5, 41}), {-1}, true, plus, 0),
      reduction_case<ReduceMean>("mean_alternate", floats({3, 20, 2, 30}), {1, 3}, false, plus, 0),
      reduction_case<ReduceMax>("max_of_long_rows", floats({2, 9000}), {1}, false, larger, -infinity),
      reduction_case<ReduceMax>("max_of_long_odd_rows", floats({2, 9001}), {1}, false, larger, -infinity),
      reduction_case<ReduceMin>("min_of_long_odd_rows", floats({2, 9001}), {1}, false, smaller, infinity),
      reduction_case<ReduceMin>("min_of_long_columns", floats({3000, 12}), {0}, false, smaller, infinity),
      reduction_case<ReduceMax>("max_all", floats({5, 41}), {}, false, larger, -infinity),
      reduction_case<ReduceMax>("max_last", floats({5, 141}), {-1}, true, larger, -infinity),
      reduction_case<ReduceMax>("max_first", floats({5, 41}), {0}, false, larger, -infinity),
      reduction_case<ReduceMax>("max_uint8", bytes, {1}, false, larger, 0),
      reduction_case<ReduceMin>("min_all", floats({5, 41}), {}, false, smaller, infinity),
      reduction_case<ReduceMin>("min_first", floats({5, 41}), {0}, false, smaller, infinity),
      reduction_case<ReduceMin>("min_int64", counts, {0}, false, smaller, 100),
  };
}

OpCase arg_max_case(std::string name, CaseInput input, std::int64_t axis) {
  const int index = static_cast<int>(axis < 0 ? axis + input.type.rank() : axis);
  return {.name = std::move(name),
          .op = std::make_shared<const ArgMax>(axis),
          .inputs = {std::move(input)},
          .reference =
              [index](std::span<const Array> in, std::span<Array> out) {
                const Shape& shape = in[0].type.shape;
                for (std::int64_t i = 0; i < out[0].size(); ++i) {
                  Shape place = support::coordinates(i, out[0].type.shape);
                  place.insert(place.begin() + index, 0);
                  const auto at = [&](std::int64_t k) {
                    place[static_cast<std::size_t>(index)] = k;
                    return in[0][support::offset(place, shape)];
                  };
                  std::int64_t best = 0;
                  for (std::int64_t k = 1; k < in[0].extent(index); ++k) {
                    if (at(k) > at(best)) best = k;
                  }
                  out[0][i] = static_cast<double>(best);
                }
              },
          .differentiable = false};
}

std::vector<OpCase> arg_max_cases() {
  return {
      arg_max_case("arg_max_last", floats({33, 10}), -1),
      arg_max_case("arg_max_first", floats({10, 33}), 0),
      arg_max_case("arg_max_middle", floats({3, 5, 4}), 1),
      arg_max_case("arg_max_of_long_rows", floats({2, 9001}), 1),
      arg_max_case("arg_max_of_long_columns", floats({5000, 3}), 0),
      arg_max_case("arg_max_of_equals_in_long_rows", {{{3, 9001}, Dtype::i16}, 0, 200}, 1),
      arg_max_case("arg_max_of_equals", {{{20, 6}, Dtype::i32}, 0, 2}, 1),
  };
}

GPUBENCH_OP_CASES(Reduction, reduction_cases);
GPUBENCH_OP_CASES(ArgMaximum, arg_max_cases);

/// Not a number stands in the middle of the first row, or begins the second.
void some_nan(Array& array, std::mt19937_64&) {
  const std::int64_t width = array.type.shape.back();
  array[width / 2] = array[width] = std::numeric_limits<double>::quiet_NaN();
}

TEST(ReduceTest, NotANumberIsLargestAndSmallest) {
  for (const std::int64_t width : {10, 9000, 9001}) {
    CaseInput input = floats({3, width});
    input.fill = some_nan;
    const Combine largest = [](double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b); };
    const Combine smallest = [](double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b); };
    for (const Axes& axes : {Axes{1}, Axes{0}}) {
      support::check_forward(reduction_case<ReduceMax>("nan", input, axes, false, largest, -infinity));
      support::check_forward(reduction_case<ReduceMin>("nan", input, axes, false, smallest, infinity));
    }
  }
}

TEST(ReduceTest, NotANumberIsTheMaximumWhereItStandsFirst) {
  for (const std::int64_t width : {10, 9001}) {
    CaseInput input = floats({3, width});
    input.fill = some_nan;
    for (const std::int64_t axis : {1, 0}) support::check_forward(arg_max_case("nan", input, axis));
  }
}

TEST(ReduceTest, RefusesBadAxesAndTypes) {
  Graph graph;
  const Value x = graph.input({{2, 3}, Dtype::f32}, "x"), n = graph.input({{2}, Dtype::i64}, "n");
  const Value flags = graph.input({{2}, Dtype::boolean}, "flags"), none = graph.input({{2, 0}, Dtype::f32}, "none");
  EXPECT_ERROR("reduce_sum: axis 2 is outside float32[2, 3], which has 2 dimensions", ops::reduce_sum(graph, x, {2}));
  EXPECT_ERROR("reduce_max: axis -3 is outside float32[2, 3], which has 2 dimensions", ops::reduce_max(graph, x, {-3}));
  EXPECT_ERROR("reduce_sum: axis -1 is given twice in [1, -1]", ops::reduce_sum(graph, x, {1, -1}));
  EXPECT_ERROR("reduce_mean: int64[2] is not floating-point; cast it to float32", ops::reduce_mean(graph, n));
  EXPECT_ERROR("reduce_sum: bool[2] is not numeric; cast it to float32 or int64", ops::reduce_sum(graph, flags));
  EXPECT_ERROR("arg_max: axis 5 is outside float32[2, 3], which has 2 dimensions",
               graph.apply(std::make_shared<const ArgMax>(5), {x}));
  EXPECT_ERROR("arg_max: the axis is empty", graph.apply(std::make_shared<const ArgMax>(-1), {none}));
}

TEST(ReduceTest, SumToUndoesBroadcasting) {
  Graph graph;
  const Value x = graph.input({{4, 2, 3}, Dtype::f32}, "x");
  EXPECT_EQ(ops::sum_to(graph, x, {4, 2, 3}), x);
  for (const Shape& shape : {Shape{2, 3}, Shape{2, 1}, Shape{1, 2, 1}, Shape{}, Shape{1}}) {
    EXPECT_EQ(graph.type(ops::sum_to(graph, x, shape)).shape, shape);
  }
}

TEST(BroadcastTest, ShapesMeetAtTheLastDimension) {
  EXPECT_EQ(ops::broadcast_shapes("add", {5, 1, 3}, {4, 1}), (Shape{5, 4, 3}));
  EXPECT_EQ(ops::broadcast_shapes("add", {}, {2}), (Shape{2}));
  EXPECT_EQ(ops::broadcast_shapes("add", {0, 3}, {1, 3}), (Shape{0, 3}));
  EXPECT_TRUE(ops::broadcasts_to({1, 3}, {2, 3}));
  EXPECT_FALSE(ops::broadcasts_to({2, 3}, {1, 3}));
  EXPECT_FALSE(ops::broadcasts_to({1, 2, 3}, {2, 3}));
}

}  // namespace
}  // namespace gpubench::reduce_test
