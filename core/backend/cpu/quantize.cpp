#include "core/backend/cpu/quantize.h"

#include "core/backend/cpu/elementwise.h"
#include "core/math/quantize.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_quantize(const Quantize& op, const Signature& signature, Device&) {
  return elementwise<std::int8_t, float, float>(op.name(), math::Quantize{}, signature);
}

std::unique_ptr<Kernel> plan_fake_quantize(const FakeQuantize& op, const Signature& signature, Device&) {
  return elementwise<float, float, float>(op.name(), math::FakeQuantize{}, signature);
}

std::unique_ptr<Kernel> plan_fake_quantize_gradient(const FakeQuantizeGradient& op, const Signature& signature,
                                                    Device&) {
  return elementwise<float, float, float, float>(op.name(), math::FakeQuantizeGradient{}, signature);
}

}  // namespace gpubench::cpu
