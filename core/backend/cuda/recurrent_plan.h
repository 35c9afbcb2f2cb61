// What the plans of recurrent ops share: types of a step and of its product, places in tensors and in the workspace.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/kernels/recurrent.h"
#include "core/base/align.h"
#include "core/ops/matmul.h"
#include "core/ops/recurrent.h"

namespace gpubench::cuda {

/// Parts of a kernel's workspace.
class RecurrentLayout {
 public:
  /// Returns the offset.
  std::size_t add(std::size_t bytes) {
    const std::size_t at = bytes_;
    constexpr std::size_t alignment = 256;
    bytes_ += align_up(bytes, alignment);
    return at;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// What both directions of a recurrence have in common.
struct Recurrent {
  Recurrent(const RecurrentAttributes& given, const TensorType& states)
      : options(given),
        extents(recurrent_extents(states)),
        step{.batch = extents.batch,
             .units = extents.units,
             .type = states.dtype,
             .gru = options.cell == RecurrentCell::gru} {
    const std::int64_t units = extents.units, width = gates_of(options.cell) * units;
    state = of({extents.batch, units});
    gates = of({extents.batch, width});
    if (options.dropout) {
      const std::int64_t parts = gates_of(options.cell);
      step.parts = static_cast<int>(parts);
      step.sums_row = units;
      step.sums_gate = extents.batch * units;
      step.kept_gate = rows() * units;
      sums = of({parts, extents.batch, units});
      all_sums = of({parts, rows(), units});
      kernel = of({parts, units, units});
      factor = sums;
      all_factors = all_sums;
    } else {
      step.sums_row = width;
      step.sums_gate = step.kept_gate = units;
      sums = gates;
      all_sums = of({rows(), width});
      kernel = of({units, width});
      factor = state;
      all_factors = of({rows(), units});
    }
  }

  TensorType of(Shape shape) const { return {std::move(shape), step.type}; }
  std::int64_t rows() const { return extents.steps * extents.batch; }
  std::int64_t index(std::int64_t turn) const { return options.backwards ? extents.steps - 1 - turn : turn; }
  std::byte* state_of(const TensorView& tensor, std::int64_t index) const {
    return tensor.data + static_cast<std::size_t>(index) * state.bytes();
  }
  /// Of gates or x.
  std::byte* gates_at(const TensorView& tensor, std::int64_t index) const {
    return tensor.data + static_cast<std::size_t>(index) * gates.bytes();
  }
  /// Of the first part of all_factors or all_sums, which have their steps inside of their parts.
  static std::byte* part_of(const TensorView& all, const TensorType& of_step, std::int64_t index, int parts) {
    return all.data + static_cast<std::size_t>(index) * of_step.bytes() / static_cast<std::size_t>(parts);
  }
  const bool* mask_of(const RecurrentExtras<TensorView>& extras, std::int64_t index) const {
    return extras.mask == nullptr ? nullptr : extras.mask->as<bool>() + index * extents.batch;
  }

  /// Zeros for the last step among all: no step was computed from its state.
  cudaError_t clear_last(cudaStream_t stream, const TensorView& all, const TensorType& of_step) const {
    const std::int64_t last = index(extents.steps - 1);
    for (int part = 0; part < step.parts; ++part) {
      std::byte* const at = part_of(all, of_step, last + part * extents.steps, step.parts);
      const cudaError_t status = cudaMemsetAsync(at, 0, of_step.bytes() / static_cast<std::size_t>(step.parts), stream);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  }

  RecurrentAttributes options;
  RecurrentExtents extents;
  RecurrentStep step;
  TensorType state, gates;          ///< of one step
  TensorType factor, sums, kernel;  ///< of one step's product
  TensorType all_factors, all_sums;
};

inline std::unique_ptr<Kernel> plan_step_product(const MatmulAttributes& options, const TensorType& a,
                                                 const TensorType& b, const TensorType& c, Device& device) {
  const std::array inputs{a, b};
  const std::array outputs{c};
  return plan_kernel(Matmul(options), {inputs, outputs}, device);
}

inline const void* data_of(const TensorView* view) {
  return view == nullptr ? nullptr : view->data;
}

}  // namespace gpubench::cuda
