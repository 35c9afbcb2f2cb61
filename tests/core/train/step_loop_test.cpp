#include "core/train/step_loop.h"

#include <gtest/gtest.h>

#include "tests/core/train/fixture.h"
#include "tests/support/allocations.h"

namespace gpubench {
namespace {

using Loop = support::TrainTest;

TEST_F(Loop, AWarmStepAllocatesNothing) {
  const support::Blobs blobs(320);
  Trainer model = trainer(support::small_classifier(), classifier("adam", "sparse_categorical_crossentropy"));
  StepLoop steps = model.training_loop();
  const DatasetPtr data = batches_of({blobs.points, blobs.indices}, 32, 1);
  const auto cursor = data->open();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(steps.step(*cursor));
  bool stepped = true;
  const long allocated = support::count_allocations([&] {
    for (int i = 0; i < 5; ++i) stepped = stepped && steps.step(*cursor);
  });
  EXPECT_TRUE(stepped);
  EXPECT_EQ(allocated, 0);
}

TEST_F(Loop, ChangesPlansWithTheBatch) {
  const support::Blobs blobs(50);
  Trainer model = trainer(support::small_classifier());
  StepLoop steps = model.training_loop();
  const auto cursor = batches_of({blobs.points, blobs.one_hot}, 32)->open();
  ASSERT_TRUE(steps.step(*cursor));
  EXPECT_EQ(steps.examples(), 32);
  const StepPlan* whole = &steps.plan();
  ASSERT_TRUE(steps.step(*cursor));
  EXPECT_EQ(steps.examples(), 18);
  EXPECT_NE(&steps.plan(), whole);
  EXPECT_FALSE(steps.step(*cursor));
}

}  // namespace
}  // namespace gpubench
