// Chooses the cuDNN engine of a problem by timing candidates: cuDNN orders its proposals for callers without our rules.
// Choices are remembered (device_choices.h), because building an engine may compile it.
#pragma once
#include <memory>
#include <string>

#include "core/backend/cuda/attention_graph.h"
#include "core/backend/cuda/conv_problem.h"
#include "core/backend/cuda/cudnn_plan.h"

namespace gpubench::cuda {

class CudaDevice;

struct EngineChoice {
  std::shared_ptr<const CudnnPlan> plan;  ///< nullptr if no engine can be used
  std::string why_not;
};

/// Ignores `activation_behind`.
EngineChoice choose_engine(CudaDevice& device, const ConvolutionProblem& problem);
/// Without cuDNN, and where cuDNN refuses the graph, no engine can be used. cuDNN's gradient in a fixed order keeps a
/// matrix of weights per head in its workspace: where that is above the limit, no engine can be used either, and our
/// own kernel, whose memory is linear in the length of the sequence, is taken.
EngineChoice choose_engine(CudaDevice& device, const AttentionProblem& problem);

}  // namespace gpubench::cuda
