#include "core/backend/cpu/bias.h"

#include "core/backend/cpu/float32_only.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/rows.h"
#include "core/backend/cpu/stored.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_bias_add(const BiasAdd& op, const Signature& signature, Device& device) {
  require_float32(op.name(), signature.inputs[0]);
  device.bind_to_thread();
  const Rows rows(signature.inputs[0]);
  const int threads = threads_for(rows.count, rows.elements());
  return loop_kernel([rows, threads](Views inputs, Views outputs) {
    const float* const x = inputs[0].as<float>();
    const float* const bias = inputs[1].as<float>();
    float* const y = outputs[0].as<float>();
    parallel_ranges(threads, rows.count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin * rows.columns; at < end * rows.columns; at += rows.columns) {
        for (std::int64_t i = 0; i < rows.columns; ++i) y[at + i] = x[at + i] + bias[i];
      }
    });
  });
}

std::unique_ptr<Kernel> plan_bias_gradient(const BiasGradient& op, const Signature& signature, Device& device) {
  device.bind_to_thread();
  const Rows rows(signature.inputs[0]);
  const ColumnSums<1> sums(rows, threads_for(rows.count, rows.elements()));
  return dispatch(Floating{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    return loop_kernel(
        [rows, sums](Views inputs, Views outputs, std::span<std::byte> workspace) {
          const T* const dy = inputs[0].as<T>();
          const double* const totals =
              sums.compute(workspace, [dy](std::int64_t i, std::int64_t) { return std::array{widen(dy[i])}; });
          T* const dbias = outputs[0].as<T>();
          for (std::int64_t i = 0; i < rows.columns; ++i) dbias[i] = CastTo<T>{}(static_cast<float>(totals[i]));
        },
        sums.workspace_bytes());
  });
}

}  // namespace gpubench::cpu
