// Cross-entropies over rows of classes, with and without softmax, for one-hot labels and for class indices (int64,
// int32 or uint8), and binary cross-entropy. A label outside the classes is an Error when the kernel runs: its value is
// not known before.
#include "core/math/loss.h"

#include <cmath>
#include <fmt/format.h>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/rows.h"
#include "core/backend/cpu/widened.h"
#include "core/base/error.h"
#include "core/device/device.h"
#include "core/ops/loss.h"

namespace gpubench::cpu {
namespace {

RowBlocks plan_rows(std::string_view op, const TensorType& predictions, Device& device) {
  require_float32(op, predictions);
  device.bind_to_thread();
  return RowBlocks(predictions);
}

std::unique_ptr<Kernel> plan_categorical_cross_entropy(const CategoricalCrossEntropy& op, const Signature& signature,
                                                       Device& device) {
  const RowBlocks blocks = plan_rows(op.name(), signature.inputs[0], device);
  return loop_kernel([blocks](Views inputs, Views outputs) {
    const float *const p = inputs[0].as<float>(), *const labels = inputs[1].as<float>();
    float* const loss = outputs[0].as<float>();
    const std::int64_t columns = blocks.rows.columns;
    blocks.for_each([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        float sum = 0;
        for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i) {
          if (labels[i] != 0.0F) sum -= labels[i] * std::log(std::max(p[i], smallest_probability));
        }
        loss[row] = sum;
      }
    });
  });
}

std::unique_ptr<Kernel> plan_categorical_cross_entropy_gradient(const CategoricalCrossEntropyGradient& op,
                                                                const Signature& signature, Device& device) {
  const RowBlocks blocks = plan_rows(op.name(), signature.inputs[1], device);
  return loop_kernel([blocks](Views inputs, Views outputs) {
    const float *const dloss = inputs[0].as<float>(), *const p = inputs[1].as<float>();
    const float* const labels = inputs[2].as<float>();
    float* const dp = outputs[0].as<float>();
    const std::int64_t columns = blocks.rows.columns;
    blocks.for_each([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i) {
          dp[i] = -dloss[row] * labels[i] / (p[i] > smallest_probability ? p[i] : smallest_probability);
        }
      }
    });
  });
}

std::unique_ptr<Kernel> plan_softmax_cross_entropy(const SoftmaxCrossEntropy& op, const Signature& signature,
                                                   Device& device) {
  const RowBlocks blocks = plan_rows(op.name(), signature.inputs[0], device);
  return loop_kernel([blocks](Views inputs, Views outputs) {
    const float *const logits = inputs[0].as<float>(), *const labels = inputs[1].as<float>();
    float *const loss = outputs[0].as<float>(), *const p = outputs[1].as<float>();
    const std::int64_t columns = blocks.rows.columns;
    blocks.for_each([&](std::int64_t first, std::int64_t last) {
      const std::int64_t at = first * columns, rows = last - first;
      subtract_row_max(logits + at, rows, columns, p + at);
      for (std::int64_t row = first; row < last; ++row) {
        loss[row] = row_dot(p + row * columns, labels + row * columns, columns);
      }
      exp_in_place(p + at, rows * columns);
      for (std::int64_t row = first; row < last; ++row) {
        float* const here = p + row * columns;
        const float sum = row_sum(here, columns);
        loss[row] = std::log(sum) * row_sum(labels + row * columns, columns) - loss[row];
        const float scale = 1.0F / sum;
        for (std::int64_t i = 0; i < columns; ++i) here[i] *= scale;
      }
    });
  });
}

std::unique_ptr<Kernel> plan_softmax_cross_entropy_gradient(const SoftmaxCrossEntropyGradient& op,
                                                            const Signature& signature, Device& device) {
  const RowBlocks blocks = plan_rows(op.name(), signature.inputs[1], device);
  return loop_kernel([blocks](Views inputs, Views outputs) {
    const float *const dloss = inputs[0].as<float>(), *const p = inputs[1].as<float>();
    const float* const labels = inputs[2].as<float>();
    float* const dlogits = outputs[0].as<float>();
    const std::int64_t columns = blocks.rows.columns;
    blocks.for_each([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        const std::int64_t at = row * columns;
        const float mass = row_sum(labels + at, columns), scale = dloss[row];
        for (std::int64_t i = at; i < at + columns; ++i) dlogits[i] = scale * (p[i] * mass - labels[i]);
      }
    });
  });
}

template <class Label>
void check_labels(std::string_view op, const Rows& rows, const Label* labels) {
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const auto label = static_cast<std::int64_t>(labels[row]);
    if (label >= 0 && label < rows.columns) continue;
    throw Error(fmt::format("{}: label {} of example {} is outside the {} classes 0 to {}", op, label, row,
                            rows.columns, rows.columns - 1));
  }
}

/// Calls body(labels) with the checked labels as what they are stored as.
template <class Body>
void with_labels(std::string_view op, const Rows& rows, const TensorView& view, Body&& body) {
  const auto call = [&](const auto* labels) {
    check_labels(op, rows, labels);
    body(labels);
  };
  switch (view.type->dtype) {
    case Dtype::i64:
      return call(view.as<std::int64_t>());
    case Dtype::i32:
      return call(view.as<std::int32_t>());
    default:
      return call(view.as<std::uint8_t>());
  }
}

std::unique_ptr<Kernel> plan_sparse_categorical_cross_entropy(const SparseCategoricalCrossEntropy& op,
                                                              const Signature& signature, Device& device) {
  const RowBlocks blocks = plan_rows(op.name(), signature.inputs[0], device);
  return loop_kernel([blocks, name = op.name()](Views inputs, Views outputs) {
    const float* const p = inputs[0].as<float>();
    float* const loss = outputs[0].as<float>();
    with_labels(name, blocks.rows, inputs[1], [&](const auto* labels) {
      for (std::int64_t row = 0; row < blocks.rows.count; ++row) {
        const float likelihood = p[row * blocks.rows.columns + static_cast<std::int64_t>(labels[row])];
        loss[row] = -std::log(std::max(likelihood, smallest_probability));
      }
    });
  });
}

std::unique_ptr<Kernel> plan_sparse_categorical_cross_entropy_gradient(const SparseCategoricalCrossEntropyGradient& op,
                                                                       const Signature& signature, Device& device) {
  const RowBlocks blocks = plan_rows(op.name(), signature.inputs[1], device);
  return loop_kernel([blocks, name = op.name()](Views inputs, Views outputs) {
    const float *const dloss = inputs[0].as<float>(), *const p = inputs[1].as<float>();
    float* const dp = outputs[0].as<float>();
    const std::int64_t columns = blocks.rows.columns;
    with_labels(name, blocks.rows, inputs[2], [&](const auto* labels) {
      blocks.for_each([&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) {
          const std::int64_t at = row * columns + static_cast<std::int64_t>(labels[row]);
          const float slope = -dloss[row] / std::max(p[at], smallest_probability);
          std::fill_n(dp + row * columns, columns, 0.0F);
          dp[at] = slope;
        }
      });
    });
  });
}

std::unique_ptr<Kernel> plan_sparse_softmax_cross_entropy(const SparseSoftmaxCrossEntropy& op,
                                                          const Signature& signature, Device& device) {
  const RowBlocks blocks = plan_rows(op.name(), signature.inputs[0], device);
  return loop_kernel([blocks, name = op.name()](Views inputs, Views outputs) {
    const float* const logits = inputs[0].as<float>();
    float *const loss = outputs[0].as<float>(), *const p = outputs[1].as<float>();
    const std::int64_t columns = blocks.rows.columns;
    with_labels(name, blocks.rows, inputs[1], [&](const auto* labels) {
      blocks.for_each([&](std::int64_t first, std::int64_t last) {
        const std::int64_t at = first * columns, rows = last - first;
        subtract_row_max(logits + at, rows, columns, p + at);
        for (std::int64_t row = first; row < last; ++row) {
          loss[row] = p[row * columns + static_cast<std::int64_t>(labels[row])];
        }
        exp_in_place(p + at, rows * columns);
        for (std::int64_t row = first; row < last; ++row) {
          float* const here = p + row * columns;
          const float sum = row_sum(here, columns), scale = 1.0F / sum;
          loss[row] = std::log(sum) - loss[row];
          for (std::int64_t i = 0; i < columns; ++i) here[i] *= scale;
        }
      });
    });
  });
}

std::unique_ptr<Kernel> plan_sparse_softmax_cross_entropy_gradient(const SparseSoftmaxCrossEntropyGradient& op,
                                                                   const Signature& signature, Device& device) {
  const RowBlocks blocks = plan_rows(op.name(), signature.inputs[1], device);
  return loop_kernel([blocks, name = op.name()](Views inputs, Views outputs) {
    const float *const dloss = inputs[0].as<float>(), *const p = inputs[1].as<float>();
    float* const dlogits = outputs[0].as<float>();
    const std::int64_t columns = blocks.rows.columns;
    with_labels(name, blocks.rows, inputs[2], [&](const auto* labels) {
      blocks.for_each([&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) {
          const std::int64_t at = row * columns;
          for (std::int64_t i = at; i < at + columns; ++i) dlogits[i] = dloss[row] * p[i];
          dlogits[at + static_cast<std::int64_t>(labels[row])] -= dloss[row];
        }
      });
    });
  });
}

constexpr std::int64_t cost_per_element = 16;

std::unique_ptr<Kernel> plan_binary_cross_entropy(const BinaryCrossEntropy& op, const Signature& signature,
                                                  Device& device) {
  require_float32(op.name(), signature.inputs[0]);
  device.bind_to_thread();
  const std::int64_t count = signature.inputs[0].elements();
  const int threads = threads_for(count, count * cost_per_element);
  return loop_kernel([count, threads, from_logits = op.from_logits](Views inputs, Views outputs) {
    const float *const x = inputs[0].as<float>(), *const targets = inputs[1].as<float>();
    float* const loss = outputs[0].as<float>();
    parallel_ranges(threads, count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        loss[i] = from_logits ? math::BinaryCrossEntropyOfLogit{}(x[i], targets[i])
                              : math::BinaryCrossEntropy{}(x[i], targets[i]);
      }
    });
  });
}

std::unique_ptr<Kernel> plan_binary_cross_entropy_gradient(const BinaryCrossEntropyGradient& op,
                                                           const Signature& signature, Device& device) {
  require_float32(op.name(), signature.inputs[0]);
  device.bind_to_thread();
  const std::int64_t count = signature.inputs[0].elements();
  const int threads = threads_for(count, count * cost_per_element);
  return loop_kernel([count, threads, from_logits = op.from_logits](Views inputs, Views outputs) {
    const float *const dloss = inputs[0].as<float>(), *const x = inputs[1].as<float>();
    const float* const targets = inputs[2].as<float>();
    float* const dx = outputs[0].as<float>();
    parallel_ranges(threads, count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        dx[i] = from_logits ? math::BinaryCrossEntropyOfLogitGradient{}(dloss[i], x[i], targets[i])
                            : math::BinaryCrossEntropyGradient{}(dloss[i], x[i], targets[i]);
      }
    });
  });
}

}  // namespace

void add_loss(KernelTable& table) {
  add_float32_row<&plan_categorical_cross_entropy>(table);
  add_float32_row<&plan_categorical_cross_entropy_gradient>(table);
  add_float32_row<&plan_softmax_cross_entropy>(table);
  add_float32_row<&plan_softmax_cross_entropy_gradient>(table);
  add_float32_row<&plan_sparse_categorical_cross_entropy>(table);
  add_float32_row<&plan_sparse_categorical_cross_entropy_gradient>(table);
  add_float32_row<&plan_sparse_softmax_cross_entropy>(table);
  add_float32_row<&plan_sparse_softmax_cross_entropy_gradient>(table);
  add_float32_row<&plan_binary_cross_entropy>(table);
  add_float32_row<&plan_binary_cross_entropy_gradient>(table);
}

}  // namespace gpubench::cpu
