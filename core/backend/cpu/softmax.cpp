// Softmax and its logarithm over rows, and their derivatives.
#include "core/ops/softmax.h"

#include <cmath>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/rows.h"
#include "core/backend/cpu/widened.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

/// Plans `body(a, b, y, rows)` over blocks, where a and b are the inputs' rows (b null for one input).
template <class Body>
std::unique_ptr<Kernel> plan_blocks(std::string_view op, const Signature& signature, Device& device, Body body) {
  require_float32(op, signature.inputs[0]);
  device.bind_to_thread();
  const RowBlocks blocks(signature.inputs[0]);
  return loop_kernel([blocks, body](Views inputs, Views outputs) {
    const float* const a = inputs[0].as<float>();
    const float* const b = inputs.size() > 1 ? inputs[1].as<float>() : a;
    float* const y = outputs[0].as<float>();
    blocks.for_each([&](std::int64_t first, std::int64_t last) {
      const std::int64_t at = first * blocks.rows.columns;
      body(a + at, b + at, y + at, last - first, blocks.rows.columns);
    });
  });
}

void softmax_rows(const float* x, const float*, float* y, std::int64_t rows, std::int64_t columns) {
  subtract_row_max(x, rows, columns, y);
  exp_in_place(y, rows * columns);
  for (std::int64_t at = 0; at < rows * columns; at += columns) {
    const float scale = 1.0F / row_sum(y + at, columns);
    for (std::int64_t i = 0; i < columns; ++i) y[at + i] *= scale;
  }
}

void softmax_gradient_rows(const float* dy, const float* y, float* dx, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t at = 0; at < rows * columns; at += columns) {
    const float dot = row_dot(dy + at, y + at, columns);
    for (std::int64_t i = 0; i < columns; ++i) dx[at + i] = y[at + i] * (dy[at + i] - dot);
  }
}

void log_softmax_rows(const float* x, const float*, float* y, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t at = 0; at < rows * columns; at += columns) {
    const float largest = row_max(x + at, columns);
    float sum = 0;
    for (std::int64_t i = 0; i < columns; ++i) sum += math::exp(x[at + i] - largest);
    // The small term last: beside a large maximum its digits would be lost.
    const float log_sum = std::log(sum);
    for (std::int64_t i = 0; i < columns; ++i) y[at + i] = (x[at + i] - largest) - log_sum;
  }
}

void log_softmax_gradient_rows(const float* dy, const float* y, float* dx, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t at = 0; at < rows * columns; at += columns) {
    const float sum = row_sum(dy + at, columns);
    for (std::int64_t i = 0; i < columns; ++i) dx[at + i] = dy[at + i] - math::exp(y[at + i]) * sum;
  }
}

std::unique_ptr<Kernel> plan_softmax(const Softmax& op, const Signature& signature, Device& device) {
  return plan_blocks(op.name(), signature, device, &softmax_rows);
}

std::unique_ptr<Kernel> plan_softmax_gradient(const SoftmaxGradient& op, const Signature& signature, Device& device) {
  return plan_blocks(op.name(), signature, device, &softmax_gradient_rows);
}

std::unique_ptr<Kernel> plan_log_softmax(const LogSoftmax& op, const Signature& signature, Device& device) {
  return plan_blocks(op.name(), signature, device, &log_softmax_rows);
}

std::unique_ptr<Kernel> plan_log_softmax_gradient(const LogSoftmaxGradient& op, const Signature& signature,
                                                  Device& device) {
  return plan_blocks(op.name(), signature, device, &log_softmax_gradient_rows);
}

}  // namespace

void add_softmax(KernelTable& table) {
  add_float32_row<&plan_softmax>(table);
  add_float32_row<&plan_softmax_gradient>(table);
  add_float32_row<&plan_log_softmax>(table);
  add_float32_row<&plan_log_softmax_gradient>(table);
}

}  // namespace gpubench::cpu
