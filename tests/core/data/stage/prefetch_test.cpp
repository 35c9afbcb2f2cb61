#include "core/data/stage/prefetch.h"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/interrupt.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

TEST(Prefetch, KeepsOrderAndEnd) {
  for (const std::int64_t capacity : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, autotune}) {
    const DatasetPtr dataset = prefetch(batch(numbers(1000), 8), capacity);
    EXPECT_EQ(dataset->size(), 125);
    const std::unique_ptr<Cursor> cursor = dataset->open();
    EXPECT_EQ(read(*cursor), counting(0, 1000)) << "capacity " << capacity;
    Element element;
    EXPECT_FALSE(cursor->next(element));
  }
}

TEST(Prefetch, GivesWhatWouldComeWithoutIt) {
  const DatasetPtr plain = batch(shuffle(numbers(500), {.buffer = 100, .seed = 9}), 16);
  EXPECT_EQ(read(prefetch(plain, 4), 3), read(plain, 3));
}

TEST(Prefetch, Nests) {
  EXPECT_EQ(read(prefetch(batch(prefetch(opaque(numbers(300)), 3), 7), 2)), counting(0, 300));
}

TEST(Prefetch, AWorkersErrorComesAfterTheGoodElements) {
  const std::unique_ptr<Cursor> cursor = prefetch(std::make_shared<Damaged>(numbers(10), 3), 8)->open();
  Element element;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cursor->next(element));
  EXPECT_ERROR("element 3 is damaged", cursor->next(element));
  EXPECT_EQ(read(*cursor), counting(3, 10));
}

TEST(Prefetch, CanBeDestroyedWhileItRuns) {
  for (int taken = 0; taken < 40; ++taken) {
    const std::unique_ptr<Cursor> cursor = prefetch(prefetch(batch(repeat(numbers(100)), 3), 2), autotune)->open();
    Element element;
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(cursor->next(element));
  }
}

TEST(Prefetch, ElementsOutliveTheCursor) {
  Element element;
  prefetch(batch(numbers(100), 10), 4)->open()->next(element);
  EXPECT_THAT(element[0].values<std::int64_t>(), testing::ElementsAreArray(counting(0, 10)));
}

TEST(Prefetch, StatisticsCanBeReadWhileItRuns) {
  const std::unique_ptr<Cursor> cursor = prefetch(batch(repeat(numbers(100), 20), 3), 4)->open();
  Element element;
  std::int64_t taken = 0;
  while (cursor->next(element)) {
    const std::vector<StageStatistics> stages = cursor->statistics();
    ASSERT_EQ(stages.size(), 4U);
    EXPECT_EQ(stages[3].produced, ++taken);
    EXPECT_GE(stages[2].produced, taken);
    EXPECT_EQ(stages[3].workers, 1);
    EXPECT_LE(stages[3].buffered, 4);
  }
  EXPECT_EQ(cursor->statistics()[2].produced, taken);
}

TEST(Prefetch, AutotuneBuffersMoreSmallElementsThanLargeOnes) {
  const auto chosen = [](std::int64_t rows, std::int64_t size) {
    const HostTensor table(TensorType{{rows, size}, Dtype::u8});
    const std::unique_ptr<Cursor> cursor = prefetch(from_tensor_slices({table}))->open();
    Element element;
    cursor->next(element);
    return cursor->statistics().back().capacity;
  };
  EXPECT_EQ(chosen(4, 16), 64);
  EXPECT_EQ(chosen(4, 1 << 20), 7);
  EXPECT_EQ(chosen(4, 8 << 20), 2);
}

/// Gives nothing until `released`.
class Stuck final : public Transformation {
 public:
  Stuck(DatasetPtr source, std::shared_future<void> released)
      : Transformation(std::move(source)), released_(std::move(released)) {}
  std::string_view stage() const override { return "stuck"; }
  std::unique_ptr<Cursor> open(std::uint64_t /*epoch*/, const CursorOptions& /*options*/) const override {
    class StuckCursor final : public Cursor {
     public:
      explicit StuckCursor(std::shared_future<void> released) : released_(std::move(released)) {}
      bool next(Element& /*element*/) override {
        released_.wait();
        return false;
      }
      std::vector<StageStatistics> statistics() const override { return {}; }

     private:
      std::shared_future<void> released_;
    };
    return std::make_unique<StuckCursor>(released_);
  }

 private:
  std::shared_future<void> released_;
};

TEST(Prefetch, AConsumerThatWaitsCanBeInterrupted) {
  std::promise<void> release_source;
  const std::unique_ptr<Cursor> cursor =
      prefetch(std::make_shared<Stuck>(numbers(3), release_source.get_future().share()), 2)->open();
  Element element;
  request_interrupt();
  EXPECT_THROW(cursor->next(element), Interrupted);
  clear_interrupt();
  release_source.set_value();
}

TEST(Prefetch, RefusesBuffersThatCannotBe) {
  EXPECT_ERROR("prefetch: a buffer of 0 elements; 1 to 1048576 are possible, or AUTOTUNE", prefetch(numbers(3), 0));
  EXPECT_ERROR(
      "prefetch: a buffer of 9223372036854775807 elements; 1 "
      "to 1048576 are possible, or AUTOTUNE",
      prefetch(numbers(3), endless));
}

}  // namespace
}  // namespace gpubench
