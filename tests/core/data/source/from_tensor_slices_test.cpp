#include "core/data/source/from_tensor_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

TEST(FromTensorSlices, ElementsAreViewsOfTheRows) {
  const HostTensor table = HostTensor::of<float>({3, 2}, std::vector<float>{0, 1, 2, 3, 4, 5});
  const DatasetPtr dataset = from_tensor_slices({table});
  EXPECT_THAT(dataset->element_types(), ElementsAre(TensorType{{2}, Dtype::f32}));
  EXPECT_EQ(dataset->size(), 3);

  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  ASSERT_TRUE(cursor->next(element));
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(element[0].data(), table.rows(1, 2).data());
  EXPECT_THAT(element[0].values<float>(), ElementsAre(2, 3));
  ASSERT_TRUE(cursor->next(element));
  EXPECT_FALSE(cursor->next(element));
  EXPECT_FALSE(cursor->next(element));
}

TEST(FromTensorSlices, ElementsOutliveTheDataset) {
  Element element;
  numbers(4)->open()->next(element);
  EXPECT_THAT(element[1].values<float>(), ElementsAre(0, 0));
}

TEST(FromTensorSlices, EpochsAreIndependent) {
  const DatasetPtr dataset = numbers(3);
  const std::unique_ptr<Cursor> first = dataset->open(0);
  Element element;
  first->next(element);
  EXPECT_EQ(read(dataset, 1), counting(0, 3));
  EXPECT_EQ(read(*first), counting(1, 3));
}

TEST(FromTensorSlices, RefusesWhatHasNoCommonRows) {
  const HostTensor three = HostTensor::zeros({{3, 2}, Dtype::f32});
  const HostTensor four = HostTensor::zeros({{4}, Dtype::i64});
  EXPECT_ERROR("from_tensor_slices: first dimensions differ: float32[3, 2] has 3 rows, int64[4] has 4",
               from_tensor_slices({three, four}));
  EXPECT_ERROR("from_tensor_slices: float32[] is a scalar and has no rows",
               from_tensor_slices({HostTensor::scalar(1.0F)}));
  EXPECT_ERROR("from_tensor_slices: the dataset is empty: float32[0, 5] has no rows",
               from_tensor_slices({HostTensor::zeros({{0, 5}, Dtype::f32})}));
  EXPECT_ERROR("from_tensor_slices: no tensors given; at least one is needed", from_tensor_slices({}));
}

TEST(FromTensors, TheTensorsAreTheOnlyElement) {
  const HostTensor pair = HostTensor::of<float>({2}, std::array{1.0F, 2.0F});
  const DatasetPtr dataset = from_tensors({pair, HostTensor::scalar(std::int64_t{7})});
  EXPECT_EQ(dataset->size(), 1);
  EXPECT_EQ(to_string(dataset->element_types()), "(float32[2], int64[])");
  Element element;
  const std::unique_ptr<Cursor> cursor = dataset->open();
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(element[0].data(), pair.data());
  EXPECT_EQ(element[1].values<std::int64_t>()[0], 7);
  EXPECT_FALSE(cursor->next(element));
  EXPECT_ERROR("from_tensors: no tensors given; at least one is needed", from_tensors({}));
}

}  // namespace
}  // namespace gpubench
