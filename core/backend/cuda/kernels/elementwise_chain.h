// Runs a short program of element-wise steps in one launch: every thread interprets it for its own elements.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/math/functions.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

inline constexpr int max_chain_inputs = 8;
inline constexpr int max_chain_steps = 16;

/// Output element i reads element (i / repeat) % period.
struct ChainInput {
  std::int64_t repeat = 1, period = 1;
  Dtype type = Dtype::f32;
};

/// value = function(value), function(value, operand) or, if reversed, function(operand, value).
struct ChainInstruction {
  math::Function function = {};
  std::int8_t operand = -1;
  bool reversed = false;
};

struct ChainProgram {
  std::int64_t elements = 0;
  Dtype output_type = Dtype::f32;
  int count = 0;        ///< of steps
  int input_count = 1;  ///< of `inputs` that are in use
  ChainInstruction steps[max_chain_steps] = {};
  ChainInput inputs[max_chain_inputs] = {};
};

struct ChainMemory {
  const void* inputs[max_chain_inputs] = {};
  void* output = nullptr;
};

/// The value starts as input 0. The output may share memory with an input of as many elements of the same size.
cudaError_t launch_chain(const LaunchOn& on, const ChainProgram& program, const ChainMemory& memory);

}  // namespace gpubench::cuda
