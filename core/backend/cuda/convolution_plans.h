// Chooses the cuDNN engine of each convolution once per device and remembers it for all kernels, because building an
// engine may compile it.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/backend/cuda/cudnn_plan.h"

namespace gpubench::cuda {

class CudaDevice;

class ConvolutionPlans {
 public:
  explicit ConvolutionPlans(CudaDevice& device) : device_(device) {}

  struct Choice {
    std::shared_ptr<const CudnnPlan> plan;  ///< nullptr if no engine can be used
    std::string why_not;
  };
  /// Ignores `activation_behind`. Thread-safe; the returned reference stays valid.
  const Choice& find(ConvolutionProblem problem);

 private:
  Choice choose(const ConvolutionProblem& problem) const;

  CudaDevice& device_;
  std::mutex mutex_;
  std::map<ConvolutionProblem, Choice> chosen_;
};

}  // namespace gpubench::cuda
