// Programs are data, so that a chain needs no compiler while gpubench runs. The choice of a step's function is the same
// for all threads and costs a few instructions for four elements, less than their bytes take; values stay in registers
// because a program has one of them, and nothing that would have to be indexed.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/elementwise_chain.h"
#include "core/math/functions.h"

namespace gpubench::cuda {
namespace {

__device__ float load_number(const void* data, Dtype type, std::int64_t at) {
  if (type == Dtype::f32 || type == Dtype::f16 || type == Dtype::bf16) return load_as<float>(data, type, at);
  return static_cast<float>(load_as<std::int64_t>(data, type, at));
}

/// i / repeat % period; 32-bit divisions take a fraction of the time of 64-bit ones.
__device__ std::int64_t place_of(const ChainInput& input, std::int64_t i) {
  if (i <= 0xFFFFFFFF && input.repeat <= 0xFFFFFFFF && input.period <= 0xFFFFFFFF) {
    const auto element = static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(input.repeat);
    return element % static_cast<std::uint32_t>(input.period);
  }
  return i / input.repeat % input.period;
}

/// Elements a thread computes at once: 16 bytes of a 16-bit type.
inline constexpr int chain_pack = 8;
using ChainPack = Pack<float, chain_pack>;

/// The operand's elements for output elements [i, i + count); count is chain_pack except at the end.
__device__ ChainPack load_operand(const ChainInput& input, const void* data, std::int64_t elements, std::int64_t i,
                                  int count) {
  ChainPack result;
  if (input.period == 1) {
    const float value = load_number(data, input.type, 0);
    for (float& element : result.values) element = value;
    return result;
  }
  const bool whole = input.period == elements;
  const bool floating = input.type == Dtype::f32 || input.type == Dtype::f16 || input.type == Dtype::bf16;
  if (floating && input.repeat == 1 && count == chain_pack && (whole || input.period % chain_pack == 0)) {
    return load_pack<chain_pack>(data, input.type, whole ? i : place_of(input, i));
  }
#pragma unroll
  for (int k = 0; k < chain_pack; ++k) {
    const std::int64_t at = k < count ? i + k : i;
    result.values[k] = load_number(data, input.type, whole ? at : place_of(input, at));
  }
  return result;
}

template <class F>
__device__ void apply_step(ChainPack& value, const ChainPack& operand, bool reversed) {
#pragma unroll
  for (int k = 0; k < chain_pack; ++k) {
    if constexpr (std::is_invocable_v<F, float>) {
      value.values[k] = F{}(value.values[k]);
    } else {
      const float a = reversed ? operand.values[k] : value.values[k];
      const float b = reversed ? value.values[k] : operand.values[k];
      value.values[k] = F{}(a, b);
    }
  }
}

/// Operands behind the first that are loaded before the first step, so that their loads wait together. Longer chains
/// load the others where they are used.
constexpr int early_operands = 2;

/// With this bound the compiler uses as many registers as it needs; without it, it spills registers to fit one more
/// block.
constexpr int blocks_per_multiprocessor = 4;

__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    chain_kernel(const __grid_constant__ ChainProgram program, const __grid_constant__ ChainMemory memory) {
  for (std::int64_t i = first_index() * chain_pack; i < program.elements; i += index_step() * chain_pack) {
    const std::int64_t left = program.elements - i;
    const int count = left < chain_pack ? static_cast<int>(left) : chain_pack;
    ChainPack value = load_operand(program.inputs[0], memory.inputs[0], program.elements, i, count);
    ChainPack early[early_operands];
#pragma unroll
    for (int n = 0; n < early_operands; ++n) {
      if (n + 1 >= program.input_count) break;
      early[n] = load_operand(program.inputs[n + 1], memory.inputs[n + 1], program.elements, i, count);
    }
#pragma unroll 1
    for (int s = 0; s < program.count; ++s) {
      const ChainInstruction step = program.steps[s];
      ChainPack operand = value;
      if (step.operand == 1) {
        operand = early[0];
      } else if (step.operand == 2) {
        operand = early[1];
      } else if (step.operand >= 0) {
        operand = load_operand(program.inputs[step.operand], memory.inputs[step.operand], program.elements, i, count);
      }
      switch (step.function) {
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) \
  case math::Function::name:                                \
    apply_step<math::Type>(value, operand, step.reversed);  \
    break;
        GPUBENCH_FLOAT_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
      }
    }
    if (count == chain_pack) {
      store_pack(memory.output, program.output_type, i, value);
    } else {
#pragma unroll
      for (int k = 0; k < chain_pack; ++k) {
        if (k < count) store_as<float>(memory.output, program.output_type, i + k, value.values[k]);
      }
    }
  }
}

}  // namespace

cudaError_t launch_chain(const LaunchOn& on, const ChainProgram& program, const ChainMemory& memory) {
  if (program.elements == 0) return cudaSuccess;
  return launch_filling<&chain_kernel>(on, program.elements, block_threads * chain_pack, program, memory);
}

}  // namespace gpubench::cuda
