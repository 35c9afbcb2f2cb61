// How far interleave with threads reads ahead: in an input, and of inputs that come next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/data/interleave/interleave.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/repeat.h"
#include "tests/core/data/awaited_count.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/watched_input.h"

namespace gpubench {
namespace {

using testing::AnyOf;

TEST(InterleaveAhead, OpenInputsBeforeTheirTurnButNotAllOfThem) {
  AwaitedCount opened;
  const std::vector<DatasetPtr> inputs(20, watched(numbers(1000), {.opens = [&] { opened.add(); }}));
  const std::unique_ptr<Cursor> cursor = interleave(inputs, {.cycle_length = 2, .parallel = 3})->open();
  EXPECT_EQ(opened.now(), 0);
  Element element;
  ASSERT_TRUE(cursor->next(element));
  opened.await(2 + 3);
  for (int i = 1; i < 900; ++i) ASSERT_TRUE(cursor->next(element));  // the first two do not end
  EXPECT_EQ(opened.now(), 2 + 3);
  EXPECT_EQ(read(*cursor).size(), 20U * 1000U - 900U);
  EXPECT_EQ(opened.now(), 20);
}

/// How far a thread reads ahead in an input until it turns to the next.
int read_ahead(const DatasetPtr& elements, std::int64_t block) {
  AwaitedCount reads, opened;
  const DatasetPtr first = watched(elements, {.reads = [&] { reads.add(); }});
  const DatasetPtr next = watched(elements, {.opens = [&] { opened.add(); }});
  const std::unique_ptr<Cursor> cursor =
      interleave({first, next}, {.cycle_length = 1, .block_length = block, .parallel = 1})->open();
  Element element;
  EXPECT_TRUE(cursor->next(element));
  opened.await(1);
  return reads.now() - 1;
}

/// Elements of uint8[bytes], whose type does not tell.
DatasetPtr large(std::int64_t bytes) {
  class Large final : public Dataset {
   public:
    explicit Large(std::int64_t bytes) : bytes_(bytes) {}
    std::string_view stage() const override { return "large"; }
    const std::vector<TensorType>& element_types() const override { return types_; }
    std::optional<std::int64_t> size() const override { return endless; }
    std::unique_ptr<Cursor> open(std::uint64_t, const CursorOptions&) const override {
      class LargeCursor final : public Cursor {
       public:
        explicit LargeCursor(std::int64_t bytes) : tensor_(TensorType{{bytes}, Dtype::u8}) {}
        bool next(Element& element) override {
          element.assign(1, tensor_);
          return true;
        }
        std::vector<StageStatistics> statistics() const override { return {}; }

       private:
        const HostTensor tensor_;
      };
      return std::make_unique<LargeCursor>(bytes_);
    }

   private:
    const std::int64_t bytes_;
    const std::vector<TensorType> types_{{{varying}, Dtype::u8}};
  };
  return std::make_shared<Large>(bytes);
}

TEST(InterleaveAhead, ReadAheadWhatFits) {
  constexpr std::int64_t kibibyte = 1024;
  constexpr std::int64_t too_wide_to_be_packed = 200;
  EXPECT_THAT(read_ahead(repeat(numbers(10)), 1), AnyOf(1023, 1024));  // the first may be taken before or after
  EXPECT_THAT(read_ahead(repeat(numbers(10)), 100000), AnyOf(1023, 1024));
  EXPECT_THAT(read_ahead(repeat(numbers(10, too_wide_to_be_packed)), 1), AnyOf(255, 256));
  EXPECT_THAT(read_ahead(large(500 * kibibyte), 1), AnyOf(3, 4));
  EXPECT_THAT(read_ahead(large(100000 * kibibyte), 1), AnyOf(1, 2));
}

TEST(InterleaveAhead, ReadLessOfEachInALongCycle) {
  const auto capacity = [](const DatasetPtr& input, std::int64_t cycle, std::int64_t block) {
    const std::vector<DatasetPtr> all(static_cast<std::size_t>(cycle), input);
    const InterleaveOptions options{.cycle_length = cycle, .block_length = block, .parallel = 1};
    return interleave(all, options)->open()->statistics().back().capacity / cycle;
  };
  EXPECT_EQ(capacity(numbers(3), 4, 1), 1024);
  EXPECT_EQ(capacity(numbers(3), 64, 1), 128);
  EXPECT_EQ(capacity(numbers(3), 4000, 1), 4);
  EXPECT_EQ(capacity(numbers(3), 4000, 50), 100);
  EXPECT_EQ(capacity(numbers(3, 200), 4, 1), 256);
  EXPECT_EQ(capacity(numbers(3, 200), 64, 1), 16);
  const HostTensor images(TensorType{{2, 1 << 18}, Dtype::u8});
  EXPECT_EQ(capacity(from_tensor_slices({images}), 3, 1), 7);
  EXPECT_EQ(capacity(from_tensor_slices({images}), 3, 50), 7);
}

}  // namespace
}  // namespace gpubench
