#include "core/backend/cuda/kernels/loss.cuh"

namespace gpubench::cuda {
namespace {

struct CrossEntropy {
  Dtype type;
  const void* probabilities;
  Labels labels;
  void* loss;

  __device__ float log_probability(const Row& row, std::int64_t column) const {
    return math::log(math::above_zero(load_as<float>(probabilities, type, row.begin + column)));
  }
  template <class By>
  __device__ void operator()(By by, const Row& row) const {
    const Weights weights(labels, row);
    float sum = 0;
    if (labels.sparse) {
      if (row.leads()) sum = weights.wrong() ? not_a_number() : -log_probability(row, weights.only_class());
    } else {
      for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
        if (const float weight = weights[i]; weight != 0) sum -= weight * log_probability(row, i);
      }
      sum = by.reduce(row, sum, math::Add{});
    }
    if (row.leads()) store_as<float>(loss, type, row.index, sum);
  }
};

struct CrossEntropyGradient {
  Dtype type;
  const void *dloss, *probabilities;
  Labels labels;
  void* gradient;

  template <class By>
  __device__ void operator()(By, const Row& row) const {
    const Weights weights(labels, row);
    const float slope = weights.wrong() ? not_a_number() : -load_as<float>(dloss, type, row.index);
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const float p = math::above_zero(load_as<float>(probabilities, type, row.begin + i));
      store_as<float>(gradient, type, row.begin + i, slope * weights[i] / p);
    }
  }
};

}  // namespace

cudaError_t launch_cross_entropy(const LaunchOn& on, const LossShape& shape, const void* probabilities,
                                 const Labels& labels, void* loss) {
  return launch_rows(on, shape.rows, shape.columns, CrossEntropy{shape.type, probabilities, labels, loss});
}

cudaError_t launch_cross_entropy_gradient(const LaunchOn& on, const LossShape& shape, const void* dloss,
                                          const void* probabilities, const Labels& labels, void* gradient) {
  return launch_rows(on, shape.rows, shape.columns,
                     CrossEntropyGradient{shape.type, dloss, probabilities, labels, gradient});
}

cudaError_t launch_softmax_cross_entropy(const LaunchOn& on, const LossShape& shape, const void* logits,
                                         const Labels& labels, void* loss, void* probabilities) {
  return launch_rows(on, shape.rows, shape.columns,
                     SoftmaxCrossEntropy{shape.type, logits, labels, loss, probabilities});
}

cudaError_t launch_softmax_cross_entropy_gradient(const LaunchOn& on, const LossShape& shape, const void* dloss,
                                                  const void* probabilities, const Labels& labels, void* gradient) {
  return launch_rows(on, shape.rows, shape.columns,
                     SoftmaxCrossEntropyGradient{shape.type, dloss, probabilities, labels, gradient});
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
