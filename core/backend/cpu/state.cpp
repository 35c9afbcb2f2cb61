#include "core/backend/cpu/state.h"

#include <cstring>

#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/elementwise.h"
#include "core/backend/cpu/sum.h"
#include "core/math/binary.h"

namespace gpubench::cpu {
namespace {

struct Average {
  float kept, taken;
  float operator()(float variable, float value) const { return kept * variable + taken * value; }
};

}  // namespace

std::unique_ptr<Kernel> plan_assign(const Assign&, const Signature& signature, Device&) {
  return loop_kernel([bytes = signature.outputs[0].bytes()](Views inputs, Views outputs) {
    std::memcpy(outputs[0].data, inputs[1].data, bytes);
  });
}

std::unique_ptr<Kernel> plan_assign_add(const AssignAdd& op, const Signature& signature, Device&) {
  return dispatch(Numbers{}, op.name(), signature.inputs[0].dtype,
                  [&]<class T>() { return elementwise<T, T, T>(op.name(), math::Add{}, signature); });
}

std::unique_ptr<Kernel> plan_moving_average(const MovingAverage& op, const Signature& signature, Device&) {
  const Average average{static_cast<float>(op.momentum), static_cast<float>(1 - op.momentum)};
  return dispatch(Types<float>{}, op.name(), signature.inputs[0].dtype,
                  [&]<class T>() { return elementwise<T, T, T>(op.name(), average, signature); });
}

std::unique_ptr<Kernel> plan_accumulate_mean(const AccumulateMean&, const Signature& signature, Device&) {
  return loop_kernel([count = signature.inputs[1].elements()](Views inputs, Views outputs) {
    const float* const before = inputs[0].as<float>();
    const double sum = sum_of(inputs[1].as<float>(), count);
    float* const state = outputs[0].as<float>();
    state[0] = static_cast<float>(before[0] + sum);
    state[1] = before[1] + static_cast<float>(count);
  });
}

}  // namespace gpubench::cpu
