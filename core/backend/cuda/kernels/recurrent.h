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
  /// The product is one of [batch, units], or, with dropout, one for each gate, one behind the other.
  int parts = 1;
  /// Distances in the product's sums between rows and between gates, and between gates in those of all steps.
  std::int64_t sums_row = 0, sums_gate = 0, kept_gate = 0;
};

/// Memory of one step, [batch, units] or [batch, gates * units].
struct RecurrentMemory {
  const void* x = nullptr;                                       ///< may be the gates
  const void* sums = nullptr;                                    ///< product with the previous state; null for 0
  const void* bias = nullptr;                                    ///< gru: [units]
  const void *state_before = nullptr, *memory_before = nullptr;  ///< of the previous step; null for 0
  const void* dropout = nullptr;                                 ///< factors of each gate; null for no dropout
  const bool* mask = nullptr;                                    ///< [batch]; null for no masked rows
  void *gates = nullptr, *memory = nullptr, *state = nullptr;
  /// For the product of the next step, at an aligned address: [batch, units], with dropout [parts, batch, units].
  void* factor = nullptr;
};
cudaError_t launch_recurrent_step(const LaunchOn& on, const RecurrentStep& step, const RecurrentMemory& memory);
/// The factor of the first step's product, of `state_before`.
cudaError_t launch_recurrent_start(const LaunchOn& on, const RecurrentStep& step, const RecurrentMemory& memory);

struct RecurrentGradientMemory {
  const void *gates = nullptr, *memory = nullptr;
  const void *state_before = nullptr, *memory_before = nullptr, *dropout = nullptr;  ///< as above
  const bool* mask = nullptr;
  const void* dstate = nullptr;
  const void* dmemory = nullptr;  ///< lstm; null for 0
  const void* product = nullptr;  ///< gradient of the factor; null for 0
  /// In: from the next step, if `has_carried`; out: for the previous one. Gradient of the memory (lstm), and part of
  /// the state's gradient besides the product (gru; lstm: null without masks).
  float *carried_memory = nullptr, *carried_state = nullptr;
  bool has_carried = false;
  void* dx = nullptr;       ///< may be the gates
  void* factor = nullptr;   ///< gradient of the product's sums, at an aligned address
  void* kept = nullptr;     ///< another copy of them, among those of all steps; null for none
  void* dropped = nullptr;  ///< the product's factor, among those of all steps; null without dropout
  void* inner = nullptr;    ///< gru: gradient of the memory
};
cudaError_t launch_recurrent_gradient_step(const LaunchOn& on, const RecurrentStep& step,
                                           const RecurrentGradientMemory& memory);
/// What the first step gives to the states before it: `dstate` and, of an lstm, `dmemory`.
cudaError_t launch_recurrent_initial_gradient(const LaunchOn& on, const RecurrentStep& step,
                                              const RecurrentGradientMemory& memory, void* dstate, void* dmemory);

}  // namespace gpubench::cuda
