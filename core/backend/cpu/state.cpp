// Updates of variables, learning rates of a step, and the scale of the loss. The executor gives the variable's memory
// as the output too.
#include "core/ops/state.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/elementwise.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/rows.h"
#include "core/backend/cpu/widened.h"
#include "core/math/functions.h"
#include "core/math/optimizer.h"
#include "core/ops/loss_scale.h"

namespace gpubench::cpu {
namespace {

struct Average {
  float kept, taken;
  float operator()(float variable, float value) const { return kept * variable + taken * value; }
};

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

/// Computed in double precision, written as float32.
template <class F>
std::unique_ptr<Kernel> plan_schedule(const ScheduleOp<F>& op, const Signature&, Device&) {
  return loop_kernel([f = op.function](Views inputs, Views outputs) {
    *outputs[0].as<float>() = static_cast<float>(f(static_cast<double>(*inputs[0].as<std::int64_t>())));
  });
}

/// Unscales elements and says whether all are finite; the output may be the input's memory.
using UnscaleLoop = bool (*)(std::int64_t begin, std::int64_t end, float inverse, const void* in, float* out);

template <class T>
bool unscale(std::int64_t begin, std::int64_t end, float inverse, const void* in, float* out) {
  const T* const gradient = static_cast<const T*>(in);
  int overflowed = 0;
#pragma omp simd reduction(| : overflowed)
  for (std::int64_t i = begin; i < end; ++i) {
    const float value = widen(gradient[i]) * inverse;
    overflowed |= math::is_finite(value) ? 0 : 1;
    out[i] = value;
  }
  return overflowed == 0;
}

UnscaleLoop loop_of(Dtype dtype) {
  if (dtype == Dtype::f16) return &unscale<math::Float16>;
  if (dtype == Dtype::bf16) return &unscale<math::Bfloat16>;
  return &unscale<float>;
}

class UnscaleKernel {
 public:
  explicit UnscaleKernel(const Signature& signature) {
    const TensorTypes gradients = signature.inputs.subspan(1);
    std::int64_t total = 0, bytes = 0;
    for (const TensorType& type : gradients) {
      loops_.push_back(loop_of(type.dtype));
      total += type.elements();
      bytes += static_cast<std::int64_t>(type.bytes()) + type.elements() * 4;
    }
    shares_ = partition(gradients, threads_for_stream(total, bytes), total);
  }

  void operator()(Views inputs, Views outputs) const {
    const float inverse = 1.0F / *inputs[0].as<float>();
    std::atomic<bool> found = false;
    const auto shares = static_cast<std::int64_t>(shares_.size());
    parallel_ranges(static_cast<int>(shares), shares, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = begin; s < end; ++s) {
        for (const Segment& segment : shares_[static_cast<std::size_t>(s)]) {
          const std::size_t i = segment.tensor;
          const void* const in = inputs[1 + i].data;
          if (!loops_[i](segment.begin, segment.end, inverse, in, outputs[i].as<float>())) found = true;
        }
      }
    });
    *outputs.back().as<bool>() = found;
  }

 private:
  std::vector<UnscaleLoop> loops_;
  std::vector<std::vector<Segment>> shares_;
};

std::unique_ptr<Kernel> plan_unscale(const Unscale&, const Signature& signature, Device&) {
  return loop_kernel(UnscaleKernel(signature));
}

std::unique_ptr<Kernel> plan_loss_scale_update(const LossScaleUpdate& op, const Signature&, Device&) {
  const math::LossScale rule{static_cast<float>(op.factor), op.growth_interval};
  return loop_kernel([rule](Views inputs, Views) {
    rule(*inputs[0].as<float>(), *inputs[1].as<std::int64_t>(), *inputs[2].as<bool>());
  });
}

}  // namespace

void add_state(KernelTable& table) {
  add_row<&plan_assign>(table);
  add_float32_row<&plan_assign_add>(table);
  add_float32_row<&plan_moving_average>(table);
  add_float32_row<&plan_accumulate_mean>(table);
  add_float32_row<&plan_schedule<math::CosineDecay>>(table);
  add_float32_row<&plan_schedule<math::CosineDecayRestarts>>(table);
  add_float32_row<&plan_schedule<math::ExponentialDecay>>(table);
  add_float32_row<&plan_schedule<math::InverseTimeDecay>>(table);
  add_float32_row<&plan_schedule<math::NadamMomentum>>(table);
  add_float32_row<&plan_schedule<math::PiecewiseConstant>>(table);
  add_float32_row<&plan_schedule<math::PolynomialDecay>>(table);
  add_row<&plan_unscale>(table);
  add_float32_row<&plan_loss_scale_update>(table);
}

}  // namespace gpubench::cpu
