#include "core/ops/shape_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/graph/leaf_ops.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::shape_ops_test {
namespace {

using support::Array;
using support::CaseInput;
using support::coordinates;
using support::offset;
using support::OpCase;

constexpr std::int64_t to_end = SliceRange::to_end;

/// Any permutation of bytes is right or wrong in every type alike; floats have gradients.
CaseInput input(Shape shape, Dtype dtype = Dtype::f32) {
  return {.type = {std::move(shape), dtype}, .low = dtype == Dtype::u8 ? 0.0 : -100.0, .high = 100};
}

OpCase movement_case(std::string name, OpPtr op, std::vector<CaseInput> inputs,
                     std::function<void(std::span<const Array>, std::span<Array>)> reference) {
  const bool floating = is_floating(inputs[0].type.dtype);
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = std::move(inputs),
          .reference = std::move(reference),
          .differentiable = floating};
}

OpCase reshape_case(std::string name, CaseInput x, Shape to) {
  return movement_case(std::move(name), std::make_shared<const Reshape>(std::move(to)), {std::move(x)},
                       [](auto in, auto out) { out[0].values = in[0].values; });
}

OpCase stop_gradient_case(std::string name, CaseInput x) {
  OpCase stop = movement_case(std::move(name), std::make_shared<const StopGradient>(), {std::move(x)},
                              [](auto in, auto out) { out[0].values = in[0].values; });
  stop.differentiable = false;
  return stop;
}

OpCase part_case(std::string name, CaseInput x, std::int64_t index, std::int64_t parts) {
  OpCase part = movement_case(std::move(name), std::make_shared<const BatchPart>(index, parts), {std::move(x)},
                              [index](auto in, auto out) {
                                for (std::int64_t i = 0; i < out[0].size(); ++i) {
                                  out[0][i] = in[0][index * out[0].size() + i];
                                }
                              });
  part.differentiable = false;
  return part;
}

OpCase transpose_case(std::string name, CaseInput x, std::vector<std::int64_t> permutation) {
  auto op = std::make_shared<const Transpose>(std::move(permutation));
  const auto order = op->order(x.type);
  return movement_case(std::move(name), op, {std::move(x)}, [order](auto in, auto out) {
    for (std::int64_t i = 0; i < out[0].size(); ++i) {
      const Shape place = coordinates(i, out[0].type.shape);
      Shape from(place.size());
      for (std::size_t d = 0; d < place.size(); ++d) from[static_cast<std::size_t>(order[d])] = place[d];
      out[0][i] = in[0][offset(from, in[0].type.shape)];
    }
  });
}

/// Where element `i` of the slice lies in the whole.
std::int64_t sliced(const ResolvedSlice& slice, std::int64_t i, const Shape& whole) {
  Shape place = coordinates(i, slice.shape);
  for (std::size_t d = 0; d < place.size(); ++d) place[d] = slice.begin[d] + place[d] * slice.stride[d];
  return offset(place, whole);
}

OpCase slice_case(std::string name, CaseInput x, SliceRange range) {
  auto op = std::make_shared<const Slice>(std::move(range));
  const ResolvedSlice slice = op->resolve(x.type);
  return movement_case(std::move(name), op, {std::move(x)}, [slice](auto in, auto out) {
    for (std::int64_t i = 0; i < out[0].size(); ++i) out[0][i] = in[0][sliced(slice, i, in[0].type.shape)];
  });
}

OpCase slice_gradient_case(std::string name, Shape whole, SliceRange range) {
  auto op = std::make_shared<const SliceGradient>(std::move(whole), std::move(range));
  const ResolvedSlice slice = op->resolve();
  return movement_case(std::move(name), op, {input(slice.shape)}, [slice](auto in, auto out) {
    for (std::int64_t i = 0; i < in[0].size(); ++i) out[0][sliced(slice, i, out[0].type.shape)] = in[0][i];
  });
}

OpCase concat_case(std::string name, std::vector<CaseInput> parts, std::int64_t axis) {
  const auto along = static_cast<std::size_t>(axis < 0 ? axis + parts[0].type.rank() : axis);
  return movement_case(std::move(name), std::make_shared<const Concat>(axis), std::move(parts),
                       [along](auto in, auto out) {
                         std::int64_t before = 0;
                         for (const Array& part : in) {
                           for (std::int64_t i = 0; i < part.size(); ++i) {
                             Shape place = coordinates(i, part.type.shape);
                             place[along] += before;
                             // Not offset(): an extent of 1 in the output would be taken for broadcasting.
                             out[0][offset(place, out[0].type.shape)] = part[i];
                           }
                           before += part.type.shape[along];
                         }
                       });
}

OpCase broadcast_case(std::string name, CaseInput x, Shape to) {
  return movement_case(std::move(name), std::make_shared<const BroadcastTo>(std::move(to)), {std::move(x)},
                       [](auto in, auto out) {
                         for (std::int64_t i = 0; i < out[0].size(); ++i) {
                           out[0][i] = in[0][support::broadcast_offset(i, out[0].type.shape, in[0].type.shape)];
                         }
                       });
}

OpCase reverse_case(std::string name, CaseInput x, std::vector<std::int64_t> axes) {
  auto op = std::make_shared<const Reverse>(std::move(axes));
  const std::vector<bool> reversed = op->reversed(x.type);
  return movement_case(std::move(name), op, {std::move(x)}, [reversed](auto in, auto out) {
    for (std::int64_t i = 0; i < out[0].size(); ++i) {
      Shape place = coordinates(i, out[0].type.shape);
      for (std::size_t d = 0; d < place.size(); ++d) {
        if (reversed[d]) place[d] = out[0].type.shape[d] - 1 - place[d];
      }
      out[0][i] = in[0][offset(place, in[0].type.shape)];
    }
  });
}

std::vector<OpCase> movement_cases() {
  return {
      reverse_case("reverse", input({7}), {0}),
      reverse_case("reverse_rows", input({5, 4}), {0}),
      reverse_case("reverse_columns", input({5, 4, 3}), {-2}),
      reverse_case("reverse_all", input({3, 4, 5}), {0, 1, 2}),
      reverse_case("reverse_uint8", input({6, 7, 3}, Dtype::u8), {1, 2}),
      reverse_case("reverse_nothing", input({4, 3}), {}),
      reverse_case("reverse_empty", input({0, 3}), {0, 1}),
      reverse_case("reverse_on_threads", input({400, 500}), {1}),
      reshape_case("reshape", input({2, 6}), {3, 4}),
      reshape_case("reshape_the_rest", input({2, 6}), {-1, 3}),
      stop_gradient_case("stop_gradient", input({2, 6})),
      part_case("first_part", input({6, 16}), 0, 3),
      part_case("last_part", input({6, 16}), 2, 3),
      part_case("part_of_int64", input({16}, Dtype::i64), 1, 2),
      reshape_case("reshape_int64", input({4}, Dtype::i64), {2, 2}),
      transpose_case("transpose", input({5, 7}), {}),
      transpose_case("transpose_inner", input({3, 4, 5}), {0, 2, 1}),
      transpose_case("transpose_outer", input({3, 4, 5}), {1, 0, -1}),
      transpose_case("transpose_channels", input({2, 3, 4, 5}), {0, 3, 1, 2}),
      transpose_case("transpose_uint8", input({31, 33}, Dtype::u8), {1, 0}),
      transpose_case("transpose_on_threads", input({520, 260}), {1, 0}),
      slice_case("slice_rows", input({9, 4}), {{2}, {7}, {}}),
      slice_case("slice_from_the_end", input({9, 4}), {{-3, 0}, {to_end, -1}, {}}),
      slice_case("slice_stride", input({9, 8}), {{1, 0}, {8, to_end}, {3, 2}}),
      slice_case("slice_of_nothing", input({4, 3}), {{4}, {4}, {}}),
      slice_case("slice_all_of_nothing", input({0, 3}), {{0, 1}, {to_end, to_end}, {2, 1}}),
      slice_case("slice_int16", input({4, 9}, Dtype::i16), {{0, 2}, {to_end, 9}, {1, 3}}),
      slice_gradient_case("slice_gradient", {9, 8}, {{1, 0}, {8, to_end}, {3, 2}}),
      slice_gradient_case("slice_gradient_rows", {9, 4}, {{2}, {7}, {}}),
      concat_case("concat_rows", {input({2, 3}), input({4, 3}), input({1, 3})}, 0),
      concat_case("concat_columns", {input({5, 3}), input({5, 1}), input({5, 6})}, -1),
      concat_case("concat_middle", {input({2, 3, 4}), input({2, 2, 4})}, 1),
      concat_case("concat_on_threads", {input({300, 300}), input({300, 300})}, 1),
      concat_case("concat_empty", {input({2, 0}), input({2, 3})}, 1),
      concat_case("concat_bool", {input({3}, Dtype::boolean), input({2}, Dtype::boolean)}, 0),
      broadcast_case("broadcast_scalar", input({}), {4, 5}),
      broadcast_case("broadcast_row", input({5}), {4, 5}),
      broadcast_case("broadcast_column", input({4, 1}), {4, 5}),
      broadcast_case("broadcast_middle", input({2, 1, 3}), {2, 4, 3}),
      broadcast_case("broadcast_int64", input({1, 2}, Dtype::i64), {3, 2}),
  };
}

GPUBENCH_OP_CASES(Movement, movement_cases);

class ShapeOpsTest : public testing::Test {
 protected:
  Graph graph_;
  Value x_ = graph_.input({{2, 3}, Dtype::f32}, "x");
};

TEST_F(ShapeOpsTest, PartsOfABatchAreViewsWhereATensorMayBegin) {
  const Value rows = graph_.input({{6, 16}, Dtype::f32}, "rows");
  const auto op_of = [&](Value value) { return graph_.node(value).op->name(); };
  EXPECT_EQ(ops::batch_part(graph_, rows, 0, 1), rows);
  EXPECT_EQ(op_of(ops::batch_part(graph_, rows, 2, 3)), "batch_part");
  EXPECT_EQ(op_of(ops::batch_part(graph_, x_, 0, 2)), "batch_part");
  const Value second = ops::batch_part(graph_, x_, 1, 2);  // begins after 12 bytes
  EXPECT_EQ(op_of(second), "slice");
  EXPECT_EQ(graph_.type(second).shape, (Shape{1, 3}));
  EXPECT_ERROR("batch_part: float32[6, 16] cannot be cut into 4 equal parts", ops::batch_part(graph_, rows, 0, 4));
}

TEST_F(ShapeOpsTest, ReshapeKeepsTheNumberOfElements) {
  EXPECT_EQ(ops::reshape(graph_, x_, {2, 3}), x_);
  EXPECT_EQ(graph_.type(ops::reshape(graph_, x_, {-1})).shape, Shape{6});
  EXPECT_ERROR("reshape: float32[2, 3] with 6 elements cannot become [4]", ops::reshape(graph_, x_, {4}));
  EXPECT_ERROR("reshape: float32[2, 3] with 6 elements cannot become [-1, 4]", ops::reshape(graph_, x_, {-1, 4}));
  EXPECT_ERROR("reshape: one extent may be -1, got [-1, -1]", ops::reshape(graph_, x_, {-1, -1}));
}

TEST_F(ShapeOpsTest, TransposeNamesEveryDimensionOnce) {
  EXPECT_ERROR("transpose: [0, 0] is no order of the dimensions of float32[2, 3]", ops::transpose(graph_, x_, {0, 0}));
  EXPECT_ERROR("transpose: [0] is no order of the dimensions of float32[2, 3]", ops::transpose(graph_, x_, {0}));
  EXPECT_ERROR("transpose: [0, 1, 2] is no order of the dimensions of float32[2, 3]",
               ops::transpose(graph_, x_, {0, 1, 2}));
}

TEST_F(ShapeOpsTest, SliceRefusesWhatItCannotName) {
  EXPECT_ERROR("slice: names 3 dimensions of float32[2, 3]", ops::slice(graph_, x_, {{0, 0, 0}, {1, 1, 1}, {}}));
  EXPECT_ERROR("slice: begin, end and stride must be equally long, got begin=[0] end=[1, 1] stride=[]",
               ops::slice(graph_, x_, {{0}, {1, 1}, {}}));
  EXPECT_ERROR("slice: strides must be at least 1, got [0]", ops::slice(graph_, x_, {{0}, {1}, {0}}));
  EXPECT_ERROR("slice_gradient: the gradient must be float32[1, 3], got float32[2, 3]",
               ops::slice_gradient(graph_, x_, {9, 3}, {{0}, {1}, {}}));
}

TEST_F(ShapeOpsTest, SliceRefusesBoundsOutsideOfItsInput) {
  const auto refused = [&](std::int64_t begin, std::int64_t end, const std::string& reason) {
    EXPECT_ERROR("slice: " + reason, ops::slice(graph_, x_, {{0, begin}, {to_end, end}, {}}));
  };
  const std::string outside = " is out of range: dimension 2 has 3 elements, numbered from 1";
  refused(3, 4, "index 4" + outside);
  refused(3, 9, "index 4" + outside);
  refused(3, to_end, "index 4" + outside);
  refused(-4, to_end, "index -4" + outside);
  refused(0, -3, "index -4" + outside);
  refused(4, 4, "index 5" + outside);
  refused(2, 1, "the range {3, 1} holds nothing");
  refused(1, -2, "the range {2, -3} holds nothing");
  EXPECT_ERROR("slice_gradient: the gradient must be float32[2, 2], got float32[2, 3]",
               ops::slice_gradient(graph_, x_, {2, 2}, {{0, 0}, {2, 3}, {}}));
}

TEST_F(ShapeOpsTest, SliceIsCutAtTheEndOfItsInput) {
  const auto shape_of = [&](SliceRange range) { return graph_.type(ops::slice(graph_, x_, std::move(range))).shape; };
  EXPECT_EQ(shape_of({{0, 1}, {9, 4}, {}}), (Shape{2, 2}));
  EXPECT_EQ(shape_of({{0, 0}, {to_end, to_end - 1}, {1, 2}}), (Shape{2, 2}));
}

TEST_F(ShapeOpsTest, ConcatTakesTensorsThatDifferInOneAxis) {
  const Value wide = graph_.input({{3, 4}, Dtype::f32}, "wide"), n = graph_.input({{2, 3}, Dtype::i64}, "n");
  EXPECT_ERROR("concat: float32[2, 3] and float32[3, 4] differ in more than axis 0",
               ops::concat(graph_, std::array{x_, wide}, 0));
  EXPECT_ERROR("concat: float32[2, 3] and int64[2, 3] differ in type; cast one of them",
               ops::concat(graph_, std::array{x_, n}, 0));
  EXPECT_ERROR("concat: axis 2 is outside float32[2, 3], which has 2 dimensions",
               ops::concat(graph_, std::array{x_}, 2));
  EXPECT_ERROR("concat: needs at least one input", ops::concat(graph_, {}, 0));
}

TEST_F(ShapeOpsTest, ReverseNamesAnAxisOnce) {
  const auto reverse = [&](std::vector<std::int64_t> axes) {
    graph_.apply(std::make_shared<const Reverse>(std::move(axes)), {x_});
  };
  EXPECT_ERROR("reverse: axis -1 is given twice in [1, -1]", reverse({1, -1}));
  EXPECT_ERROR("reverse: axis 2 is outside float32[2, 3], which has 2 dimensions", reverse({2}));
}

TEST_F(ShapeOpsTest, BroadcastOnlyStretches) {
  EXPECT_EQ(ops::broadcast_to(graph_, x_, {2, 3}), x_);
  EXPECT_ERROR("broadcast_to: float32[2, 3] does not stretch to [3, 2]", ops::broadcast_to(graph_, x_, {3, 2}));
}

}  // namespace
}  // namespace gpubench::shape_ops_test
