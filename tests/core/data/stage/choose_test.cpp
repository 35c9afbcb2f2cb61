#include "core/data/stage/choose.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "core/data/map/map.h"
#include "core/data/source/range.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/repeat.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> chosen_numbers(const DatasetPtr& dataset, std::uint64_t epoch = 0) {
  std::vector<std::int64_t> found;
  const std::unique_ptr<Cursor> cursor = dataset->open(epoch);
  for (Element element; cursor->next(element);) found.push_back(element.front().values<std::int64_t>()[0]);
  return found;
}

TEST(Choose, TakesOfTheDatasetThatIsNamed) {
  const DatasetPtr choice = map(range(0, 9), modulo(3));
  const std::vector<DatasetPtr> datasets{range(0, 9), range(10, 12), range(20, 29)};
  EXPECT_THAT(chosen_numbers(choose_from_datasets(datasets, choice)), ElementsAre(0, 10, 20, 1, 11, 21, 2));
  EXPECT_THAT(chosen_numbers(choose_from_datasets(datasets, choice, OnEmpty::passes_over)),
              ElementsAre(0, 10, 20, 1, 11, 21, 2, 22));
  EXPECT_THAT(chosen_numbers(choose_from_datasets({range(0, 2), range(5, 6)}, repeat(map(range(0, 4), modulo(2))),
                                                  OnEmpty::passes_over)),
              ElementsAre(0, 5, 1));
}

TEST(Choose, KnowsItsSizeWhereThatIsCertain) {
  const DatasetPtr never_ends = range(0, endless), some = range(0, 4), choice = map(range(0, 9), modulo(2));
  EXPECT_EQ(choose_from_datasets({some, some}, choice)->size(), std::nullopt);
  EXPECT_EQ(choose_from_datasets({never_ends, never_ends}, choice)->size(), 9);
  EXPECT_EQ(choose_from_datasets({never_ends, some}, repeat(choice), OnEmpty::passes_over)->size(), endless);
  EXPECT_EQ(choose_from_datasets({never_ends, some}, repeat(choice))->size(), std::nullopt);
}

TEST(Choose, RefusesWhatDoesNotFit) {
  EXPECT_ERROR("choose_from_datasets: no datasets given; at least one is needed",
               choose_from_datasets({}, range(0, 3)));
  EXPECT_ERROR(
      "choose_from_datasets: the choices are (int64[], float32[2]); one int64[] is needed, the index of a dataset",
      choose_from_datasets({range(0, 3)}, numbers(3)));
  EXPECT_ERROR("choose_from_datasets: elements (int64[]) and (uint8[?]) differ in more than their extents",
               choose_from_datasets({range(0, 3), ragged(3)}, range(0, 3)));
  EXPECT_ERROR("choose_from_datasets: a choice of 1; the 1 datasets are counted from 0",
               chosen_numbers(choose_from_datasets({range(0, 3)}, range(0, 3))));
}

TEST(Sample, DrawsByTheWeights) {
  const std::vector<DatasetPtr> datasets{map(range(0, endless), modulo(1)), range(1, endless), range(2, 3)};
  const DatasetPtr dataset = take(sample_from_datasets(datasets, {3, 1, 0}, {.seed = 5}), 4000);
  const std::vector<std::int64_t> found = chosen_numbers(dataset);
  const auto of_first = std::ranges::count(found, 0);
  EXPECT_NEAR(static_cast<double>(of_first), 3000, 6 * std::sqrt(4000 * 0.75 * 0.25));
  EXPECT_EQ(chosen_numbers(dataset, 1), found);
  const DatasetPtr anew =
      take(sample_from_datasets(datasets, {3, 1, 0}, {.seed = 5, .rerandomize_each_iteration = true}), 4000);
  EXPECT_EQ(chosen_numbers(anew), found);
  EXPECT_NE(chosen_numbers(anew, 1), found);
}

TEST(Sample, GivesAllElementsUnlessItStops) {
  const std::vector<DatasetPtr> datasets{range(0, 9), range(10, 13)};
  EXPECT_EQ(chosen_numbers(sample_from_datasets(datasets, {}, {.seed = 1})).size(), 12U);
  EXPECT_LT(chosen_numbers(sample_from_datasets(datasets, {}, {.seed = 1}, OnEmpty::ends_epoch)).size(), 12U);
}

TEST(Sample, RefusesOtherWeights) {
  const auto sampled = [](std::vector<double> weights) {
    return sample_from_datasets({range(0, 3), range(0, 3)}, std::move(weights), {});
  };
  EXPECT_ERROR("sample_from_datasets: 3 weights for 2 datasets", sampled({1, 1, 1}));
  EXPECT_ERROR("sample_from_datasets: a weight of -1; weights are not negative, and finite", sampled({1, -1}));
  EXPECT_ERROR("sample_from_datasets: a weight of inf; weights are not negative, and finite",
               sampled({1, std::numeric_limits<double>::infinity()}));
  EXPECT_ERROR("sample_from_datasets: no dataset has a weight above 0", sampled({0, 0}));
  EXPECT_ERROR("sample_from_datasets: no datasets given; at least one is needed", sample_from_datasets({}, {}, {}));
}

}  // namespace
}  // namespace gpubench
