#include "core/backend/cuda/matmul_geometry.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench::cuda {
namespace {

using testing::ElementsAre;
using Start = MatmulGeometry::Start;

MatmulGeometry geometry(Shape a, Shape b, MatmulAttributes options = {}) {
  const Matmul op(options);
  const std::array inputs{TensorType{std::move(a), Dtype::f32}, TensorType{std::move(b), Dtype::f32}};
  const std::vector<TensorType> outputs = op.infer(inputs);
  return matmul_geometry(op, {inputs, outputs});
}

TEST(MatmulGeometryTest, TheSecondInputIsOnTheLeft) {
  const MatmulGeometry plain = geometry({32, 784}, {784, 10});
  EXPECT_EQ(plain.left, (MatrixShape{10, 784, 0}));
  EXPECT_EQ(plain.right, (MatrixShape{784, 32, 0}));
  EXPECT_EQ(plain.result, (MatrixShape{10, 32, 0}));
  EXPECT_FALSE(plain.transpose_left);
  EXPECT_FALSE(plain.transpose_right);
}

TEST(MatmulGeometryTest, StoredMatricesKeepTheirShapeUnderTransposition) {
  const MatmulGeometry both = geometry({784, 32}, {10, 784}, {.transpose_a = true, .transpose_b = true});
  EXPECT_EQ(both.left, (MatrixShape{784, 10, 0}));
  EXPECT_EQ(both.right, (MatrixShape{32, 784, 0}));
  EXPECT_TRUE(both.transpose_left);
  EXPECT_TRUE(both.transpose_right);
}

TEST(MatmulGeometryTest, ABatchTimesOneMatrixIsOneTallProduct) {
  const MatmulGeometry tall = geometry({8, 16, 4}, {4, 5});
  EXPECT_EQ(tall.batch, 1);
  EXPECT_EQ(tall.right, (MatrixShape{4, 128, 0}));
  EXPECT_EQ(tall.result, (MatrixShape{5, 128, 0}));
  // Its transpose is not: the matrices then do not lie one below the other.
  EXPECT_EQ(geometry({8, 4, 16}, {4, 5}, {.transpose_a = true}).batch, 8);
}

TEST(MatmulGeometryTest, AStretchedOperandHasNoStride) {
  const MatmulGeometry batched = geometry({3, 4}, {7, 4, 5});
  EXPECT_EQ(batched.batch, 7);
  EXPECT_EQ(batched.left.batch_stride, 20);
  EXPECT_EQ(batched.right.batch_stride, 0);
  EXPECT_EQ(batched.result.batch_stride, 15);
  EXPECT_THAT(batched.launches, ElementsAre(Start{}));
}

TEST(MatmulGeometryTest, LeadingDimensionsWithoutOneStrideAreSeveralLaunches) {
  const MatmulGeometry crossed = geometry({2, 1, 3, 4}, {6, 4, 5});
  EXPECT_EQ(crossed.batch, 6);
  EXPECT_THAT(crossed.launches, ElementsAre(Start{0, 0, 0}, Start{0, 12, 90}));
  EXPECT_EQ(matmul_alignment(crossed, 4), 8U);
  EXPECT_EQ(matmul_alignment(geometry({3, 4}, {4, 5}), 4), 64U);
}

}  // namespace
}  // namespace gpubench::cuda
