// Matrix products whose sums have no term.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "core/backend/cpu/loop_kernel.h"
#include "core/tensor/host_tensor.h"

namespace gpubench::cpu {

/// Runs a product of one term that is 0, so that its epilogue follows as ever. `a`, `b`: the first two inputs that the
/// product was planned for, in place of the empty ones.
class EmptySums final : public Kernel {
 public:
  EmptySums(const TensorType& a, const TensorType& b, std::unique_ptr<Kernel> product)
      : a_(HostTensor::zeros(a)), b_(HostTensor::zeros(b)), product_(std::move(product)) {}

  std::string_view implementation() const override { return product_->implementation(); }
  std::size_t workspace_bytes() const override { return product_->workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    std::vector<TensorView> of_zeros(inputs.begin(), inputs.end());
    of_zeros[0] = a_.view();
    of_zeros[1] = b_.view();
    product_->run(stream, of_zeros, outputs, workspace);
  }

 private:
  HostTensor a_, b_;
  std::unique_ptr<Kernel> product_;
};

}  // namespace gpubench::cpu
