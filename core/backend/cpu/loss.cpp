#include "core/backend/cpu/loss.h"

#include <cmath>

#include "core/backend/cpu/float32_only.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/row_blocks.h"

namespace gpubench::cpu {
namespace {

RowBlocks plan_rows(std::string_view op, const TensorType& predictions, Device& device) {
  require_float32(op, predictions);
  device.bind_to_thread();
  return RowBlocks(predictions);
}

}  // namespace

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

}  // namespace gpubench::cpu
