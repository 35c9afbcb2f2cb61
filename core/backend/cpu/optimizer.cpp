// Updates all variables of a model in one fork; their elements are divided evenly among the threads.
#include "core/math/optimizer.h"

#include <cmath>
#include <utility>
#include <vector>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/widened.h"
#include "core/ops/optimizer.h"

namespace gpubench::cpu {
namespace {

template <class F, class G, std::size_t... Slot>
void update(const F& f, std::int64_t count, float* __restrict w, const G* __restrict g,
            std::array<float*, sizeof...(Slot)> slots, std::index_sequence<Slot...>) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) f(w[i], widen(g[i]), slots[Slot][i]...);
}

/// `Slots` state tensors per variable; `make(inputs)` reads the scalars of a run and returns the function of an
/// element.
template <std::size_t Slots, class Make>
class MultiTensorUpdate {
 public:
  MultiTensorUpdate(const OptimizerUpdate& op, const Signature& signature, Make make)
      : make_(std::move(make)),
        first_(static_cast<std::size_t>(op.leading())),
        count_(static_cast<std::size_t>(op.variables)),
        skippable_(op.skippable) {
    const std::span<const TensorType> variables = signature.inputs.subspan(first_, count_);
    std::int64_t total = 0;
    for (const TensorType& type : variables) total += type.elements();
    constexpr std::int64_t bytes = sizeof(float) * (3 + 2 * Slots);  // variable and slots are read and written
    constexpr std::int64_t flops = Slots == 0 ? 0 : 16;
    shares_ = partition(variables, threads_for_stream(total, total * bytes, total * flops), total);
  }

  void operator()(Views inputs, Views) const {
    if (skippable_ && *inputs[first_ - 1].as<bool>()) return;
    const auto f = make_(inputs);
    const auto shares = static_cast<std::int64_t>(shares_.size());
    parallel_ranges(static_cast<int>(shares), shares, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = begin; s < end; ++s) {
        for (const Segment& segment : shares_[static_cast<std::size_t>(s)]) run(f, inputs, segment);
      }
    });
  }

 private:
  template <class F>
  void run(const F& f, Views inputs, const Segment& segment) const {
    const auto tensor = [&](std::size_t group) { return inputs[first_ + group * count_ + segment.tensor]; };
    const auto at = [&]<class T>(std::size_t group, T) { return tensor(group).template as<T>() + segment.begin; };
    std::array<float*, Slots> slots;
    for (std::size_t i = 0; i < Slots; ++i) slots[i] = at(2 + i, 0.0F);
    const auto update_by = [&](const auto* gradient) {
      update(f, segment.end - segment.begin, at(0, 0.0F), gradient, slots, std::make_index_sequence<Slots>{});
    };
    const Dtype of_gradient = tensor(1).type->dtype;
    if (of_gradient == Dtype::f16) return update_by(at(1, math::Float16{}));
    if (of_gradient == Dtype::bf16) return update_by(at(1, math::Bfloat16{}));
    update_by(at(1, 0.0F));
  }

  Make make_;
  std::size_t first_, count_;
  bool skippable_;
  std::vector<std::vector<Segment>> shares_;
};

/// Gradients of 16 bits are read as they are; variables and slots are what the sums are kept in.
bool is_float32(const OptimizerUpdate& op, const Signature& signature) {
  return signature.inputs[static_cast<std::size_t>(op.leading())].dtype == Dtype::f32;
}

template <std::size_t Slots, class Make>
std::unique_ptr<Kernel> multi_tensor(const OptimizerUpdate& op, const Signature& signature, Make make) {
  return loop_kernel(MultiTensorUpdate<Slots, Make>(op, signature, std::move(make)));
}

float learning_rate(Views inputs) {
  return *inputs[0].as<float>();
}

std::unique_ptr<Kernel> plan_sgd_update(const SgdUpdate& op, const Signature& signature, Device& device) {
  if (!is_float32(op, signature)) return plan_widened<&plan_sgd_update>(op, signature, device, &has_16_bits);
  const auto momentum = static_cast<float>(op.settings.momentum), decay = static_cast<float>(op.settings.weight_decay);
  if (op.settings.momentum == 0) {
    return multi_tensor<0>(op, signature, [=](Views in) {
      const float rate = learning_rate(in);
      return math::Sgd{rate, rate * decay};
    });
  }
  if (op.settings.nesterov) {
    return multi_tensor<1>(op, signature, [=](Views in) {
      const float rate = learning_rate(in);
      return math::SgdNesterov{rate, rate * decay, momentum};
    });
  }
  return multi_tensor<1>(op, signature, [=](Views in) {
    const float rate = learning_rate(in);
    return math::SgdMomentum{rate, rate * decay, momentum};
  });
}

std::unique_ptr<Kernel> plan_adam_update(const AdamUpdate& op, const Signature& signature, Device& device) {
  if (!is_float32(op, signature)) return plan_widened<&plan_adam_update>(op, signature, device, &has_16_bits);
  return multi_tensor<2>(op, signature, [settings = op.settings](Views in) {
    const double rate = learning_rate(in), step = static_cast<double>(*in[1].as<std::int64_t>());
    const double correction = std::sqrt(1 - std::pow(settings.beta2, step)) / (1 - std::pow(settings.beta1, step));
    return math::Adam{static_cast<float>(rate * correction), static_cast<float>(rate * settings.weight_decay),
                      static_cast<float>(1 - settings.beta1), static_cast<float>(1 - settings.beta2),
                      static_cast<float>(settings.epsilon)};
  });
}

std::unique_ptr<Kernel> plan_rmsprop_update(const RmspropUpdate& op, const Signature& signature, Device& device) {
  if (!is_float32(op, signature)) return plan_widened<&plan_rmsprop_update>(op, signature, device, &has_16_bits);
  const auto rho = static_cast<float>(op.settings.rho), epsilon = static_cast<float>(op.settings.epsilon);
  const auto momentum = static_cast<float>(op.settings.momentum);
  if (op.settings.centered && momentum != 0) {
    return multi_tensor<3>(op, signature, [=](Views in) {
      return math::RmspropCenteredMomentum{learning_rate(in), rho, epsilon, momentum};
    });
  }
  if (op.settings.centered) {
    return multi_tensor<2>(op, signature, [=](Views in) {
      return math::RmspropCentered{learning_rate(in), rho, epsilon};
    });
  }
  if (momentum != 0) {
    return multi_tensor<2>(op, signature, [=](Views in) {
      return math::RmspropMomentum{learning_rate(in), rho, epsilon, momentum};
    });
  }
  return multi_tensor<1>(op, signature, [=](Views in) { return math::Rmsprop{learning_rate(in), rho, epsilon}; });
}

}  // namespace

void add_optimizer(KernelTable& table) {
  add_row<&plan_sgd_update>(table);
  add_row<&plan_adam_update>(table);
  add_row<&plan_rmsprop_update>(table);
}

}  // namespace gpubench::cpu
