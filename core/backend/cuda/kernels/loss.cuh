// Softmax cross-entropy of a row and its gradient. One function serves distributions and class indices: what they
// differ in is the weight of a class.
#pragma once
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/loss.h"
#include "core/backend/cuda/kernels/rows.cuh"
#include "core/math/loss.h"

namespace gpubench::cuda {

/// The weights of a row's classes.
class Weights {
 public:
  __device__ Weights(const Labels& labels, const Row& row) : labels_(labels), begin_(row.begin), columns_(row.columns) {
    if (labels.sparse) class_ = load_as<std::int64_t>(labels.data, labels.type, row.index);
  }
  __device__ float operator[](std::int64_t column) const {
    if (labels_.sparse) return column == class_ ? 1.0F : 0.0F;
    return load_as<float>(labels_.data, labels_.type, begin_ + column);
  }
  __device__ bool wrong() const { return labels_.sparse && (class_ < 0 || class_ >= columns_); }
  __device__ std::int64_t only_class() const { return class_; }

 private:
  Labels labels_;
  std::int64_t begin_, columns_, class_ = 0;
};

// Threads write the elements that they read, after all have read them, so the probabilities may replace the logits.
struct SoftmaxCrossEntropy {
  Dtype type;
  const void* logits;
  Labels labels;
  void *loss, *probabilities;

  template <class By>
  __device__ void operator()(By by, const Row& row) const {
    const Weights weights(labels, row);
    const auto logit = [&](std::int64_t i) { return load_as<float>(logits, type, row.begin + i); };
    float largest = math::from_bits(static_cast<std::int32_t>(0xFF800000U));  // -infinity
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) largest = Largest{}(largest, logit(i));
    largest = by.reduce(row, largest, Largest{});
    float sum = 0, mass = 0, dot = 0;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const float shifted = logit(i) - largest, weight = weights[i];
      sum += math::exp(shifted);
      mass += weight;
      if (weight != 0) dot += weight * shifted;
    }
    sum = by.reduce(row, sum, math::Add{});
    mass = by.reduce(row, mass, math::Add{});
    dot = by.reduce(row, dot, math::Add{});
    const float scale = 1.0F / sum;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      store_as<float>(probabilities, type, row.begin + i, math::exp(logit(i) - largest) * scale);
    }
    if (!row.leads()) return;
    store_as<float>(loss, type, row.index, weights.wrong() ? not_a_number() : math::log(sum) * mass - dot);
  }
};

struct SoftmaxCrossEntropyGradient {
  Dtype type;
  const void *dloss, *probabilities;
  Labels labels;
  void* gradient;

  template <class By>
  __device__ void operator()(By by, const Row& row) const {
    const Weights weights(labels, row);
    float mass = 1;
    if (!labels.sparse) {
      mass = 0;
      for (std::int64_t i = row.rank; i < row.columns; i += row.width) mass += weights[i];
      mass = by.reduce(row, mass, math::Add{});
    }
    const float slope = weights.wrong() ? not_a_number() : load_as<float>(dloss, type, row.index);
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const float p = load_as<float>(probabilities, type, row.begin + i);
      store_as<float>(gradient, type, row.begin + i, slope * (p * mass - weights[i]));
    }
  }
};

}  // namespace gpubench::cuda
