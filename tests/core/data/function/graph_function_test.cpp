#include "core/data/function/graph_function.h"

#include <array>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/map/map.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/prefetch.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/image.h"
#include "core/ops/matmul.h"
#include "core/ops/random.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

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

/// Where a block's results go: memory of its own.
class Kept final : public ElementOutputs {
 public:
  explicit Kept(std::int64_t count) : count_(count) {}
  std::byte* place(std::size_t index, const TensorType& type) override {
    TensorType all = type;
    all.shape.insert(all.shape.begin(), count_);
    if (results.size() <= index) results.resize(index + 1);
    results[index] = HostTensor(all);
    return results[index].data();
  }
  std::vector<HostTensor> results;

 private:
  std::int64_t count_;
};

HostTensor run(ElementRunner& runner, const HostTensor& rows, std::int64_t number, std::int64_t stride = 1) {
  TensorType type = rows.type();
  type.shape.erase(type.shape.begin());
  const TensorView first{&type, rows.data()};
  Kept kept(rows.shape()[0]);
  runner.run({.number = number, .stride = stride, .count = rows.shape()[0], .inputs = {&first, 1}}, kept);
  return kept.results.at(0);
}

/// image -> augmented image, by every op that decides for each image, an addition of noise, and a reduction.
TracedElement augmentation(Shape shape) {
  TracedElement trace;
  Graph& graph = trace.graph;
  const Value none = graph.constant(HostTensor::scalar(std::int64_t{0}));
  Value x = ops::cast(graph, graph.input({std::move(shape), Dtype::u8}, "image"), Dtype::f32);
  x = graph.apply(std::make_shared<const RandomCrop>(6, 5, 1), {x, none});
  x = graph.apply(std::make_shared<const RandomFlipLeftRight>(2), {x, none});
  x = graph.apply(std::make_shared<const RandomBrightness>(0.5, 3), {x, none});
  x = graph.apply(std::make_shared<const RandomContrast>(0.5, 1.5, 4), {x, none});
  x = ops::sub(graph, x, ops::reduce_mean(graph, x, {-3, -2, -1}, true));
  trace.outputs = {x};
  return trace;
}

HostTensor bytes_of(Shape shape) {
  HostTensor tensor({std::move(shape), Dtype::u8});
  unsigned next = 1;
  for (std::uint8_t& value : tensor.values<std::uint8_t>()) value = static_cast<std::uint8_t>(next = next * 75 % 251);
  return tensor;
}

bool same_bytes(const HostTensor& a, const HostTensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

TEST(GraphFunction, GivesTheSameBytesInBlocksOfAnySize) {
  const HostTensor images = bytes_of({37, 8, 7, 2});
  const std::vector<TensorType> image{{{8, 7, 2}, Dtype::u8}};
  const auto function = graph_function(augmentation(image[0].shape));
  const auto runner = function->plan(image);
  EXPECT_GE(runner->block(), 37);
  const HostTensor all = run(*runner, images, 1000);
  for (std::int64_t first = 0, count = 1; first < 37; first += count, count = std::min(count + 2, 37 - first)) {
    EXPECT_TRUE(
        same_bytes(run(*runner, images.rows(first, first + count), 1000 + first), all.rows(first, first + count)));
  }
}

TEST(GraphFunction, GivesTheSameBytesBeforeAndAfterABatch) {
  const HostTensor batches = bytes_of({3, 4, 8, 7, 2});
  const std::vector<TensorType> image{{{8, 7, 2}, Dtype::u8}}, batch{{{4, 8, 7, 2}, Dtype::u8}};
  const auto before = graph_function(augmentation(image[0].shape))->plan(image);
  const auto after = graph_function(augmentation(batch[0].shape))->plan(batch);
  EXPECT_GE(after->block(), 3);
  EXPECT_TRUE(same_bytes(run(*before, batches.reshaped({12, 8, 7, 2}), 20), run(*after, batches, 20, 4)));
}

TEST(GraphFunction, ComputesElementByElementWhatHasNoFormForBlocks) {
  TracedElement trace;
  const Value x = trace.graph.input({{1, 3}, Dtype::f32}, "x");
  const Value ones = trace.graph.constant(HostTensor::of<float>({3, 1}, std::array{1.0F, 1.0F, 1.0F}));
  trace.outputs = {ops::matmul(trace.graph, x, ones)};
  const auto runner = graph_function(std::move(trace))->plan(std::vector{TensorType{{1, 3}, Dtype::f32}});
  EXPECT_EQ(runner->block(), 1);
  const HostTensor rows = HostTensor::of<float>({2, 1, 3}, std::array{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F});
  EXPECT_THAT(run(*runner, rows, 0).values<float>(), ElementsAre(6, 15));
}

TEST(GraphFunction, KeepsStepsThatAreGiven) {
  const auto drawing = [](std::int64_t step) {
    TracedElement trace;
    trace.graph.input({{2}, Dtype::f32}, "x");
    const Value given = trace.graph.constant(HostTensor::scalar(step));
    trace.outputs = {ops::random_uniform(trace.graph, given, {2}, 0, 1, 5)};
    return graph_function(std::move(trace))->plan(std::vector{TensorType{{2}, Dtype::f32}});
  };
  const HostTensor rows = HostTensor::zeros({{3, 2}, Dtype::f32});
  const HostTensor fixed = run(*drawing(7), rows, 100), fresh = run(*drawing(0), rows, 100);
  EXPECT_TRUE(same_bytes(fixed.rows(0, 1), fixed.rows(2, 3)));
  EXPECT_FALSE(same_bytes(fresh.rows(0, 1), fresh.rows(2, 3)));
}

TEST(GraphFunction, ComposesIntoOneGraph) {
  const auto first = graph_function(affine(element));
  const auto root = [] {
    TracedElement trace;
    const Value x = trace.graph.input({{2}, Dtype::f32}, "x");
    trace.outputs = {ops::sqrt(trace.graph, ops::abs(trace.graph, x))};
    return graph_function(std::move(trace));
  };
  const auto both = compose(*first, *root());
  ASSERT_NE(both, nullptr);
  const DatasetPtr one = map(numbers(40), both), two = map(map(numbers(40), first), root());
  EXPECT_EQ(all_values(one), all_values(two));
  EXPECT_EQ(describe(*one), describe(*two));
}

TEST(GraphFunction, ComposedRandomOpsDrawAsTheyDoAlone) {
  const auto twice = compose(
      *graph_function(affine(element)), *[] {
        TracedElement trace;
        const Value x = trace.graph.input({{2}, Dtype::f32}, "x");
        const Value step = trace.graph.constant(HostTensor::scalar(std::int64_t{0}));
        trace.outputs = {
            ops::mul(trace.graph, ops::random_uniform(trace.graph, step, {2}, 0, 1, 5), ops::sub(trace.graph, x, x)),
            ops::random_uniform(trace.graph, step, {2}, 0, 1, 5)};
        return graph_function(std::move(trace));
      }());
  EXPECT_EQ(all_values(map(numbers(20), twice)), all_values(map(numbers(20), graph_function(noise()))));
}

TEST(GraphFunction, RefusesWhatDependsOnAVaryingSize) {
  const auto scaled_by_size = [](std::int64_t size) {
    TracedElement trace;
    for (const TensorType& type : batch_of(size)) trace.graph.input(type, "x");
    const Value factor = trace.graph.constant(1.0F / static_cast<float>(size));
    trace.outputs = {ops::mul(trace.graph, trace.graph.inputs()[1], factor)};
    return trace;
  };
  const std::string reason =
      "map: the function depends on an extent that varies from element to "
      "element: it reads #x or x.shape[i] of one, or "
      "an op was made for it. Where elements are batches, only the last is smaller: batch with drop_remainder, or map "
      "before the batch. Where their own sizes differ, bring them to one size before (gb.image.resize, padded_batch); "
      "else gb.data.lua_function(fn) is called for every element";
  EXPECT_ERROR(reason, graph_function(scaled_by_size(2), scaled_by_size(3)));
  TracedElement one = affine(batch_of(2)), other = affine(batch_of(3));
  one.extents_read = other.extents_read = {2, 7};
  EXPECT_NO_THROW(graph_function(one, other));
  other.extents_read = {3, 7};
  EXPECT_ERROR(reason, graph_function(one, other));
}

TEST(GraphFunction, RefusesVariables) {
  TracedElement trace;
  const auto variable = std::make_shared<const Variable>(Variable{0, "dense/kernel", {{2}, Dtype::f32}, {}, true});
  trace.outputs = {trace.graph.variable(variable)};
  EXPECT_ERROR(
      "map: the function reads variable 'dense/kernel', which belongs to the training step; "
      "use its values as a constant",
      graph_function(std::move(trace)));
}

}  // namespace
}  // namespace gpubench
