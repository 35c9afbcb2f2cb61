#include "core/ops/loss.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::loss_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

std::int64_t classes(const Array& predictions) {
  return predictions.type.shape.back();
}

/// The weight of element i of the predictions in the labels, one-hot or indices.
double label(const Array& labels, const Array& predictions, std::int64_t i) {
  if (labels.type.shape == predictions.type.shape) return labels[i];
  return labels[i / classes(predictions)] == static_cast<double>(i % classes(predictions)) ? 1 : 0;
}

double mass(const Array& labels, const Array& predictions, std::int64_t i) {
  double sum = 0;
  const std::int64_t width = classes(predictions);
  for (std::int64_t k = i - i % width; k < i - i % width + width; ++k) sum += label(labels, predictions, k);
  return sum;
}

CaseInput predictions(Shape shape, double low, double high) {
  return {.type = {std::move(shape), Dtype::f32}, .low = low, .high = high};
}

CaseInput one_hot(const Shape& shape) {
  return {.type = {shape, Dtype::f32}, .gradient = false, .fill = support::one_hot_rows};
}

/// Not normalized, so that nothing relies on labels that sum to 1.
CaseInput soft(const Shape& shape) {
  return {.type = {shape, Dtype::f32}, .low = 0, .high = 1, .gradient = false};
}

CaseInput indices(const Shape& shape, Dtype dtype) {
  return {.type = {{shape.begin(), shape.end() - 1}, dtype},
          .low = 0,
          .high = static_cast<double>(shape.back()) - 1,
          .gradient = false};
}

void from_probabilities(std::span<const Array> in, std::span<Array> out) {
  for (std::int64_t i = 0; i < in[0].size(); ++i) {
    const double p = std::max(in[0][i], static_cast<double>(smallest_probability));
    out[0][i / classes(in[0])] -= label(in[1], in[0], i) * std::log(p);
  }
}

void from_logits(std::span<const Array> in, std::span<Array> out) {
  const std::int64_t width = classes(in[0]);
  for (std::int64_t row = 0; row < in[0].size(); row += width) {
    double largest = in[0][row], sum = 0;
    for (std::int64_t i = row; i < row + width; ++i) largest = std::max(largest, in[0][i]);
    for (std::int64_t i = row; i < row + width; ++i) sum += std::exp(in[0][i] - largest);
    for (std::int64_t i = row; i < row + width; ++i) {
      const double log_probability = in[0][i] - largest - std::log(sum);
      out[1][i] = std::exp(log_probability);
      out[0][row / width] -= label(in[1], in[0], i) * log_probability;
    }
  }
}

template <class O>
OpCase loss_case(std::string name, CaseInput predicted, CaseInput labels) {
  constexpr bool logits = std::is_same_v<O, SoftmaxCrossEntropy> || std::is_same_v<O, SparseSoftmaxCrossEntropy>;
  return {.name = std::move(name),
          .op = std::make_shared<const O>(),
          .inputs = {std::move(predicted), std::move(labels)},
          .reference = logits ? &from_logits : &from_probabilities};
}

/// dloss, probabilities, labels -> the gradient of the probabilities, or of the logits they came from.
template <class O>
OpCase gradient_case(std::string name, const Shape& shape, CaseInput labels) {
  constexpr bool logits =
      std::is_same_v<O, SoftmaxCrossEntropyGradient> || std::is_same_v<O, SparseSoftmaxCrossEntropyGradient>;
  CaseInput probabilities = predictions(shape, 0, 1);
  probabilities.fill = support::probability_rows;
  return {.name = std::move(name),
          .op = std::make_shared<const O>(),
          .inputs = {predictions({shape.begin(), shape.end() - 1}, -1, 1), probabilities, std::move(labels)},
          .reference =
              [](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[1].size(); ++i) {
                  const double slope = in[0][i / classes(in[1])], t = label(in[2], in[1], i);
                  out[0][i] = logits ? slope * (in[1][i] * mass(in[2], in[1], i) - t) : -slope * t / in[1][i];
                }
              },
          .differentiable = false};
}

std::vector<OpCase> loss_cases() {
  const Shape small{4, 10}, images{2, 3, 5}, large{900, 10}, wide{5, 37}, words{2, 1030}, none{0, 10};
  const Shape packed{3, 24}, many_packs{2, 8208};  // of 16 bytes in 16 bits, for lanes and for a block
  return {
      loss_case<CategoricalCrossEntropy>("categorical", predictions(small, 0.05, 1), one_hot(small)),
      loss_case<CategoricalCrossEntropy>("categorical_soft", predictions(images, 0.05, 1), soft(images)),
      loss_case<SparseCategoricalCrossEntropy>("sparse_int64", predictions(small, 0.05, 1), indices(small, Dtype::i64)),
      loss_case<SparseCategoricalCrossEntropy>("sparse_int32", predictions(images, 0.05, 1),
                                               indices(images, Dtype::i32)),
      loss_case<SparseCategoricalCrossEntropy>("sparse_uint8", predictions(small, 0.05, 1), indices(small, Dtype::u8)),
      loss_case<SoftmaxCrossEntropy>("softmax", predictions(small, -3, 3), one_hot(small)),
      loss_case<SoftmaxCrossEntropy>("softmax_soft", predictions(images, -3, 3), soft(images)),
      loss_case<SoftmaxCrossEntropy>("softmax_does_not_overflow", predictions(small, -500, 500), one_hot(small)),
      loss_case<SoftmaxCrossEntropy>("softmax_of_many_classes", predictions(wide, -3, 3), soft(wide)),
      loss_case<SoftmaxCrossEntropy>("softmax_on_threads", predictions(large, -3, 3), one_hot(large)),
      loss_case<SparseSoftmaxCrossEntropy>("sparse_softmax", predictions(small, -3, 3), indices(small, Dtype::i64)),
      loss_case<SparseSoftmaxCrossEntropy>("sparse_softmax_uint8", predictions(large, -3, 3),
                                           indices(large, Dtype::u8)),
      loss_case<CategoricalCrossEntropy>("categorical_of_words", predictions(words, 0.05, 1), soft(words)),
      loss_case<SparseCategoricalCrossEntropy>("sparse_of_words", predictions(words, 0.05, 1),
                                               indices(words, Dtype::i32)),
      loss_case<SoftmaxCrossEntropy>("softmax_of_nothing", predictions(none, -3, 3), one_hot(none)),
      loss_case<SoftmaxCrossEntropy>("softmax_of_words", predictions(words, -3, 3), one_hot(words)),
      loss_case<SparseSoftmaxCrossEntropy>("sparse_softmax_of_words", predictions(words, -3, 3),
                                           indices(words, Dtype::i32)),
      gradient_case<CategoricalCrossEntropyGradient>("categorical_gradient_of_words", words, one_hot(words)),
      gradient_case<SoftmaxCrossEntropyGradient>("softmax_gradient_of_words", words, one_hot(words)),
      gradient_case<SparseSoftmaxCrossEntropyGradient>("sparse_softmax_gradient_of_words", words,
                                                       indices(words, Dtype::i32)),
      loss_case<CategoricalCrossEntropy>("categorical_in_packs", predictions(packed, 0.05, 1), soft(packed)),
      loss_case<SparseCategoricalCrossEntropy>("sparse_in_packs", predictions(packed, 0.05, 1),
                                               indices(packed, Dtype::u8)),
      loss_case<SoftmaxCrossEntropy>("softmax_in_packs", predictions(packed, -3, 3), soft(packed)),
      loss_case<SparseSoftmaxCrossEntropy>("sparse_softmax_in_packs", predictions(packed, -3, 3),
                                           indices(packed, Dtype::i64)),
      gradient_case<CategoricalCrossEntropyGradient>("categorical_gradient_in_packs", packed, one_hot(packed)),
      gradient_case<SoftmaxCrossEntropyGradient>("softmax_gradient_in_packs", packed, soft(packed)),
      gradient_case<SparseSoftmaxCrossEntropyGradient>("sparse_softmax_gradient_in_packs", packed,
                                                       indices(packed, Dtype::i64)),
      loss_case<CategoricalCrossEntropy>("categorical_of_many_packs", predictions(many_packs, 0.05, 1),
                                         one_hot(many_packs)),
      loss_case<SparseSoftmaxCrossEntropy>("sparse_softmax_of_many_packs", predictions(many_packs, -3, 3),
                                           indices(many_packs, Dtype::i32)),
      gradient_case<SparseCategoricalCrossEntropyGradient>("sparse_gradient_of_many_packs", many_packs,
                                                           indices(many_packs, Dtype::i32)),
      gradient_case<SparseSoftmaxCrossEntropyGradient>("sparse_softmax_gradient_of_many_packs", many_packs,
                                                       indices(many_packs, Dtype::i32)),
      gradient_case<CategoricalCrossEntropyGradient>("categorical_gradient", small, one_hot(small)),
      gradient_case<SparseCategoricalCrossEntropyGradient>("sparse_gradient", small, indices(small, Dtype::i64)),
      gradient_case<SoftmaxCrossEntropyGradient>("softmax_gradient", small, one_hot(small)),
      gradient_case<SoftmaxCrossEntropyGradient>("softmax_gradient_soft", images, soft(images)),
      gradient_case<SparseSoftmaxCrossEntropyGradient>("sparse_softmax_gradient", small, indices(small, Dtype::i32)),
  };
}

GPUBENCH_OP_CASES(Loss, loss_cases);

TEST(LossTest, KeepsProbabilitiesAwayFromZero) {
  OpCase certain_and_wrong = loss_case<CategoricalCrossEntropy>("zero", predictions({1, 2}, 0, 1), one_hot({1, 2}));
  certain_and_wrong.inputs[0].fill = [](Array& array, std::mt19937_64&) { array.values = {0, 1}; };
  certain_and_wrong.inputs[1].fill = [](Array& array, std::mt19937_64&) { array.values = {1, 0}; };
  support::check_forward(certain_and_wrong);
}

TEST(LossTest, ChoosesTheOpByTheLabelsType) {
  Graph graph;
  const Value logits = graph.input({{2, 3}, Dtype::f32}, "logits");
  const Value rows = graph.input({{2, 3}, Dtype::f32}, "labels"), sparse = graph.input({{2}, Dtype::i64}, "labels");
  EXPECT_EQ(graph.node(ops::softmax_cross_entropy(graph, logits, rows)).op->name(), "softmax_cross_entropy");
  EXPECT_EQ(graph.node(ops::softmax_cross_entropy(graph, logits, sparse)).op->name(), "sparse_softmax_cross_entropy");
  EXPECT_EQ(graph.node(ops::cross_entropy(graph, logits, rows)).op->name(), "categorical_cross_entropy");
  EXPECT_EQ(graph.node(ops::cross_entropy(graph, logits, sparse)).op->name(), "sparse_categorical_cross_entropy");
}

TEST(LossTest, RefusesLabelsOfAnotherForm) {
  Graph graph;
  const auto value = [&](Shape shape, Dtype dtype) { return graph.input({std::move(shape), dtype}, "x"); };
  const Value logits = value({2, 3}, Dtype::f32);
  EXPECT_ERROR(
      "softmax_cross_entropy: the labels must be one-hot with the predictions' "
      "shape [2, 3], got float32[2]; class indices need the sparse loss",
      ops::softmax_cross_entropy(graph, logits, value({2}, Dtype::f32)));
  EXPECT_ERROR(
      "sparse_softmax_cross_entropy: the labels must be class indices (int64, "
      "int32 or uint8) of shape [2], got int64[2, 3]",
      ops::softmax_cross_entropy(graph, logits, value({2, 3}, Dtype::i64)));
  EXPECT_ERROR(
      "categorical_cross_entropy: float16[2, 3] and float32[2, 3] differ in "
      "type; cast one of them",
      ops::cross_entropy(graph, value({2, 3}, Dtype::f16), value({2, 3}, Dtype::f32)));
}

TEST(LossTest, RefusesALabelOutsideTheClasses) {
  const CpuBackend backend(std::array{CpuDeviceOptions{.memory = {}, .threads = 1}});
  const SparseSoftmaxCrossEntropy op;
  const std::vector<HostTensor> inputs = {HostTensor::zeros({{3, 10}, Dtype::f32}),
                                          HostTensor::of<std::int64_t>({3}, std::array<std::int64_t, 3>{0, 9, 10})};
  EXPECT_ERROR("sparse_softmax_cross_entropy: label 10 of example 2 is outside the 10 classes 0 to 9",
               support::evaluate(backend, *backend.devices()[0], op, inputs));
}

}  // namespace
}  // namespace gpubench::loss_test
