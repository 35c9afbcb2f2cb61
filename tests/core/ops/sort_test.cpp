#include "core/ops/sort.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::sort_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

OpCase sort_case(std::string name, CaseInput input, bool descending = false, std::int64_t count = 0) {
  const bool floating = is_floating(input.type.dtype);
  return {.name = std::move(name),
          .op = std::make_shared<const Sort>(descending, count),
          .inputs = {std::move(input)},
          .reference =
              [descending](std::span<const Array> in, std::span<Array> out) {
                const std::int64_t extent = in[0].type.shape.back(), kept = out[0].type.shape.back();
                for (std::int64_t row = 0; row < (extent == 0 ? 0 : in[0].size() / extent); ++row) {
                  const double* const values = in[0].values.data() + row * extent;
                  // Not a number is above all numbers.
                  const auto less = [&](std::int64_t a, std::int64_t b) {
                    if (values[a] != values[a] || values[b] != values[b]) return values[a] == values[a];
                    return values[a] < values[b];
                  };
                  std::vector<std::int64_t> order(static_cast<std::size_t>(extent));
                  std::iota(order.begin(), order.end(), 0);
                  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
                    const bool both = values[a] != values[a] && values[b] != values[b];
                    return !both && (descending ? less(b, a) : less(a, b));
                  });
                  for (std::int64_t i = 0; i < kept; ++i) {
                    out[0][row * kept + i] = values[order[static_cast<std::size_t>(i)]];
                    out[1][row * kept + i] = static_cast<double>(order[static_cast<std::size_t>(i)]);
                  }
                }
              },
          .differentiable = floating};
}

CaseInput floats(Shape shape) {
  return {.type = {std::move(shape), Dtype::f32}};
}

/// So many places of bfloat16 are equal that most are kinks of the gradient.
OpCase in_float32(OpCase op_case) {
  op_case.halves = false;
  return op_case;
}

std::vector<OpCase> sort_cases() {
  return {
      sort_case("sort", floats({5, 11})),
      sort_case("sort_descending", floats({5, 11}), true),
      sort_case("sort_numbers", floats({37})),
      sort_case("sort_one", floats({4, 1})),
      sort_case("sort_powers_of_two", floats({2, 3, 16})),
      sort_case("sort_nothing", floats({3, 0})),
      sort_case("sort_the_largest_three", floats({5, 11}), true, 3),
      sort_case("sort_the_smallest", floats({2, 4, 7}), false, 1),
      in_float32(sort_case("sort_on_threads", floats({600, 100}))),
      in_float32(sort_case("sort_long_rows", floats({2, 2500}))),
      in_float32(sort_case("sort_the_largest_of_long_rows", floats({3, 2100}), true, 5)),
      sort_case("sort_equals", {{{20, 30}, Dtype::i32}, 0, 4}),
      sort_case("sort_equals_descending", {{{20, 30}, Dtype::i64}, -3, 3}, true),
      sort_case("sort_int16", {{{3, 9}, Dtype::i16}, -300, 300}),
      sort_case("sort_uint8", {{{3, 70}, Dtype::u8}, 0, 255}, true, 7),
      sort_case("sort_long_rows_of_equals", {{{2, 2300}, Dtype::i64}, 0, 50}),
  };
}

GPUBENCH_OP_CASES(Sorting, sort_cases);

TEST(SortTest, WhatIsNoNumberIsTheLargest) {
  CaseInput input = floats({4, 9});
  input.fill = [](Array& array, std::mt19937_64&) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    for (const std::int64_t at : {1, 4, 20}) array[at] = nan;
    for (const std::int64_t at : {2, 21, 30}) array[at] = infinity;
    array[31] = -infinity;
  };
  for (const bool descending : {false, true}) support::check_forward(sort_case("nan", input, descending));
  support::check_forward(sort_case("nan", input, true, 2));
}

TEST(SortTest, RefusesWhatHasNoOrder) {
  Graph graph;
  const auto sort = [&](TensorType type, std::int64_t count) {
    return graph.apply(std::make_shared<const Sort>(true, count), {graph.input(std::move(type), "x")});
  };
  EXPECT_ERROR("sort: a scalar has no order", sort({{}, Dtype::f32}, 0));
  EXPECT_ERROR("sort: the first 4 of 3 elements are wanted", sort({{2, 3}, Dtype::f32}, 4));
  EXPECT_ERROR("sort: bool[3] is not numeric; cast it to float32 or int64", sort({{3}, Dtype::boolean}, 0));
}

}  // namespace
}  // namespace gpubench::sort_test
