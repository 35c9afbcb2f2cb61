// The cells of recurrent ops (core/ops/recurrent.h) in one step, for all rows of the batch: a thread for each unit. The
// product with the previous state lies before them, that of the gradients behind them.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

struct RecurrentStep {
  std::int64_t batch = 0, units = 0;
  Dtype type = Dtype::f32;
  bool gru = false;  ///< else lstm
};

/// Memory of one step, [batch, units] or [batch, gates * units].
struct RecurrentMemory {
  const void* x = nullptr;         ///< may be the gates
  const void* sums = nullptr;      ///< product with the previous state; null for 0
  const void* bias = nullptr;      ///< gru: [units]
  const void* previous = nullptr;  ///< lstm: memory of the previous step, gru: its state; null for 0
  void *gates = nullptr, *memory = nullptr, *state = nullptr;
  void* factor = nullptr;  ///< a copy of the state, at an aligned address
};
cudaError_t launch_recurrent_step(const LaunchOn& on, const RecurrentStep& step, const RecurrentMemory& memory);

struct RecurrentGradientMemory {
  const void *gates = nullptr, *memory = nullptr;
  const void* previous = nullptr;  ///< as above
  const void* dstate = nullptr;
  const void* product = nullptr;  ///< part of the state's gradient that came through the product; null for 0
  /// In: from the next step, if `has_carried`; out: for the previous one. lstm: gradient of the memory; gru: part of
  /// the state's gradient besides the product.
  float* carried = nullptr;
  bool has_carried = false;
  void* dx = nullptr;      ///< may be the gates
  void* factor = nullptr;  ///< gradient of the product's sums, at an aligned address
  void* kept = nullptr;    ///< another copy of them; null for none
  void* inner = nullptr;   ///< gru: gradient of the memory
};
cudaError_t launch_recurrent_gradient_step(const LaunchOn& on, const RecurrentStep& step,
                                           const RecurrentGradientMemory& memory);

}  // namespace gpubench::cuda
