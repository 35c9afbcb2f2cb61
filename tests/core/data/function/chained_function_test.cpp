#include "core/data/function/chained_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/dataset.h"
#include "core/data/function/graph_function.h"
#include "core/data/map/map.h"
#include "core/data/stage/batch.h"
#include "core/ops/elementwise.h"
#include "core/ops/random.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::Each;
using testing::ElementsAre;

std::vector<TensorType> same_types(TensorTypes inputs) {
  return {inputs.begin(), inputs.end()};
}

/// uint8[n] -> uint8[2 n], twice the bytes.
std::shared_ptr<const Native> twice() {
  return std::make_shared<Native>(
      [](auto inputs) {
        std::vector<TensorType> types = same_types(inputs);
        types[0].shape[0] *= 2;
        return types;
      },
      [](const ElementBlock& elements, ElementOutputs& outputs) {
        const TensorView& in = elements.inputs[0];
        std::byte* const out = outputs.place(0, {{2 * in.elements()}, Dtype::u8});
        std::memcpy(out, in.data, in.type->bytes());
        std::memcpy(out + in.elements(), in.data, in.type->bytes());
      });
}

/// uint8[n] -> (int64 number, float32[2] {number, -number}) of the first byte.
std::shared_ptr<const Native> parsed(std::vector<std::int64_t>* counts = nullptr) {
  return std::make_shared<Native>(
      [](auto) {
        return std::vector<TensorType>{{{}, Dtype::i64}, {{2}, Dtype::f32}};
      },
      [counts](const ElementBlock& elements, ElementOutputs& outputs) {
        if (counts != nullptr) counts->push_back(elements.count);
        const auto number = elements.inputs[0].as<std::uint8_t>()[0];
        *reinterpret_cast<std::int64_t*>(outputs.place(0, {{}, Dtype::i64})) = number;
        auto* const pair = reinterpret_cast<float*>(outputs.place(1, {{2}, Dtype::f32}));
        pair[0] = number;
        pair[1] = -pair[0];
      });
}

/// A graph of (int64, float32[2]) that gives them as they are, and a number drawn for each.
std::shared_ptr<const ElementFunction> drawing() {
  TracedElement trace;
  const Value number = trace.graph.input({{}, Dtype::i64}, "number");
  const Value pair = trace.graph.input({{2}, Dtype::f32}, "pair");
  const Value step = trace.graph.constant(HostTensor::scalar(std::int64_t{0}));
  trace.outputs = {number, pair, ops::random_uniform(trace.graph, step, {}, 0, 1, 3)};
  return graph_function(std::move(trace));
}

class Chain : public testing::TestWithParam<int> {
 protected:
  static MapOptions options() { return {.workers = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Workers, Chain, testing::Values(0, 2));

TEST_P(Chain, IsOneStageWhateverTheFunctionsAre) {
  const DatasetPtr dataset = map(map(map(ragged(40), twice(), options()), parsed(), options()), drawing(), options());
  EXPECT_EQ(describe(*dataset).find("map"), describe(*dataset).rfind("map")) << describe(*dataset);
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[], float32[2], float32[])");
  EXPECT_EQ(read(dataset), counting(0, 40));
  EXPECT_EQ(read(batch(dataset, 7)), counting(0, 40));
}

TEST_P(Chain, GivesWhatTwoStagesGive) {
  const DatasetPtr chained = map(map(ragged(100), parsed(), options()), drawing(), options());
  const DatasetPtr apart = map(opaque(map(ragged(100), parsed(), options())), drawing(), options());
  for (const std::uint64_t epoch : {0, 3}) EXPECT_EQ(bytes_of(chained, epoch), bytes_of(apart, epoch));
}

TEST_P(Chain, OutputsMayVary) {
  const DatasetPtr dataset = map(map(ragged(30), twice(), options()), twice(), options());
  EXPECT_EQ(to_string(dataset->element_types()), "(uint8[?])");
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  for (std::int64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(cursor->next(element));
    EXPECT_EQ(element[0].shape(), Shape{4 * (i % 4 + 1)});
    EXPECT_THAT(element[0].values<std::uint8_t>(), Each(i));
  }
}

TEST_P(Chain, AnErrorTakesItsElementsPlace) {
  const auto add = std::make_shared<Increment>(16);
  for (const bool first : {true, false}) {
    const DatasetPtr dataset = first ? map(map(numbers(50), fails_at(20, 1), options()), add, options())
                                     : map(map(numbers(50), add, options()), fails_at(21, 16), options());
    const std::unique_ptr<Cursor> cursor = dataset->open();
    Element element;
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(cursor->next(element));
    EXPECT_ERROR(first ? "element 20 is bad (element 21 of the epoch)" : "element 21 is bad (element 21 of the epoch)",
                 cursor->next(element));
    EXPECT_EQ(read(*cursor), counting(23, 52));
  }
}

TEST(ChainedFunction, GivesTheSecondAsManyAsItTakes) {
  std::vector<std::int64_t> first, second;
  const auto count = [](std::vector<std::int64_t>& counts) {
    return [&counts](const ElementBlock& block) { counts.push_back(block.count); };
  };
  const auto one = std::make_shared<Increment>(3, count(first)), other = std::make_shared<Increment>(8, count(second));
  EXPECT_EQ(read(batch(map(map(numbers(20), one), other), 20)), counting(2, 22));
  EXPECT_THAT(first, ElementsAre(3, 3, 2, 3, 3, 2, 3, 1));
  EXPECT_THAT(second, ElementsAre(8, 8, 4));
}

TEST(ChainedFunction, ElementsOfOtherExtentsAreComputedTogether) {
  std::vector<std::int64_t> first, second;
  const auto other = std::make_shared<Increment>(8, [&](const ElementBlock& block) { second.push_back(block.count); });
  EXPECT_EQ(read(batch(map(map(ragged(20), parsed(&first)), other), 20)), counting(1, 21));
  EXPECT_THAT(first, Each(1));
  EXPECT_THAT(second, ElementsAre(8, 8, 4));
}

TEST(ChainedFunction, ReadsElementsWhereTheyLie) {
  const DatasetPtr source = numbers(20);
  const std::unique_ptr<Cursor> cursor = source->open();
  const std::byte* const rows = cursor->tables()[0].data();
  const auto look =
      std::make_shared<Native>(&same_types, [rows](const ElementBlock& elements, ElementOutputs& outputs) {
        const TensorView &number = elements.inputs[0], &pair = elements.inputs[1];
        EXPECT_EQ(number.data, rows + number.as<std::int64_t>()[0] * 8);
        std::memcpy(outputs.place(0, *number.type), number.data, number.type->bytes());
        std::memcpy(outputs.place(1, *pair.type), pair.data, pair.type->bytes());
      });
  EXPECT_EQ(read(map(map(source, look), std::make_shared<Increment>(8))), counting(1, 21));
}

TEST(ChainedFunction, NumbersAreTheElements) {
  const auto before = [](std::int64_t increments) {
    return [increments](const ElementBlock& block) {
      EXPECT_EQ(block.number, block.inputs[0].as<std::int64_t>()[0] - increments);
    };
  };
  const auto first = std::make_shared<Increment>(3, before(0)), second = std::make_shared<Increment>(8, before(1));
  EXPECT_EQ(read(batch(map(map(numbers(40), first), second), 20)), counting(2, 42));
}

TEST(ChainedFunction, OtherOptionsAreAnotherStage) {
  const auto increment = std::make_shared<Increment>();
  const DatasetPtr dataset = map(map(numbers(10), increment), increment, {.workers = 2});
  EXPECT_EQ(describe(*dataset), "from_tensor_slices > map > map(workers=2)");
}

}  // namespace
}  // namespace gpubench
