// On the CPU an index out of range is an Error; on a GPU, for which the host does not wait, what is made of it is not a
// number, and what belongs to other indices stays right.
#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/device/device.h"
#include "core/ops/indexing.h"
#include "core/ops/loss.h"
#include "core/ops/measured_cross_entropy.h"
#include "core/ops/metric.h"
#include "tests/support/array.h"
#include "tests/support/case_checks.h"
#include "tests/support/evaluate.h"

namespace gpubench {
namespace {

using support::Array;
using testing::Each;
using testing::ElementsAre;
using testing::IsNan;

class OutOfRangeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (support::places().empty()) GTEST_SKIP() << support::why_no_place();
  }
  static std::vector<double> run(const Op& op, std::vector<HostTensor> inputs, std::size_t output = 0) {
    const support::Place& place = support::places().front();
    return support::to_array(support::evaluate(*place.backend, *place.device, op, inputs)[output]).values;
  }
  static std::vector<double> first_row(const std::vector<double>& values, std::ptrdiff_t width) {
    return {values.begin(), values.begin() + width};
  }
  static std::vector<double> other_rows(const std::vector<double>& values, std::ptrdiff_t width) {
    return {values.begin() + width, values.end()};
  }
  static HostTensor filled(Shape shape, double value) {
    Array array({std::move(shape), Dtype::f32});
    array.values.assign(array.values.size(), value);
    return support::to_tensor(array);
  }

  const std::array<std::int64_t, 3> numbers_{1, 4, -1};
  const HostTensor indices_ = HostTensor::of<std::int64_t>({3}, numbers_);
};

TEST_F(OutOfRangeTest, LossesOfAWrongLabelAreNotNumbers) {
  const HostTensor p = filled({3, 4}, 0.25);
  for (const std::vector<double>& loss :
       {run(SparseCategoricalCrossEntropy(), {p, indices_}), run(SparseSoftmaxCrossEntropy(), {p, indices_})}) {
    EXPECT_THAT(loss, ElementsAre(testing::DoubleNear(std::log(4), 1e-6), IsNan(), IsNan()));
  }
}

TEST_F(OutOfRangeTest, GradientsOfAWrongLabelAreNotNumbers) {
  const HostTensor p = filled({3, 4}, 0.25), dloss = filled({3}, 1);
  const auto categorical = run(SparseCategoricalCrossEntropyGradient(), {dloss, p, indices_});
  const auto softmax = run(SparseSoftmaxCrossEntropyGradient(), {dloss, p, indices_});
  EXPECT_THAT(first_row(categorical, 4), ElementsAre(0, -4, 0, 0));
  EXPECT_THAT(first_row(softmax, 4), ElementsAre(0.25, -0.75, 0.25, 0.25));
  EXPECT_THAT(other_rows(categorical, 4), Each(IsNan()));
  EXPECT_THAT(other_rows(softmax, 4), Each(IsNan()));
}

TEST_F(OutOfRangeTest, AWrongLabelIsNeitherMatchNorMiss) {
  EXPECT_THAT(run(TopKMatches(2), {filled({3, 4}, 1), indices_}), ElementsAre(1, IsNan(), IsNan()));
}

TEST_F(OutOfRangeTest, MeansOverAWrongLabelAreNotNumbers) {
  const MeasuredCrossEntropy op({.gradient = true, .metrics = {1}});
  const std::vector<HostTensor> inputs{filled({3, 4}, 0.25), indices_, filled({3}, 1)};
  const auto gradient = run(op, inputs, 1);
  EXPECT_THAT(first_row(gradient, 4), ElementsAre(0.25, -0.75, 0.25, 0.25));
  EXPECT_THAT(other_rows(gradient, 4), Each(IsNan()));
  for (const std::size_t figure : {2, 3}) EXPECT_THAT(run(op, inputs, figure), ElementsAre(IsNan(), 3));
}

TEST_F(OutOfRangeTest, OneHotRowsShowTheWrongIndex) {
  const auto floats = run(OneHot(4), {indices_});
  EXPECT_THAT(first_row(floats, 4), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(other_rows(floats, 4), Each(IsNan()));
  EXPECT_THAT(other_rows(run(OneHot(4, Dtype::i32), {indices_}), 4), Each(-1));
  EXPECT_THAT(other_rows(run(OneHot(4, Dtype::boolean), {indices_}), 4), Each(1));
}

TEST_F(OutOfRangeTest, GatheredRowsShowTheWrongIndex) {
  for (const std::int64_t width : {1, 2, 3}) {
    const auto rows = run(Gather(), {filled({4, width}, 7), indices_});
    EXPECT_THAT(first_row(rows, width), Each(7));
    EXPECT_THAT(other_rows(rows, width), Each(IsNan()));
  }
  const HostTensor flags = HostTensor::zeros({{4, 3}, Dtype::boolean});
  EXPECT_THAT(run(Gather(), {flags, indices_}), ElementsAre(0, 0, 0, 1, 1, 1, 1, 1, 1));
}

TEST_F(OutOfRangeTest, PlacesThatDoNotExistHaveNoNumber) {
  const std::array<std::int64_t, 6> places{1, 2, 4, 0, 0, -1};
  EXPECT_THAT(run(FlatIndex({4, 3}, "scatter"), {HostTensor::of<std::int64_t>({3, 2}, places)}),
              ElementsAre(5, -1, -1));
}

TEST_F(OutOfRangeTest, AnUpdateOfAWrongRowShowsInTheFirst) {
  for (const std::int64_t width : {1, 2, 3}) {
    const auto rows = run(ScatterUpdate(), {filled({4, width}, 7), indices_, filled({3, width}, 5)});
    EXPECT_THAT(first_row(rows, width), Each(IsNan()));
    EXPECT_THAT(std::vector<double>(rows.begin() + width, rows.begin() + 2 * width), Each(5));
    EXPECT_THAT(std::vector<double>(rows.begin() + 2 * width, rows.end()), Each(7));
  }
}

TEST_F(OutOfRangeTest, GradientsOfGatheredRowsLeaveTheWrongIndexOut) {
  EXPECT_THAT(run(GatherGradient(4), {filled({3, 1}, 7), indices_}), ElementsAre(0, 7, 0, 0));
}

}  // namespace
}  // namespace gpubench
