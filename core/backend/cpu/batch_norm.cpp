// Batch normalization in loops over rows of channels: one pass for the statistics, one for the result.
#include "core/ops/batch_norm.h"

#include <cmath>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/rows.h"
#include "core/backend/cpu/widened.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

struct Shape2D {
  Shape2D(std::string_view op, const Signature& signature, Device& device) : rows(signature.inputs[0]) {
    require_float32(op, signature.inputs[0]);
    device.bind_to_thread();
    threads = threads_for(rows.count, rows.elements() * 2);
  }
  std::size_t column_bytes(std::size_t vectors) const {
    return vectors * static_cast<std::size_t>(rows.columns) * sizeof(float);
  }

  Rows rows;
  int threads = 1;
};

/// y = epilogue(element, (x - center) * factor + offset) for each channel; y may be x. Centered first: where the mean
/// is much larger than the deviation, x * factor alone would round away what matters.
template <class Epilogue>
void normalize(const Shape2D& shape, const float* x, const float* center, const float* factor, const float* offset,
               float* y, const Epilogue& epilogue) {
  const std::int64_t columns = shape.rows.columns;
  parallel_ranges(shape.threads, shape.rows.count, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin * columns; at < end * columns; at += columns) {
      for (std::int64_t i = 0; i < columns; ++i) {
        y[at + i] = epilogue(at + i, (x[at + i] - center[i]) * factor[i] + offset[i]);
      }
    }
  });
}

float relu(float value) {
  return value < 0.0F ? 0.0F : value;  // NaN stays
}

/// The slope of relu's argument; both are read first, because a load under a condition is not vectorized.
float where_positive(float result, float slope) {
  return result > 0.0F ? slope : 0.0F;
}

/// run(epilogue) with that of the op; `shortcut` is read where it is added.
template <class Run>
void with_epilogue(NormEpilogue epilogue, const float* shortcut, const Run& run) {
  if (epilogue == NormEpilogue::none) return run([](std::int64_t, float value) { return value; });
  if (epilogue == NormEpilogue::relu) return run([](std::int64_t, float value) { return relu(value); });
  run([shortcut](std::int64_t i, float value) { return relu(value + shortcut[i]); });
}

float* floats(std::span<std::byte> bytes) {
  return reinterpret_cast<float*>(bytes.data());
}

/// The derivative shared by training and inference: dgamma and dbeta are sums, and dx is linear in dy and x.
class GradientLoop {
 public:
  GradientLoop(const Shape2D& shape, float epsilon, bool statistics_depend_on_x,
               NormEpilogue epilogue = NormEpilogue::none)
      : shape_(shape),
        sums_(shape.rows, shape.threads),
        epsilon_(epsilon),
        statistics_depend_on_x_(statistics_depend_on_x),
        epilogue_(epilogue) {}

  std::size_t workspace_bytes() const { return sums_.workspace_bytes() + shape_.column_bytes(3); }

  void operator()(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                  std::span<std::byte> workspace) const {
    const float *const x = inputs[0].as<float>(), *const mean = inputs[2].as<float>();
    const float* const dy = inputs[4].as<float>();
    if (epilogue_ == NormEpilogue::none) {
      const auto slope = [dy](std::int64_t i, std::int64_t) { return dy[i]; };
      return compute(inputs, outputs, workspace, slope, slope);
    }
    if (epilogue_ == NormEpilogue::add_relu) {
      const float* const y = inputs[5].as<float>();
      float* const dshortcut = outputs[3].as<float>();  // may be dy
      return compute(
          inputs, outputs, workspace,
          [dy, y, dshortcut](std::int64_t i, std::int64_t) { return dshortcut[i] = where_positive(y[i], dy[i]); },
          [dshortcut](std::int64_t i, std::int64_t) { return dshortcut[i]; });
    }
    const float* const beta = inputs[5].as<float>();
    const float* const factor = factors(workspace);
    const auto slope = [x, mean, factor, beta, dy](std::int64_t i, std::int64_t column) {
      return where_positive((x[i] - mean[column]) * factor[column] + beta[column], dy[i]);
    };
    compute(inputs, outputs, workspace, slope, slope);
  }

 private:
  /// gamma / deviation, behind the sums.
  float* factors(std::span<std::byte> workspace) const { return floats(workspace.subspan(sums_.workspace_bytes())); }

  /// `first_slope` and `slope` give the derivative by what is normalized, (element, column), in the first pass over the
  /// rows and in the second.
  template <class First, class Slope>
  void compute(std::span<const TensorView> inputs, std::span<const TensorView> outputs, std::span<std::byte> workspace,
               const First& first_slope, const Slope& slope) const {
    const float *const x = inputs[0].as<float>(), *const gamma = inputs[1].as<float>();
    const float *const mean = inputs[2].as<float>(), *const variance = inputs[3].as<float>();
    const std::int64_t columns = shape_.rows.columns;
    // dx = gamma / deviation (dy - mean(dy) - x_hat mean(dy x_hat)) = dy * by_dy + (x - mean) * by_x + constant
    float* const by_dy = factors(workspace);
    float *const by_x = by_dy + columns, *const constant = by_x + columns;
    const auto inverse_of = [&](std::int64_t i) {
      return 1.0 / std::sqrt(static_cast<double>(variance[i]) + static_cast<double>(epsilon_));
    };
    for (std::int64_t i = 0; i < columns; ++i)
      by_dy[i] = static_cast<float>(static_cast<double>(gamma[i]) * inverse_of(i));
    const double* const totals = sums_.compute(workspace, [&](std::int64_t i, std::int64_t column) {
      const float own = first_slope(i, column);
      return std::array{own, own * (x[i] - mean[column])};
    });
    float *const dgamma = outputs[1].as<float>(), *const dbeta = outputs[2].as<float>();
    const double count = static_cast<double>(shape_.rows.count);
    for (std::int64_t i = 0; i < columns; ++i) {
      const double inverse = inverse_of(i), factor = static_cast<double>(gamma[i]) * inverse;
      const double by_centered =
          statistics_depend_on_x_ ? -factor * inverse * inverse * totals[columns + i] / count : 0.0;
      dbeta[i] = static_cast<float>(totals[i]);
      dgamma[i] = static_cast<float>(totals[columns + i] * inverse);
      by_x[i] = static_cast<float>(by_centered);
      constant[i] = static_cast<float>(statistics_depend_on_x_ ? -factor * totals[i] / count : 0.0);
    }
    float* const dx = outputs[0].as<float>();  // may be x or dy
    parallel_ranges(shape_.threads, shape_.rows.count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin * columns; at < end * columns; at += columns) {
        for (std::int64_t i = 0; i < columns; ++i) {
          dx[at + i] = slope(at + i, i) * by_dy[i] + (x[at + i] - mean[i]) * by_x[i] + constant[i];
        }
      }
    });
  }

  Shape2D shape_;
  ColumnSums<2> sums_;
  float epsilon_;
  bool statistics_depend_on_x_;
  NormEpilogue epilogue_;
};

std::unique_ptr<Kernel> plan_batch_norm(const BatchNorm& op, const Signature& signature, Device& device) {
  const Shape2D shape(op.name(), signature, device);
  const ColumnSums<2> sums(shape.rows, shape.threads);
  const float epsilon = op.epsilon;
  return loop_kernel(
      [shape, sums, epsilon, epilogue = op.epilogue](Views inputs, Views outputs, std::span<std::byte> workspace) {
        const float* const x = inputs[0].as<float>();
        // Shifted by the first row, so that a large mean does not swallow the variance.
        const double* const totals = sums.compute(workspace, [x](std::int64_t i, std::int64_t column) {
          const float centered = x[i] - x[column];
          return std::array{centered, centered * centered};
        });
        const float *const gamma = inputs[1].as<float>(), *const beta = inputs[2].as<float>();
        float *const mean = outputs[1].as<float>(), *const variance = outputs[2].as<float>();
        const std::int64_t columns = shape.rows.columns;
        float* const center = floats(workspace.subspan(sums.workspace_bytes()));  // the first row: y may be x
        float *const factor = center + columns, *const offset = factor + columns;
        const double count = static_cast<double>(shape.rows.count);
        for (std::int64_t i = 0; i < columns; ++i) {
          const double shift = totals[i] / count;
          const double spread = std::max(0.0, totals[columns + i] / count - shift * shift);
          const double slope = static_cast<double>(gamma[i]) / std::sqrt(spread + static_cast<double>(epsilon));
          mean[i] = static_cast<float>(static_cast<double>(x[i]) + shift);
          variance[i] = static_cast<float>(spread);
          center[i] = x[i];
          factor[i] = static_cast<float>(slope);
          offset[i] = static_cast<float>(static_cast<double>(beta[i]) - shift * slope);
        }
        const float* const shortcut = epilogue == NormEpilogue::add_relu ? inputs[3].as<float>() : nullptr;
        with_epilogue(epilogue, shortcut, [&](const auto& each) {
          normalize(shape, x, center, factor, offset, outputs[0].as<float>(), each);
        });
      },
      sums.workspace_bytes() + shape.column_bytes(3));
}

std::unique_ptr<Kernel> plan_batch_norm_gradient(const BatchNormGradient& op, const Signature& signature,
                                                 Device& device) {
  const GradientLoop loop(Shape2D(op.name(), signature, device), op.epsilon, true, op.epilogue);
  return loop_kernel(loop, loop.workspace_bytes());
}

std::unique_ptr<Kernel> plan_batch_norm_inference(const BatchNormInference& op, const Signature& signature,
                                                  Device& device) {
  const Shape2D shape(op.name(), signature, device);
  const float epsilon = op.epsilon;
  return loop_kernel(
      [shape, epsilon](Views inputs, Views outputs, std::span<std::byte> workspace) {
        const float *const gamma = inputs[1].as<float>(), *const variance = inputs[4].as<float>();
        float* const factor = floats(workspace);
        for (std::int64_t i = 0; i < shape.rows.columns; ++i) factor[i] = gamma[i] / std::sqrt(variance[i] + epsilon);
        normalize(shape, inputs[0].as<float>(), inputs[3].as<float>(), factor, inputs[2].as<float>(),
                  outputs[0].as<float>(), [](std::int64_t, float value) { return value; });
      },
      shape.column_bytes(1));
}

std::unique_ptr<Kernel> plan_batch_norm_inference_gradient(const BatchNormInferenceGradient& op,
                                                           const Signature& signature, Device& device) {
  const GradientLoop loop(Shape2D(op.name(), signature, device), op.epsilon, false);
  return loop_kernel(loop, loop.workspace_bytes());
}

}  // namespace

void add_batch_norm(KernelTable& table) {
  add_float32_row<&plan_batch_norm>(table);
  add_float32_row<&plan_batch_norm_gradient>(table);
  add_float32_row<&plan_batch_norm_inference>(table);
  add_float32_row<&plan_batch_norm_inference_gradient>(table);
}

}  // namespace gpubench::cpu
