// What is chosen on a device once for each problem: see the functions that choose.
#pragma once
#include <optional>

#include "core/backend/cuda/choices.h"
#include "core/backend/cuda/engine_plans.h"
#include "core/backend/cuda/matmul_algorithms.h"

namespace gpubench::cuda {

struct DeviceChoices {
  Choices<MatmulProblem, std::optional<MatmulAlgorithm>> algorithms;  ///< choose_algorithm()
  Choices<MatmulProblem, bool> faster_sums;                           ///< sums_faster()
  Choices<ConvolutionProblem, EngineChoice> convolutions;             ///< choose_engine()
  Choices<AttentionProblem, EngineChoice> attentions;                 ///< choose_engine()
};

}  // namespace gpubench::cuda
