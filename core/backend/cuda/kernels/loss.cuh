// Softmax cross-entropy of a row and its gradient. One function serves distributions and class indices: what they
// differ in is the weight of a class. `pack`: elements that a thread loads at once; a Row has them as columns.
#pragma once
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/loss.h"
#include "core/backend/cuda/kernels/rows.cuh"
#include "core/math/loss.h"

namespace gpubench::cuda {

/// The weights of a row's classes. `pack`: elements in each column of the row.
template <int pack>
class Weights {
 public:
  __device__ Weights(const Labels& labels, const Row& row)
      : labels_(labels), begin_(row.begin), classes_(row.columns * pack) {
    if (labels.sparse) class_ = load_as<std::int64_t>(labels.data, labels.type, row.index);
  }
  __device__ Pack<float, pack> operator[](std::int64_t column) const {
    if (!labels_.sparse) return load_pack<pack>(labels_.data, labels_.type, (begin_ + column) * pack);
    Pack<float, pack> weights;
#pragma unroll
    for (int j = 0; j < pack; ++j) weights.values[j] = column * pack + j == class_ ? 1.0F : 0.0F;
    return weights;
  }
  __device__ bool wrong() const {
    return labels_.sparse && (class_ < 0 || class_ >= classes_);
  }
  __device__ std::int64_t only_class() const {
    return class_;
  }

 private:
  Labels labels_;
  std::int64_t begin_, classes_, class_ = 0;
};

// Threads write the elements that they read, after all have read them, so the probabilities may replace the logits.
template <int pack>
struct SoftmaxCrossEntropy {
  Dtype type;
  const void* logits;
  Labels labels;
  void *loss, *probabilities;

  template <class By>
  __device__ void operator()(By by, const Row& row) const {
    const Weights<pack> weights(labels, row);
    const auto at = [&](std::int64_t i) { return load_pack<pack>(logits, type, (row.begin + i) * pack); };
    float largest = math::from_bits(static_cast<std::int32_t>(0xFF800000U));  // -infinity
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const Pack<float, pack> x = at(i);
#pragma unroll
      for (int j = 0; j < pack; ++j) largest = Largest{}(largest, x.values[j]);
    }
    largest = by.reduce(row, largest, Largest{});
    float sum = 0, mass = 0, dot = 0;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const Pack<float, pack> x = at(i), weight = weights[i];
#pragma unroll
      for (int j = 0; j < pack; ++j) {
        const float shifted = x.values[j] - largest;
        sum += math::exp(shifted);
        mass += weight.values[j];
        if (weight.values[j] != 0) dot += weight.values[j] * shifted;
      }
    }
    sum = by.reduce(row, sum, math::Add{});
    mass = by.reduce(row, mass, math::Add{});
    dot = by.reduce(row, dot, math::Add{});
    const float scale = 1.0F / sum;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      Pack<float, pack> p = at(i);
#pragma unroll
      for (float& each : p.values) each = math::exp(each - largest) * scale;
      store_pack(probabilities, type, (row.begin + i) * pack, p);
    }
    if (!row.leads()) return;
    store_as<float>(loss, type, row.index, weights.wrong() ? not_a_number() : math::log(sum) * mass - dot);
  }
};

template <int pack>
struct SoftmaxCrossEntropyGradient {
  Dtype type;
  const void *dloss, *probabilities;
  Labels labels;
  void* gradient;

  template <class By>
  __device__ void operator()(By by, const Row& row) const {
    const Weights<pack> weights(labels, row);
    float mass = 1;
    if (!labels.sparse) {
      mass = 0;
      for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
        const Pack<float, pack> weight = weights[i];
#pragma unroll
        for (int j = 0; j < pack; ++j) mass += weight.values[j];
      }
      mass = by.reduce(row, mass, math::Add{});
    }
    const float slope = weights.wrong() ? not_a_number() : load_as<float>(dloss, type, row.index);
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      Pack<float, pack> p = load_pack<pack>(probabilities, type, (row.begin + i) * pack);
      const Pack<float, pack> weight = weights[i];
#pragma unroll
      for (int j = 0; j < pack; ++j) p.values[j] = slope * (p.values[j] * mass - weight.values[j]);
      store_pack(gradient, type, (row.begin + i) * pack, p);
    }
  }
};

}  // namespace gpubench::cuda
