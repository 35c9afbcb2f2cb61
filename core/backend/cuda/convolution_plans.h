// Which engine computes a convolution on one device: chosen once and remembered for all kernels of the device, since
// building an engine may compile it.
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
    std::shared_ptr<const CudnnPlan> plan;  ///< nullptr where no engine is left
    std::string why_not;
  };
  /// What runs behind the problem's graph does not matter. Any thread may call it; what it returns stays.
  const Choice& find(ConvolutionProblem problem);

 private:
  Choice choose(const ConvolutionProblem& problem) const;

  CudaDevice& device_;
  std::mutex mutex_;
  std::map<ConvolutionProblem, Choice> chosen_;
};

}  // namespace gpubench::cuda
