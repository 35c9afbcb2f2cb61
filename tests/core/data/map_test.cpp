#include "core/data/map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/batch.h"
#include "core/data/shuffle.h"
#include "tests/core/data/reading.h"

namespace gpubench {
namespace {

using testing::ThrowsMessage;

/// (n, pair) -> (n + 1, pair with both halves moved by one the same way): keeps what read() checks.
class Increment final : public ElementFunction {
 public:
  std::vector<TensorType> output_types(std::span<const TensorType> inputs) const override {
    if (inputs.size() != 2) throw Error("increment: two tensors are needed");
    return {inputs.begin(), inputs.end()};
  }
  std::unique_ptr<ElementRunner> plan(std::span<const TensorType>) const override {
    class Runner final : public ElementRunner {
     public:
      void run(std::int64_t /*number*/, std::span<const TensorView> in, std::span<const TensorView> out) override {
        for (std::int64_t i = 0; i < in[0].elements(); ++i)
          out[0].as<std::int64_t>()[i] = in[0].as<std::int64_t>()[i] + 1;
        for (std::int64_t i = 0; i < in[1].elements(); ++i) {
          out[1].as<float>()[i] = in[1].as<float>()[i] + (i % 2 == 0 ? 1.0F : -1.0F);
        }
      }
    };
    return std::make_unique<Runner>();
  }
};

class Map : public testing::TestWithParam<bool> {
 protected:
  static DatasetPtr source(std::int64_t count) { return GetParam() ? numbers(count) : opaque(numbers(count)); }
  const std::shared_ptr<const ElementFunction> increment_ = std::make_shared<Increment>();
};
INSTANTIATE_TEST_SUITE_P(Ways, Map, testing::Bool(), [](const auto& way) { return way.param ? "Rows" : "Elements"; });

TEST_P(Map, AppliesTheFunctionToEveryElement) {
  const DatasetPtr dataset = map(source(200), increment_);
  EXPECT_EQ(dataset->size(), 200);
  EXPECT_EQ(read(dataset), counting(1, 201));
}

TEST_P(Map, WritesIntoTheBatchThatFollows) {
  EXPECT_EQ(read(batch(map(map(source(200), increment_), increment_), 32)), counting(2, 202));
}

TEST_P(Map, CanBeShuffledAfterwards) {
  EXPECT_THAT(read(shuffle(map(source(200), increment_), {.buffer = 64})),
              testing::UnorderedElementsAreArray(counting(1, 201)));
}

TEST_P(Map, TakesBatchesOfVaryingSize) {
  const DatasetPtr dataset = map(batch(source(10), 4), increment_);
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[?], float32[?, 2])");
  EXPECT_EQ(read(dataset), counting(1, 11));
}

TEST_P(Map, CountsAndTimesItsWork) {
  const std::unique_ptr<Cursor> cursor = batch(map(source(10), increment_), 4)->open();
  read(*cursor);
  const StageStatistics stage = cursor->statistics().at(1);
  EXPECT_EQ(stage.stage, "map");
  EXPECT_EQ(stage.produced, 10);
  EXPECT_GT(stage.busy.count(), 0.0);
}

TEST(MapErrors, AreTheFunctions) {
  EXPECT_THAT(
      [] {
        map(from_tensor_slices({HostTensor::zeros({{3}, Dtype::f32})}), std::make_shared<Increment>());
      },
      ThrowsMessage<Error>("increment: two tensors are needed"));
}

}  // namespace
}  // namespace gpubench
