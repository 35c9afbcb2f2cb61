#include "core/data/stage/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/source/range.h"
#include "core/data/stage/by_position.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

/// "0 1 2|2 3 4": the numbers of each window, checked against the pairs beside them.
std::string windows(const DatasetPtr& dataset) {
  std::string text;
  const std::unique_ptr<Cursor> cursor = dataset->open();
  for (Element element; cursor->next(element);) {
    text += text.empty() ? "" : "|";
    const auto numbers = element[0].values<std::int64_t>();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ(element[1].values<float>()[2 * i], static_cast<float>(numbers[i]));
      text += (i > 0 ? " " : "") + std::to_string(numbers[i]);
    }
  }
  return text;
}

TEST(Window, ShiftStrideAndRemainderAreThoseOfTfData) {
  struct Case {
    WindowOptions options;
    const char* windows;
    std::int64_t size;
    const char* types;
  };
  const Case cases[] = {
      {{.size = 3, .shift = 3}, "0 1 2|3 4 5|6", 3, "(int64[?], float32[?, 2])"},
      {{.size = 3, .shift = 3, .drop_remainder = true}, "0 1 2|3 4 5", 2, "(int64[3], float32[3, 2])"},
      {{.size = 3, .shift = 2, .drop_remainder = true}, "0 1 2|2 3 4|4 5 6", 3, "(int64[3], float32[3, 2])"},
      {{.size = 3, .shift = 2}, "0 1 2|2 3 4|4 5 6|6", 4, "(int64[?], float32[?, 2])"},
      {{.size = 2, .shift = 3}, "0 1|3 4|6", 3, "(int64[?], float32[?, 2])"},
      {{.size = 3, .shift = 1, .stride = 2, .drop_remainder = true},
       "0 2 4|1 3 5|2 4 6",
       3,
       "(int64[3], float32[3, 2])"},
      {{.size = 2, .shift = 4, .stride = 3}, "0 3|4", 2, "(int64[?], float32[?, 2])"},
      {{.size = 1, .shift = 1}, "0|1|2|3|4|5|6", 7, "(int64[1], float32[1, 2])"},
      {{.size = 7, .shift = 9}, "0 1 2 3 4 5 6", 1, "(int64[7], float32[7, 2])"},
  };
  for (const Case& expected : cases) {
    for (const DatasetPtr& source : {numbers(7), opaque(numbers(7))}) {
      const DatasetPtr dataset = window(source, expected.options);
      EXPECT_EQ(windows(dataset), expected.windows) << dataset->settings();
    }
    const DatasetPtr dataset = window(numbers(7), expected.options);
    EXPECT_EQ(dataset->size(), expected.size) << dataset->settings();
    EXPECT_EQ(to_string(dataset->element_types()), expected.types) << dataset->settings();
  }
}

TEST(Window, OfAnEndlessSourceNeverEnds) {
  const DatasetPtr dataset = window(range(0, endless), {.size = 4, .shift = 100});
  EXPECT_EQ(dataset->size(), endless);
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[4])");
  const std::unique_ptr<Cursor> cursor = dataset->open();
  EXPECT_EQ(cursor->skip(5), 5);
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(element[0].values<std::int64_t>()[3], 503);
}

TEST(Window, IsOneExample) {
  EXPECT_EQ(window(numbers(9), {.size = 3, .shift = 3})->examples_per_element(), 1);
}

TEST(Window, UnequalElementsCostTheirWindow) {
  const std::unique_ptr<Cursor> cursor = window(ragged(8), {.size = 2, .shift = 2})->open();
  Element element;
  EXPECT_ERROR(
      "window: an element has uint8[2] where the first of its window has uint8[1]; elements "
      "that are stacked need equal shapes",
      cursor->next(element));
  EXPECT_ERROR(testing::HasSubstr("has uint8[4] where"), cursor->next(element));
}

TEST(Window, RefusesWhatIsImpossible) {
  EXPECT_ERROR("window: a size of 0; at least 1 is needed", window(numbers(3), {.size = 0, .shift = 1}));
  EXPECT_ERROR("window: a shift of 0; at least 1 is needed", window(numbers(3), {.size = 1, .shift = 0}));
  EXPECT_ERROR("window: a stride of -1; at least 1 is needed",
               window(numbers(3), {.size = 1, .shift = 1, .stride = -1}));
  EXPECT_ERROR(
      "window: a size of 3 with a stride of 9223372036854775807; a window reaches over at "
      "most 16777216 elements",
      window(numbers(3), {.size = 3, .shift = 1, .stride = endless}));
  EXPECT_ERROR(
      "window: a size of 3 with a stride of 2 and drop_remainder leaves nothing of a "
      "dataset of 3 elements",
      window(numbers(3), {.size = 3, .shift = 1, .stride = 2, .drop_remainder = true}));
}

}  // namespace
}  // namespace gpubench
