#include "core/data/graph_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/batch.h"
#include "core/data/map.h"
#include "core/data/prefetch.h"
#include "core/ops/binary.h"
#include "core/ops/random.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "tests/core/data/reading.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

/// (number, pair) -> pair * 2 + 1 for elements of these types.
TracedElement affine(const std::vector<TensorType>& types) {
  TracedElement trace;
  for (const TensorType& type : types) trace.graph.input(type, "x");
  const Value pair = trace.graph.inputs()[1];
  const Value doubled = ops::mul(trace.graph, pair, trace.graph.constant(2.0F));
  trace.outputs = {ops::add(trace.graph, doubled, trace.graph.constant(1.0F))};
  return trace;
}

const std::vector<TensorType> element{{{}, Dtype::i64}, {{2}, Dtype::f32}};

std::vector<TensorType> batch_of(std::int64_t size) {
  return {{{size}, Dtype::i64}, {{size, 2}, Dtype::f32}};
}

std::vector<float> all_values(const DatasetPtr& dataset, std::uint64_t epoch = 0) {
  std::vector<float> found;
  const std::unique_ptr<Cursor> cursor = dataset->open(epoch);
  for (Element item; cursor->next(item);) {
    const auto values = item.back().values<float>();
    found.insert(found.end(), values.begin(), values.end());
  }
  return found;
}

TEST(GraphFunction, MapsElements) {
  const DatasetPtr dataset = map(numbers(3), graph_function(affine(element)));
  EXPECT_EQ(to_string(dataset->element_types()), "(float32[2])");
  EXPECT_THAT(all_values(dataset), ElementsAre(1, 1, 3, -1, 5, -3));
  EXPECT_THAT(all_values(batch(dataset, 2)), ElementsAre(1, 1, 3, -1, 5, -3));
}

TEST(GraphFunction, MapsBatchesOfVaryingSize) {
  const auto function = graph_function(affine(batch_of(2)), affine(batch_of(3)));
  const DatasetPtr dataset = prefetch(map(batch(numbers(5), 2), function), 2);
  EXPECT_EQ(to_string(dataset->element_types()), "(float32[?, 2])");
  EXPECT_THAT(all_values(dataset), ElementsAre(1, 1, 3, -1, 5, -3, 7, -5, 9, -7));
}

TEST(GraphFunction, PassesInputsAndConstantsThrough) {
  TracedElement trace;
  const Value number = trace.graph.input(element[0], "number");
  const Value pair = trace.graph.input(element[1], "pair");
  trace.outputs = {number, trace.graph.constant(7.0F), pair};
  const DatasetPtr dataset = map(numbers(2), graph_function(std::move(trace)));
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[], float32[], float32[2])");
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element item;
  cursor->next(item);
  cursor->next(item);
  EXPECT_THAT(item[0].values<std::int64_t>(), ElementsAre(1));
  EXPECT_THAT(item[1].values<float>(), ElementsAre(7));
  EXPECT_THAT(item[2].values<float>(), ElementsAre(1, -1));
}

/// pair -> uniform noise.
TracedElement noise() {
  TracedElement trace;
  for (const TensorType& type : element) trace.graph.input(type, "x");
  const Value step = trace.graph.constant(HostTensor::scalar(std::int64_t{0}));
  trace.outputs = {ops::random_uniform(trace.graph, step, {2}, 0, 1, 5)};
  return trace;
}

TEST(GraphFunction, RandomOpsDrawAnewForEveryElementAndEpoch) {
  const DatasetPtr dataset = map(numbers(50), graph_function(noise()));
  std::vector<float> drawn = all_values(dataset, 0);
  EXPECT_EQ(drawn, all_values(dataset, 0));
  EXPECT_EQ(drawn, all_values(batch(dataset, 8), 0));
  const std::vector<float> second = all_values(dataset, 1);
  drawn.insert(drawn.end(), second.begin(), second.end());
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(std::unique(drawn.begin(), drawn.end()), drawn.end());
}

TEST(GraphFunction, RefusesWhatDependsOnAVaryingSize) {
  const auto scaled_by_size = [](std::int64_t size) {
    TracedElement trace;
    for (const TensorType& type : batch_of(size)) trace.graph.input(type, "x");
    const Value factor = trace.graph.constant(1.0F / static_cast<float>(size));
    trace.outputs = {ops::mul(trace.graph, trace.graph.inputs()[1], factor)};
    return trace;
  };
  EXPECT_THAT([&] { graph_function(scaled_by_size(2), scaled_by_size(3)); },
              ThrowsMessage<Error>("map: the function depends on the batch's size, and the last batch may be smaller; "
                                   "batch with drop_remainder, or map before the batch"));
}

TEST(GraphFunction, RefusesVariables) {
  TracedElement trace;
  const auto variable = std::make_shared<const Variable>(Variable{0, "dense/kernel", {{2}, Dtype::f32}, {}, true});
  trace.outputs = {trace.graph.variable(variable)};
  EXPECT_THAT(
      [&] { graph_function(std::move(trace)); },
      ThrowsMessage<Error>("map: the function reads variable 'dense/kernel', which belongs to the training step; "
                           "use its values as a constant"));
}

}  // namespace
}  // namespace gpubench
