#include "core/train/batch_size_search.h"

#include <gmock/gmock.h>

#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/device/device.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using ::testing::HasSubstr;

class BatchSizeSearchTest : public support::TrainTest {
 protected:
  MemoryPool& pool() { return devices.device({}).memory(); }

  /// Whole batches, during which so many bytes for each example are held on the device.
  BatchSource holding(std::size_t bytes_per_example) {
    return [this, bytes_per_example](std::int64_t batch_size) {
      held_ = {};
      held_ = pool().allocate(bytes_per_example * static_cast<std::size_t>(batch_size), "held");
      return batch(from_tensor_slices({blobs_.points, blobs_.one_hot}), batch_size, true);
    };
  }

  Blobs blobs_{4096};
  Buffer held_;
};

constexpr std::size_t kib = 1024;

TEST_F(BatchSizeSearchTest, TheFirstTrialIsTheLargestThatFits) {
  Trainer model = trainer(support::small_classifier());
  const BatchSizeSearch found = find_batch_size(model, holding(0), {.limit = 200 * kib, .largest = 4096});
  ASSERT_EQ(found.trials.size(), 1U);
  EXPECT_EQ(found.trials[0].used, found.trials[0].predicted);
  EXPECT_GT(found.batch_size, 100);
  EXPECT_LT(found.batch_size, 4096);
}

TEST_F(BatchSizeSearchTest, BacksOffWhereMoreIsUsedThanPredicted) {
  Trainer model = trainer(support::small_classifier());
  const BatchSizeSearch found = find_batch_size(model, holding(32), {.limit = 200 * kib, .largest = 4096});
  EXPECT_GT(found.trials.size(), 1U);
  EXPECT_LE(found.trials.size(), 4U);
  EXPECT_FALSE(found.trials[0].fits);
  EXPECT_TRUE(found.trials.back().fits);
  EXPECT_EQ(found.trials.back().batch_size, found.batch_size);
  EXPECT_LE(found.trials.back().used, 200 * kib);
}

TEST_F(BatchSizeSearchTest, GivesUpAfterItsTrials) {
  Trainer model = trainer(support::small_classifier());
  EXPECT_ERROR(HasSubstr("find_batch_size: no batch of model 'small' was found to fit 200 KiB; tried "),
               find_batch_size(model, holding(32), {.limit = 200 * kib, .largest = 4096, .most_trials = 1}));
}

TEST_F(BatchSizeSearchTest, TheArenaOfOtherModelsCountsOnce) {
  Trainer model = trainer(support::small_classifier());
  constexpr std::size_t limit = 400 * kib;
  const BatchSizeSearch alone = find_batch_size(model, holding(0), {.limit = limit, .largest = 4096});
  Trainer other = trainer(support::small_classifier());
  // Its plan lives on, and with it an arena for three quarters of the batch.
  fit(other, *batches_of({blobs_.points, blobs_.one_hot}, alone.batch_size * 3 / 4), {});
  ASSERT_GT(pool().use().in_use, limit / 2);
  const BatchSizeSearch beside = find_batch_size(model, holding(0), {.limit = limit, .largest = 4096});
  EXPECT_GT(beside.batch_size, alone.batch_size * 9 / 10);
}

TEST_F(BatchSizeSearchTest, StepsLeaveNoTrace) {
  Trainer model = trainer(support::small_classifier());
  fit(model, *batches_of({blobs_.points, blobs_.one_hot}, 512), {});
  const std::vector<float> weights = support::flat(model.weights());
  const Logs figures = model.read_metrics();
  find_batch_size(model, holding(0), {.limit = 200 * kib, .largest = 4096});
  EXPECT_EQ(support::flat(model.weights()), weights);
  EXPECT_EQ(model.read_metrics(), figures);
  EXPECT_EQ(runtime.variables().read(*model.config().optimizer->iterations()).values<std::int64_t>()[0], 8);
}

}  // namespace
}  // namespace gpubench
