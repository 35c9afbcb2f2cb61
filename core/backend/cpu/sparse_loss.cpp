#include "core/backend/cpu/sparse_loss.h"

#include <cmath>
#include <fmt/format.h>

#include "core/backend/cpu/float32_only.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/row_blocks.h"
#include "core/base/error.h"

namespace gpubench::cpu {
namespace {

RowBlocks plan_rows(std::string_view op, const TensorType& predictions, Device& device) {
  require_float32(op, predictions);
  device.bind_to_thread();
  return RowBlocks(predictions);
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

}  // namespace

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

}  // namespace gpubench::cpu
