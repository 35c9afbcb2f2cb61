#include "core/backend/cpu/loss_scale.h"

#include <atomic>
#include <vector>

#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/multi_tensor.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/stored.h"
#include "core/math/loss_scale.h"

namespace gpubench::cpu {
namespace {

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
    const std::span<const TensorType> gradients = signature.inputs.subspan(1);
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

}  // namespace

std::unique_ptr<Kernel> plan_unscale(const Unscale&, const Signature& signature, Device&) {
  return loop_kernel(UnscaleKernel(signature));
}

std::unique_ptr<Kernel> plan_loss_scale_update(const LossScaleUpdate& op, const Signature&, Device&) {
  const math::LossScale rule{static_cast<float>(op.factor), op.growth_interval};
  return loop_kernel([rule](Views inputs, Views) {
    rule(*inputs[0].as<float>(), *inputs[1].as<std::int64_t>(), *inputs[2].as<bool>());
  });
}

}  // namespace gpubench::cpu
