#include "core/backend/cuda/kernels/state.h"

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/elementwise.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/math/functions.h"
#include "core/ops/state.h"

namespace gpubench::cuda {
namespace {

std::unique_ptr<Kernel> plan_assign(const Assign& op, const Signature& signature, Device& device) {
  return launch_kernel(
      op, device, [bytes = signature.outputs[0].bytes()](const LaunchOn& on, Views inputs, Views outputs) {
        if (bytes == 0) return cudaSuccess;
        return cudaMemcpyAsync(outputs[0].data, inputs[1].data, bytes, cudaMemcpyDeviceToDevice, on.stream);
      });
}

std::unique_ptr<Kernel> plan_assign_add(const AssignAdd& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, elementwise_launch<math::Add>());
}

std::unique_ptr<Kernel> plan_moving_average(const MovingAverage& op, const Signature& signature, Device& device) {
  return launch_kernel(op, device,
                       [kept = static_cast<float>(op.momentum), taken = static_cast<float>(1 - op.momentum),
                        type = signature.outputs[0].dtype,
                        elements = signature.outputs[0].elements()](const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_moving_average(on, elements, type, outputs[0].data, inputs[1].data, kept, taken);
                       });
}

std::unique_ptr<Kernel> plan_accumulate_mean(const AccumulateMean& op, const Signature& signature, Device& device) {
  return launch_kernel(op, device,
                       [count = signature.inputs[1].elements()](const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_accumulate_mean(on, outputs[0].as<float>(), inputs[1].as<float>(), count);
                       });
}

template <class F>
std::unique_ptr<Kernel> plan_schedule(const ScheduleOp<F>& op, const Signature&, Device& device) {
  return launch_kernel(op, device, [f = op.function](const LaunchOn& on, Views inputs, Views outputs) {
    return launch_schedule(on, outputs[0].as<float>(), inputs[0].as<std::int64_t>(), f);
  });
}

}  // namespace

void add_state(KernelTable& table) {
  add_row<&plan_assign>(table);
  add_row<&plan_assign_add>(table);
  add_row<&plan_moving_average>(table);
  add_row<&plan_accumulate_mean>(table);
  add_row<&plan_schedule<math::CosineDecay>>(table);
  add_row<&plan_schedule<math::CosineDecayRestarts>>(table);
  add_row<&plan_schedule<math::ExponentialDecay>>(table);
  add_row<&plan_schedule<math::InverseTimeDecay>>(table);
  add_row<&plan_schedule<math::NadamMomentum>>(table);
  add_row<&plan_schedule<math::PiecewiseConstant>>(table);
  add_row<&plan_schedule<math::PolynomialDecay>>(table);
}

}  // namespace gpubench::cuda
