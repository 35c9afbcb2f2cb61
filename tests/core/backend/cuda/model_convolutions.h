// The convolutions that training steps of real models ask cuDNN for.
#pragma once
#include <string>
#include <vector>

#include "core/backend/cuda/conv_problem.h"

namespace gpubench::cuda {

/// Builds the model ("M3" of tests/peers/models.lua, or a net of gb.zoo in its published size) in the GPU backend on
/// the simulated CUDA and plans its training step there, without running it. `dtype`: of its arithmetic, float32 or as
/// the policies mixed_float16 and mixed_bfloat16.
std::vector<ConvolutionProblem> convolutions_of_step(const std::string& model, std::int64_t batch_size, Dtype dtype);

/// "forward [64, 64, 56, 56] by [64, 64, 3, 3], bias, relu", in cuDNN's order of dimensions.
std::string to_string(const ConvolutionProblem& problem);

}  // namespace gpubench::cuda
