#include "core/backend/cuda/kernels/loss.cuh"

namespace gpubench::cuda {
namespace {

template <int pack>
struct CrossEntropy {
  Dtype type;
  const void* probabilities;
  Labels labels;
  void* loss;

  __device__ static float log_of(float probability) { return math::log(math::above_zero(probability)); }

  template <class By>
  __device__ void operator()(By by, const Row& row) const {
    const Weights<pack> weights(labels, row);
    float sum = 0;
    if (labels.sparse) {
      if (row.leads()) {
        const std::int64_t at = row.begin * pack + weights.only_class();
        sum = weights.wrong() ? not_a_number() : -log_of(load_as<float>(probabilities, type, at));
      }
    } else {
      for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
        const Pack<float, pack> weight = weights[i];
        const Pack<float, pack> p = load_pack<pack>(probabilities, type, (row.begin + i) * pack);
#pragma unroll
        for (int j = 0; j < pack; ++j) {
          if (weight.values[j] != 0) sum -= weight.values[j] * log_of(p.values[j]);
        }
      }
      sum = by.reduce(row, sum, math::Add{});
    }
    if (row.leads()) store_as<float>(loss, type, row.index, sum);
  }
};

template <int pack>
struct CrossEntropyGradient {
  Dtype type;
  const void *dloss, *probabilities;
  Labels labels;
  void* gradient;

  template <class By>
  __device__ void operator()(By, const Row& row) const {
    const Weights<pack> weights(labels, row);
    const float slope = weights.wrong() ? not_a_number() : -load_as<float>(dloss, type, row.index);
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      Pack<float, pack> p = load_pack<pack>(probabilities, type, (row.begin + i) * pack);
      const Pack<float, pack> weight = weights[i];
#pragma unroll
      for (int j = 0; j < pack; ++j) p.values[j] = slope * weight.values[j] / math::above_zero(p.values[j]);
      store_pack(gradient, type, (row.begin + i) * pack, p);
    }
  }
};

/// Of 16-bit rows that divide into packs of 16 bytes a thread loads these; float32 stays with elements, in whose order
/// measured_cross_entropy sums too.
template <template <int> class Body, class... Memory>
cudaError_t launch_loss(const LaunchOn& on, const LossShape& shape, const Memory&... memory) {
  constexpr int pack = wide<math::Float16>;
  if (shape.type == Dtype::f32 || shape.columns % pack != 0) {
    return launch_rows(on, shape.rows, shape.columns, Body<1>{shape.type, memory...});
  }
  return launch_rows(on, shape.rows, shape.columns / pack, Body<pack>{shape.type, memory...});
}

}  // namespace

cudaError_t launch_cross_entropy(const LaunchOn& on, const LossShape& shape, const void* probabilities,
                                 const Labels& labels, void* loss) {
  return launch_loss<CrossEntropy>(on, shape, probabilities, labels, loss);
}

cudaError_t launch_cross_entropy_gradient(const LaunchOn& on, const LossShape& shape, const void* dloss,
                                          const void* probabilities, const Labels& labels, void* gradient) {
  return launch_loss<CrossEntropyGradient>(on, shape, dloss, probabilities, labels, gradient);
}

cudaError_t launch_softmax_cross_entropy(const LaunchOn& on, const LossShape& shape, const void* logits,
                                         const Labels& labels, void* loss, void* probabilities) {
  return launch_loss<SoftmaxCrossEntropy>(on, shape, logits, labels, loss, probabilities);
}

cudaError_t launch_softmax_cross_entropy_gradient(const LaunchOn& on, const LossShape& shape, const void* dloss,
                                                  const void* probabilities, const Labels& labels, void* gradient) {
  return launch_loss<SoftmaxCrossEntropyGradient>(on, shape, dloss, probabilities, labels, gradient);
}

template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropy>() {
  return &launch_function<math::BinaryCrossEntropy, math::Domain::floats, false>;
}
template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropyOfLogit>() {
  return &launch_function<math::BinaryCrossEntropyOfLogit, math::Domain::floats, false>;
}
template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropyGradient>() {
  return &launch_function<math::BinaryCrossEntropyGradient, math::Domain::floats, false>;
}
template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropyOfLogitGradient>() {
  return &launch_function<math::BinaryCrossEntropyOfLogitGradient, math::Domain::floats, false>;
}

}  // namespace gpubench::cuda
