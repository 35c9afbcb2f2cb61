#include "core/data/map/map.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/data/produced.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/shuffle.h"
#include "core/data/types.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

class Map : public testing::TestWithParam<Taken> {
 protected:
  static DatasetPtr source(std::int64_t count) { return numbers(count, GetParam()); }
  const std::shared_ptr<const ElementFunction> increment_ = std::make_shared<Increment>();
};
INSTANTIATE_TEST_SUITE_P(Ways, Map, testing::Values(Taken::as_rows, Taken::packed, Taken::whole),
                         [](const auto& way) { return to_string(way.param); });

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
  EXPECT_EQ(dataset->element_types()[1].shape.front(), varying);
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

/// Takes at least a millisecond for each element.
class Slow final : public Transformation {
 public:
  using Transformation::Transformation;
  std::string_view stage() const override { return "slow"; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    class SlowCursor final : public Cursor {
     public:
      SlowCursor(std::unique_ptr<Cursor> inner, TensorTypes types) : inner_(std::move(inner)), produced_(types) {}
      bool next(Element& element) override {
        const Stopwatch watch;
        while (watch.elapsed() < std::chrono::milliseconds(1)) continue;
        produced_.add(element);
        return inner_->next(element);
      }
      std::vector<StageStatistics> statistics() const override { return {produced_.row("slow")}; }

     private:
      std::unique_ptr<Cursor> inner_;
      Produced produced_;
    };
    return std::make_unique<SlowCursor>(source().open(epoch, options), element_types());
  }
};

TEST_P(Map, HoldsNothingBackThatASlowSourceGave) {
  const std::unique_ptr<Cursor> cursor = map(std::make_shared<Slow>(source(20)), increment_)->open();
  Element element;
  for (std::int64_t taken = 1; taken <= 20; ++taken) {
    ASSERT_TRUE(cursor->next(element));
    EXPECT_EQ(cursor->statistics().front().produced, taken);
  }
}

TEST(MapErrors, AreTheFunctions) {
  EXPECT_ERROR("increment: two tensors are needed",
               map(from_tensor_slices({HostTensor::zeros({{3}, Dtype::f32})}), std::make_shared<Increment>()));
}

/// Declares `declared` and gives `given`.
std::shared_ptr<const Native> misdeclared(const TensorType& declared, const TensorType& given) {
  return std::make_shared<Native>([declared](const auto&) { return std::vector{declared}; },
                                  [given](const ElementBlock&, ElementOutputs& outputs) {
                                    std::memset(outputs.place(0, given), 0, given.bytes());
                                  });
}

TEST(MapResults, AreWhatTheFunctionDeclared) {
  const auto refused = [](const TensorType& declared, const TensorType& given, const std::string& text) {
    const auto cursor = map(numbers(2), misdeclared(declared, given))->open();
    Element element;
    EXPECT_ERROR("map: the function gave " + text + " declares " + to_text(declared) + " (element 1 of the epoch)",
                 cursor->next(element));
  };
  refused({{3}, Dtype::f32}, {{2}, Dtype::f32}, "float32[2] for an element, where it");
  refused({{varying, 3}, Dtype::f32}, {{5, 2}, Dtype::f32}, "float32[5, 2] for an element, where it");
  refused({{varying}, Dtype::u8}, {{4}, Dtype::f32}, "float32[4] for an element, where it");
}

}  // namespace
}  // namespace gpubench
