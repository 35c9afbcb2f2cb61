#include "core/train/compress/pruning.h"

#include <algorithm>
#include <gmock/gmock.h>

#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using ::testing::ElementsAre;

class Pruning : public support::TrainTest {
 protected:
  static std::ptrdiff_t zero_count(const HostTensor& weights) {
    return std::ranges::count(weights.values<float>(), 0.0F);
  }

  ModelPtr model = support::small_classifier();
  Trainer training = trainer(model);
};

TEST(MagnitudeMask, TakesExactlyTheSmallest) {
  const std::array weights{0.5F, -0.1F, 0.3F, 0.1F, -2.0F, 0.0F};
  const auto mask = [&](double sparsity) {
    const HostTensor tensor = magnitude_mask(HostTensor::of<float>({2, 3}, weights), sparsity);
    return std::vector<float>(tensor.values<float>().begin(), tensor.values<float>().end());
  };
  EXPECT_THAT(mask(0), ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_THAT(mask(1.0 / 3), ElementsAre(1, 0, 1, 1, 1, 0));  // of two that are equal the first
  EXPECT_THAT(mask(0.5), ElementsAre(1, 0, 1, 0, 1, 0));
  EXPECT_THAT(mask(5.0 / 6), ElementsAre(0, 0, 0, 0, 1, 0));
}

TEST(SparsitySchedule, DecaysAsAPolynomial) {
  const SparsitySchedule schedule{0.2, 0.8, 10, 30, 3, 5};
  EXPECT_DOUBLE_EQ(schedule.at(10), 0.2);
  EXPECT_DOUBLE_EQ(schedule.at(20), 0.8 - 0.6 / 8);
  EXPECT_DOUBLE_EQ(schedule.at(30), 0.8);
  std::vector<std::int64_t> due;
  for (std::int64_t step = 1; step < 40; ++step) {
    if (schedule.is_due(step)) due.push_back(step);
  }
  EXPECT_THAT(due, ElementsAre(10, 15, 20, 25, 30));
  const SparsitySchedule uneven{0, 0.5, 0, 7, 3, 5};
  EXPECT_TRUE(uneven.is_due(5) && !uneven.is_due(6) && uneven.is_due(7) && !uneven.is_due(10));
  const SparsitySchedule constant{0.4, 0.4, 3, {}, 1, 2};
  EXPECT_DOUBLE_EQ(constant.at(3), 0.4);
  EXPECT_TRUE(!constant.is_due(2) && constant.is_due(3) && !constant.is_due(4) && constant.is_due(1003));
}

TEST_F(Pruning, WeightsThatWentStayZeroWhileTrainingGoesOn) {
  model->build(factory);
  const auto pruning = std::make_shared<MagnitudePruning>(runtime, model, SparsitySchedule{0, 0.5, 0, 4, 3, 2},
                                                          std::vector<std::string>{});
  const Blobs blobs(48);
  const DatasetPtr data = batch(from_tensor_slices({blobs.points, blobs.one_hot}), 8);
  FitOptions options;
  options.callbacks = {pruning};
  EXPECT_EQ(pruning->sparsity(), 0);
  fit(training, *data, options);  // six steps: the masks are final
  EXPECT_EQ(pruning->sparsity(), 0.5);
  const auto zeros = [&] {
    std::vector<bool> result;
    const HostTensor kernel = training.weights()[0];
    for (const float weight : kernel.values<float>()) result.push_back(weight == 0);
    return result;
  };
  const std::vector<bool> before = zeros();
  EXPECT_EQ(std::ranges::count(before, true), 16);  // of 4 x 8; the answers' kernel keeps all
  EXPECT_EQ(zero_count(training.weights()[2]), 0);
  fit(training, *data, options);
  EXPECT_EQ(zeros(), before);
}

TEST_F(Pruning, StepsByHandOnLayersByName) {
  model->build(factory);
  MagnitudePruning pruning(runtime, model, {0.25, 0.25, 0, {}, 1, 1}, {"dense_1"});
  pruning.step();
  EXPECT_EQ(pruning.sparsity(), 0.25);
  EXPECT_EQ(zero_count(training.weights()[2]), 6);
}

TEST_F(Pruning, RefusesWhatItCannotDo) {
  const auto refused = [&](const SparsitySchedule& schedule, std::vector<std::string> layers, const char* message) {
    EXPECT_ERROR(message, MagnitudePruning(runtime, model, schedule, std::move(layers)));
  };
  refused({}, {}, "pruning: model 'small' has no weights yet; give its first layer an input_shape");
  model->build(factory);
  refused({0, 1}, {}, "pruning: a sparsity must be a share of at least 0 and below 1, got 1");
  refused({0, 0.5, 5, 5}, {}, "pruning: steps must begin at 0 or later and end behind that, got 5 to 5");
  refused({0, 0.5, 0, 5, 3, 0}, {}, "pruning: frequency must be at least 1 step, got 0");
  refused({}, {"dense_7"}, "pruning: model 'small' has no layer 'dense_7'");
  model = std::make_shared<Model>("bare", std::vector{make_layer("Flatten", {{"input_shape", Shape{4}}})});
  model->build(factory);
  refused({}, {"flatten"}, "pruning: layer 'flatten' (Flatten) has no kernel in float32");
  refused({}, {}, "pruning: model 'bare' has no layer with a kernel");
}

}  // namespace
}  // namespace gpubench
