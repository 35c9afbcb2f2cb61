// One op planned on one device with memory of its own, filled with numbers of ordinary size: zeros, denormals or
// garbage would be computed at other speeds.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"

namespace gpubench {

class PlannedKernel {
 public:
  /// Throws what Op::infer, Backend::plan and MemoryPool::allocate throw. Integers are 0.
  PlannedKernel(const Backend& backend, Device& device, const Op& op, std::vector<TensorType> inputs);

  /// Queues one run.
  void run() { kernel_->run(*stream_, inputs_, outputs_, {workspace_.data(), workspace_.bytes()}); }
  void synchronize() { stream_->synchronize(); }

  std::string_view implementation() const { return kernel_->implementation(); }
  double flops() const { return flops_; }
  double bytes() const { return bytes_; }

 private:
  TensorView allocate(Device& device, const TensorType& type);

  std::vector<TensorType> types_;  // inputs, then outputs
  std::unique_ptr<Kernel> kernel_;
  Stream* stream_ = nullptr;
  std::vector<Buffer> buffers_;
  std::vector<TensorView> inputs_, outputs_;
  Buffer workspace_;
  double flops_ = 0, bytes_ = 0;
};

}  // namespace gpubench
