#include "core/data/stage/group_by_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/map/map.h"
#include "core/data/source/range.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/padded_batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using Windows = std::vector<std::vector<std::int64_t>>;

Windows windows_of(const DatasetPtr& dataset, std::uint64_t epoch = 0) {
  Windows batches;
  const std::unique_ptr<Cursor> cursor = dataset->open(epoch);
  for (Element element; cursor->next(element);) {
    const auto values = element.front().values<std::int64_t>();
    batches.emplace_back(values.begin(), values.end());
  }
  return batches;
}

DatasetPtr by_rest(DatasetPtr source, std::int64_t size, const WindowFunction& reduce) {
  return group_by_window(std::move(source), {.key = modulo(3), .size = size}, reduce);
}

/// key -> key + 1
std::shared_ptr<const ElementFunction> one_more() {
  return std::make_shared<Native>(
      [](TensorTypes) {
        return std::vector<TensorType>{{{}, Dtype::i64}};
      },
      [](const ElementBlock& elements, ElementOutputs& outputs) {
        const std::int64_t more = elements.inputs[0].as<std::int64_t>()[0] + 1;
        std::memcpy(outputs.place(0, {{}, Dtype::i64}), &more, sizeof more);
      });
}

DatasetPtr batched_by_four(DatasetPtr window) {
  return batch(std::move(window), 4);
}

TEST(GroupByWindow, BatchesElementsOfOneKey) {
  const DatasetPtr dataset = by_rest(range(0, 14), 4, batched_by_four);
  const Windows expected{{0, 3, 6, 9}, {1, 4, 7, 10}, {2, 5, 8, 11}, {12}, {13}};
  EXPECT_EQ(windows_of(dataset), expected);
  EXPECT_EQ(windows_of(prefetch(dataset, 2)), expected);
  EXPECT_EQ(dataset->size(), std::nullopt);
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[?])");
  EXPECT_EQ(dataset->examples_per_element(), 4);
  EXPECT_EQ(describe(*dataset), "range(start=0 count=14 step=1) > group_by_window(size=4 group > batch(size=4))");
}

TEST(GroupByWindow, AWindowMayGiveSeveralElementsOrNone) {
  const auto pairs = [](DatasetPtr window) { return batch(std::move(window), 2, true); };
  EXPECT_EQ(windows_of(by_rest(range(0, 10), 3, pairs)), (Windows{{0, 3}, {1, 4}, {2, 5}}));
  const auto twice = [](DatasetPtr window) { return repeat(batch(std::move(window), 5), 2); };
  EXPECT_EQ(windows_of(by_rest(range(0, 3), 1, twice)), (Windows{{0}, {0}, {1}, {1}, {2}, {2}}));
}

TEST(GroupByWindow, TheSizeMayDependOnTheKey) {
  const WindowGroups groups{.key = modulo(3), .size_of = one_more()};
  EXPECT_EQ(windows_of(group_by_window(range(0, 9), groups, batched_by_four)),
            (Windows{{0}, {3}, {1, 4}, {6}, {2, 5, 8}, {7}}));
}

TEST(GroupByWindow, ShufflesDifferFromWindowToWindow) {
  const auto shuffled = [](DatasetPtr window) { return batch(shuffle(std::move(window), {.buffer = 30}), 30); };
  const auto key = modulo(1);
  const Windows found = windows_of(group_by_window(range(0, 60), {.key = key, .size = 30}, shuffled));
  ASSERT_EQ(found.size(), 2U);
  std::vector<std::int64_t> second = found[1];
  for (std::int64_t& number : second) number -= 30;
  EXPECT_NE(found[0], second);
  EXPECT_EQ(windows_of(group_by_window(range(0, 60), {.key = key, .size = 30}, shuffled)), found);
}

TEST(GroupByWindow, ElementsMayVaryInTheirExtents) {
  const auto length = std::make_shared<Native>(
      [](TensorTypes) {
        return std::vector<TensorType>{{{}, Dtype::i64}};
      },
      [](const ElementBlock& elements, ElementOutputs& outputs) {
        const std::int64_t extent = elements.inputs[0].type->shape[0] / 3;
        std::memcpy(outputs.place(0, {{}, Dtype::i64}), &extent, sizeof extent);
      });
  const auto padded = [](DatasetPtr window) { return padded_batch(std::move(window), {.size = 4}); };
  const DatasetPtr dataset = group_by_window(ragged(8), {.key = length, .size = 4}, padded);
  std::vector<Shape> shapes;
  const std::unique_ptr<Cursor> cursor = dataset->open();
  for (Element element; cursor->next(element);) shapes.push_back(element.front().shape());
  EXPECT_THAT(shapes, ElementsAre(Shape{4, 2}, Shape{4, 4}));
}

TEST(GroupByWindow, IsDestroyedWhileItRuns) {
  const DatasetPtr dataset = prefetch(by_rest(map(range(0, 1000), modulo(500), {.workers = 2}), 4, batched_by_four), 2);
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  EXPECT_TRUE(cursor->next(element));
}

TEST(GroupByWindow, RefusesWhatItCannotMakeAnew) {
  EXPECT_ERROR("group_by_window: key_func gives (int64[], float32[2]); one int64[] is needed",
               group_by_window(numbers(3), {.key = std::make_shared<Identity>(), .size = 1}, batched_by_four));
  EXPECT_ERROR("group_by_window: a window_size of 0; at least 1 is needed", by_rest(range(0, 3), 0, batched_by_four));
  EXPECT_ERROR(testing::HasSubstr("group_by_window: the window goes through zip, which cannot be made anew"),
               by_rest(range(0, 3), 2, [](DatasetPtr window) {
                 return zip({window, window});
               }));
  EXPECT_ERROR(testing::HasSubstr("group_by_window: the window goes through range"),
               by_rest(range(0, 3), 2, [](const DatasetPtr&) { return range(0, 5); }));
  const WindowGroups none{.key = modulo(3), .size_of = modulo(1)};
  EXPECT_ERROR("group_by_window: window_size_func gave 0 for the key 0; at least 1 is needed",
               windows_of(group_by_window(range(0, 9), none, batched_by_four)));
}

}  // namespace
}  // namespace gpubench
