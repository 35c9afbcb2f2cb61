// Normalization of rows: a row stays in the first-level cache between its statistics and its result, so that memory is
// read once. The gradients of gamma and beta are summed in two stages: each thread sums its rows, in float32 for a run
// of them and then in double precision, and the threads' sums are added in the order of the threads.
#include "core/ops/layer_norm.h"

#include <cmath>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/rows.h"
#include "core/backend/cpu/widened.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

Rows float32_rows(std::string_view op, const Signature& signature, Device& device) {
  require_float32(op, signature.inputs[0]);
  device.bind_to_thread();
  return Rows(signature.inputs[0]);
}

int threads_for_rows(const Rows& rows, std::int64_t tensors) {
  return threads_for_stream(rows.count, tensors * rows.elements() * static_cast<std::int64_t>(sizeof(float)));
}

/// 1 / sqrt(mean((x - center)^2) + epsilon)
float inverse_deviation(const float* x, float center, std::int64_t columns, float epsilon) {
  const auto term = [x, center](auto kind, std::int64_t i) {
    const auto centered = elements_at<decltype(kind)>(x + i) - center;
    return centered * centered;
  };
  const float squares = reduce_row(columns, 0.0F, term, [](auto a, auto b) { return a + b; });
  return 1.0F / std::sqrt(squares / static_cast<float>(columns) + epsilon);
}

std::unique_ptr<Kernel> plan_layer_norm(const LayerNorm& op, const Signature& signature, Device& device) {
  const Rows rows = float32_rows(op.name(), signature, device);
  const int threads = threads_for_rows(rows, 2);
  return loop_kernel([rows, threads, epsilon = op.epsilon](Views inputs, Views outputs) {
    const float *const gamma = inputs[1].as<float>(), *const beta = inputs[2].as<float>();
    const float* const all = inputs[0].as<float>();
    float *const results = outputs[0].as<float>(), *const means = outputs[1].as<float>();
    float* const inverses = outputs[2].as<float>();
    parallel_ranges(threads, rows.count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const float* const x = all + row * rows.columns;
        float* const y = results + row * rows.columns;
        const float mean = row_sum(x, rows.columns) / static_cast<float>(rows.columns);
        const float inverse = inverse_deviation(x, mean, rows.columns, epsilon);
#pragma omp simd
        for (std::int64_t i = 0; i < rows.columns; ++i) y[i] = (x[i] - mean) * inverse * gamma[i] + beta[i];
        means[row] = mean;
        inverses[row] = inverse;
      }
    });
  });
}

std::unique_ptr<Kernel> plan_rms_norm(const RmsNorm& op, const Signature& signature, Device& device) {
  const Rows rows = float32_rows(op.name(), signature, device);
  const int threads = threads_for_rows(rows, 2);
  return loop_kernel([rows, threads, epsilon = op.epsilon](Views inputs, Views outputs) {
    const float *const all = inputs[0].as<float>(), *const gamma = inputs[1].as<float>();
    float *const results = outputs[0].as<float>(), *const inverses = outputs[1].as<float>();
    parallel_ranges(threads, rows.count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const float* const x = all + row * rows.columns;
        float* const y = results + row * rows.columns;
        const float inverse = inverse_deviation(x, 0.0F, rows.columns, epsilon);
#pragma omp simd
        for (std::int64_t i = 0; i < rows.columns; ++i) y[i] = x[i] * inverse * gamma[i];
        inverses[row] = inverse;
      }
    });
  });
}

/// The gradient of both: without a mean x is not centered, and there is no beta.
class RowNormGradientLoop {
 public:
  RowNormGradientLoop(const Rows& rows, bool centered)
      : rows_(rows), threads_(threads_for_rows(rows, 3)), centered_(centered) {}

  std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(threads_) * static_cast<std::size_t>(sums()) * (sizeof(double) + sizeof(float));
  }

  void operator()(Views inputs, Views outputs, std::span<std::byte> workspace) const {
    auto* const totals = reinterpret_cast<double*>(workspace.data());
    auto* const runs = reinterpret_cast<float*>(totals + threads_ * sums());
    std::fill_n(totals, threads_ * sums(), 0.0);
    parallel_ranges(threads_, rows_.count, [&](int thread, std::int64_t begin, std::int64_t end) {
      float* const run = runs + thread * sums();
      for (std::int64_t first = begin; first < end; first += run_rows) {
        std::fill_n(run, sums(), 0.0F);
        const std::int64_t last = std::min(first + run_rows, end);
        for (std::int64_t row = first; row < last; ++row) add_row_gradient(row, inputs, outputs[0], run);
        for (std::int64_t i = 0; i < sums(); ++i) totals[thread * sums() + i] += static_cast<double>(run[i]);
      }
    });
    for (int thread = 1; thread < threads_; ++thread) {
      for (std::int64_t i = 0; i < sums(); ++i) totals[i] += totals[thread * sums() + i];
    }
    for (std::size_t output = 1; output < outputs.size(); ++output) {
      const double* const from = totals + static_cast<std::int64_t>(output - 1) * rows_.columns;
      float* const to = outputs[output].as<float>();
      for (std::int64_t i = 0; i < rows_.columns; ++i) to[i] = static_cast<float>(from[i]);
    }
  }

 private:
  static constexpr std::int64_t run_rows = 64;

  /// Sums over rows: for each column of gamma, and of beta.
  std::int64_t sums() const { return (centered_ ? 2 : 1) * rows_.columns; }

  // With g = dy gamma and z = (x - mean) inverse: dx = inverse (g - mean(g) - z mean(g z)); mean(g) is missing where x
  // is not centered. dx may be x or dy.
  void add_row_gradient(std::int64_t row, Views inputs, const TensorView& output, float* run) const {
    const std::int64_t columns = rows_.columns, at = row * columns;
    const float *const x = inputs[0].as<float>() + at, *const gamma = inputs[1].as<float>();
    const float* const dy = inputs.back().as<float>() + at;
    const float mean = centered_ ? inputs[2].as<float>()[row] : 0.0F;
    const float inverse = inputs[inputs.size() - 2].as<float>()[row];
    const auto plus = [](auto a, auto b) { return a + b; };
    const auto slope = [=](auto kind, std::int64_t i) {
      return elements_at<decltype(kind)>(dy + i) * elements_at<decltype(kind)>(gamma + i);
    };
    const auto moment = [=](auto kind, std::int64_t i) {
      return slope(kind, i) * (elements_at<decltype(kind)>(x + i) - mean);
    };
    const float share = 1.0F / static_cast<float>(columns);
    const float offset = centered_ ? reduce_row(columns, 0.0F, slope, plus) * share : 0.0F;
    const float by_x = reduce_row(columns, 0.0F, moment, plus) * share * inverse * inverse;
    float* const dx = output.as<float>() + at;
    float *const dgamma = run, *const dbeta = run + columns;
    if (centered_) {
#pragma omp simd
      for (std::int64_t i = 0; i < columns; ++i) dbeta[i] += dy[i];
    }
#pragma omp simd
    for (std::int64_t i = 0; i < columns; ++i) {
      const float centered = x[i] - mean, given = dy[i];
      dgamma[i] += given * centered * inverse;
      dx[i] = inverse * (given * gamma[i] - offset - centered * by_x);
    }
  }

  Rows rows_;
  int threads_;
  bool centered_;
};

std::unique_ptr<Kernel> plan_layer_norm_gradient(const LayerNormGradient& op, const Signature& signature,
                                                 Device& device) {
  const RowNormGradientLoop loop(float32_rows(op.name(), signature, device), true);
  return loop_kernel(loop, loop.workspace_bytes());
}

std::unique_ptr<Kernel> plan_rms_norm_gradient(const RmsNormGradient& op, const Signature& signature, Device& device) {
  const RowNormGradientLoop loop(float32_rows(op.name(), signature, device), false);
  return loop_kernel(loop, loop.workspace_bytes());
}

}  // namespace

void add_layer_norm(KernelTable& table) {
  add_float32_row<&plan_layer_norm>(table);
  add_float32_row<&plan_layer_norm_gradient>(table);
  add_float32_row<&plan_rms_norm>(table);
  add_float32_row<&plan_rms_norm_gradient>(table);
}

}  // namespace gpubench::cpu
