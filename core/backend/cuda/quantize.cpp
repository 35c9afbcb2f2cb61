#include "core/backend/cuda/quantize.h"

#include "core/backend/cuda/elementwise.h"
#include "core/backend/cuda/kernels/quantize.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_quantize(const Quantize& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, &launch_quantize);
}

std::unique_ptr<Kernel> plan_fake_quantize(const FakeQuantize& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, &launch_fake_quantize);
}

std::unique_ptr<Kernel> plan_fake_quantize_gradient(const FakeQuantizeGradient& op, const Signature& signature,
                                                    Device& device) {
  return plan_elementwise(op, signature, device, &launch_fake_quantize_gradient);
}

}  // namespace gpubench::cuda
