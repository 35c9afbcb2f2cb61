#include "core/data/stage/ignore_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/interleave/interleave.h"
#include "core/data/map/map.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/prefetch.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

/// Hands on what it gets, and throws E for every third number.
template <class E>
class EveryThirdFails final : public ElementFunction {
 public:
  std::vector<TensorType> output_types(TensorTypes inputs) const override { return {inputs.begin(), inputs.end()}; }
  std::unique_ptr<ElementRunner> plan(TensorTypes) const override {
    class Runner final : public ElementRunner {
     public:
      void run(const ElementBlock& elements, ElementOutputs& outputs) override {
        copy_inputs(elements, outputs);
        if (*elements.inputs[0].as<std::int64_t>() % 3 == 2) throw E("no third element");
      }
    };
    return std::make_unique<Runner>();
  }
};

template <class E = Error>
DatasetPtr failing(std::int64_t count) {
  return map(numbers(count), std::make_shared<EveryThirdFails<E>>());
}

TEST(IgnoreErrors, GoesOnBehindTheElement) {
  const DatasetPtr dataset = ignore_errors(failing(9));
  EXPECT_EQ(dataset->size(), std::nullopt);
  EXPECT_EQ(describe(*dataset), "from_tensor_slices > map > ignore_errors");
  const std::unique_ptr<Cursor> cursor = dataset->open();
  EXPECT_THAT(read(*cursor), ElementsAre(0, 1, 3, 4, 6, 7));
  EXPECT_EQ(cursor->statistics().back().errors, 3);
  EXPECT_EQ(cursor->statistics().back().why, "the last error: no third element (element 9 of the epoch)");
}

TEST(IgnoreErrors, FillsBatches) {
  const std::unique_ptr<Cursor> cursor = batch(ignore_errors(failing(9)), 4)->open();
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_THAT(element[0].values<std::int64_t>(), ElementsAre(0, 1, 3, 4));
  EXPECT_EQ(cursor->statistics().at(2).errors, 1);
}

TEST(IgnoreErrors, PassesOverGoodElements) {
  const std::unique_ptr<Cursor> cursor = ignore_errors(failing(9))->open();
  EXPECT_EQ(cursor->skip(3), 3);
  EXPECT_THAT(read(*cursor), ElementsAre(4, 6, 7));
}

TEST(IgnoreErrors, KeepsRowsOfTensors) {
  EXPECT_EQ(ignore_errors(numbers(5))->open()->tables().size(), 2U);
  EXPECT_EQ(read(batch(ignore_errors(numbers(5)), 2)), counting(0, 5));
}

/// Throws the same object for every element.
class Stopped final : public Transformation {
 public:
  using Transformation::Transformation;
  std::string_view stage() const override { return "stopped"; }
  std::unique_ptr<Cursor> open(std::uint64_t, const CursorOptions&) const override {
    class StoppedCursor final : public Cursor {
     public:
      bool next(Element& /*element*/) override { std::rethrow_exception(error_); }
      std::vector<StageStatistics> statistics() const override { return {}; }

     private:
      const std::exception_ptr error_ = std::make_exception_ptr(Error("the source has stopped"));
    };
    return std::make_unique<StoppedCursor>();
  }
};

TEST(IgnoreErrors, DoesNotGoOnWhereTheStageBeforeItHasStopped) {
  const auto stopped = std::make_shared<Stopped>(numbers(3));
  const InterleaveOptions any{.cycle_length = 2, .parallel = 2, .deterministic = false};
  for (const DatasetPtr& dataset : {DatasetPtr(stopped), prefetch(stopped, 1), prefetch(prefetch(stopped, 3), 4),
                                    interleave({stopped, numbers(3)}, any)}) {
    EXPECT_ERROR("the source has stopped", read(ignore_errors(dataset)));
  }
}

TEST(IgnoreErrors, AreNotThoseOfTheMachine) {
  EXPECT_ERROR_OF(OutOfMemory, "no third element", read(ignore_errors(failing<OutOfMemory>(9))));
}

}  // namespace
}  // namespace gpubench
