// Updates of all variables of a model, each in one fork.
#include "core/math/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/rows.h"
#include "core/backend/cpu/widened.h"
#include "core/ops/optimizer.h"

namespace gpubench::cpu {
namespace {

using Shares = std::vector<std::vector<Segment>>;

/// body(share, segment) for every segment, on the device's threads.
template <class Body>
void for_each_segment(const Shares& shares, const Body& body) {
  const auto count = static_cast<std::int64_t>(shares.size());
  parallel_ranges(static_cast<int>(count), count, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      for (const Segment& segment : shares[static_cast<std::size_t>(s)]) body(s, segment);
    }
  });
}

/// A sum over each of many tensors; the order of additions depends only on the division.
class TensorSums {
 public:
  TensorSums(std::size_t tensors, std::size_t shares) : size_(tensors), shares_(shares) {}

  std::size_t workspace_bytes() const { return shares_ * size_ * sizeof(double); }

  /// part(segment) gives the segment's sum. The sums of all tensors lie in the workspace.
  template <class Part>
  const double* compute(const Shares& shares, std::span<std::byte> workspace, const Part& part) const {
    auto* const totals = reinterpret_cast<double*>(workspace.data());
    std::fill_n(totals, shares_ * size_, 0.0);
    for_each_segment(shares, [&](std::int64_t share, const Segment& segment) {
      totals[static_cast<std::size_t>(share) * size_ + segment.tensor] += part(segment);
    });
    for (std::size_t share = 1; share < shares_; ++share) {
      for (std::size_t i = 0; i < size_; ++i) totals[i] += totals[share * size_ + i];
    }
    return totals;
  }

 private:
  std::size_t size_, shares_;
};

/// A gradient that no limit changes.
struct AsItIs {
  float operator()(float g) const { return g; }
};

/// Where the tensors and scalars of an update are among its inputs.
class UpdateInputs {
 public:
  explicit UpdateInputs(const OptimizerUpdate& op)
      : first_(static_cast<std::size_t>(op.leading())),
        count_(static_cast<std::size_t>(op.variables)),
        squares_(static_cast<std::size_t>(op.squares_input())),
        skippable_(op.skippable),
        clips_(op.clips()),
        limits_norm_(op.limits_norm()),
        global_(op.clip.global),
        limit_(static_cast<float>(op.clip.value)),
        norm_(static_cast<float>(op.clip.norm)) {}

  TensorTypes variables(const Signature& signature) const { return signature.inputs.subspan(first_, count_); }
  bool skipped(Views inputs) const { return skippable_ && *inputs[first_ - 1].as<bool>(); }
  /// Groups: the variables, their gradients, then the slots.
  template <class T>
  T* at(Views inputs, std::size_t group, const Segment& segment) const {
    return inputs[first_ + group * count_ + segment.tensor].template as<T>() + segment.begin;
  }
  /// body(gradient, clip) with the segment's gradient in its type, and the function to apply to an element of it.
  template <class Body>
  void with_gradient(Views inputs, const Segment& segment, const Body& body) const {
    if (!clips_) return with_type(inputs, segment, body, AsItIs{});
    math::ClipGradient clip{1, limit_};
    if (limits_norm_) {
      const float* const squares = inputs[squares_].as<float>();
      clip.factor = math::factor_of_norm(squares[global_ ? 0 : segment.tensor], norm_);
    }
    with_type(inputs, segment, body, clip);
  }

 private:
  template <class Body, class Clip>
  void with_type(Views inputs, const Segment& segment, const Body& body, const Clip& clip) const {
    const Dtype dtype = inputs[first_ + count_ + segment.tensor].type->dtype;
    if (dtype == Dtype::f16) return body(at<math::Float16>(inputs, 1, segment), clip);
    if (dtype == Dtype::bf16) return body(at<math::Bfloat16>(inputs, 1, segment), clip);
    body(at<float>(inputs, 1, segment), clip);
  }

  std::size_t first_, count_, squares_;
  bool skippable_, clips_, limits_norm_, global_;
  float limit_, norm_;
};

template <class F, class G, class Clip, std::size_t... Slot>
void update(const F& f, std::int64_t count, float* __restrict w, const G* __restrict g, const Clip clip,
            std::array<float*, sizeof...(Slot)> slots, std::index_sequence<Slot...>) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) f(w[i], clip(widen(g[i])), slots[Slot][i]...);
}

std::int64_t elements_of(TensorTypes tensors) {
  std::int64_t total = 0;
  for (const TensorType& type : tensors) total += type.elements();
  return total;
}

/// `Slots` state tensors per variable; `make(inputs)` reads the scalars of a run and returns the function of an
/// element.
template <std::size_t Slots, class Make>
class MultiTensorUpdate {
 public:
  MultiTensorUpdate(const OptimizerUpdate& op, const Signature& signature, Make make)
      : make_(std::move(make)), tensors_(op) {
    const TensorTypes variables = tensors_.variables(signature);
    const std::int64_t total = elements_of(variables);
    constexpr std::int64_t bytes = sizeof(float) * (3 + 2 * Slots);  // variable and slots are read and written
    constexpr std::int64_t flops = Slots == 0 ? 0 : 16;
    shares_ = partition(variables, threads_for_stream(total, total * bytes, total * flops), total);
  }

  void operator()(Views inputs, Views) const {
    if (tensors_.skipped(inputs)) return;
    const auto f = make_(inputs);
    for_each_segment(shares_, [&](std::int64_t, const Segment& segment) {
      std::array<float*, Slots> slots;
      for (std::size_t i = 0; i < Slots; ++i) slots[i] = tensors_.at<float>(inputs, 2 + i, segment);
      float* const variable = tensors_.at<float>(inputs, 0, segment);
      tensors_.with_gradient(inputs, segment, [&](const auto* gradient, const auto& clip) {
        update(f, segment.end - segment.begin, variable, gradient, clip, slots, std::make_index_sequence<Slots>{});
      });
    });
  }

 private:
  Make make_;
  UpdateInputs tensors_;
  Shares shares_;
};

template <class T>
double sum_of_squares(const T* values, std::int64_t count) {
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += sum_block) {
    const std::int64_t end = std::min(begin + sum_block, count);
    float part = 0;
#pragma omp simd reduction(+ : part)
    for (std::int64_t i = begin; i < end; ++i) part += widen(values[i]) * widen(values[i]);
    total += static_cast<double>(part);
  }
  return total;
}

std::unique_ptr<Kernel> plan_sums_of_squares(const SumsOfSquares& op, const Signature& signature, Device&) {
  const std::int64_t total = elements_of(signature.inputs);
  const auto bytes = static_cast<std::int64_t>(sizeof(float)) * total;
  Shares shares = partition(signature.inputs, threads_for_stream(total, bytes), total);
  const TensorSums sums(signature.inputs.size(), shares.size());
  const auto run = [of_all = op.of_all, shares = std::move(shares), sums](Views inputs, Views outputs,
                                                                          std::span<std::byte> workspace) {
    const double* const squares = sums.compute(shares, workspace, [&](const Segment& segment) {
      const TensorView& tensor = inputs[segment.tensor];
      const auto of = [&]<class T>(T) {
        return sum_of_squares(tensor.as<T>() + segment.begin, segment.end - segment.begin);
      };
      if (tensor.type->dtype == Dtype::f16) return of(math::Float16{});
      if (tensor.type->dtype == Dtype::bf16) return of(math::Bfloat16{});
      return of(0.0F);
    });
    float* const out = outputs[0].as<float>();
    double all = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!of_all) out[i] = static_cast<float>(squares[i]);
      all += squares[i];
    }
    if (of_all) *out = static_cast<float>(all);
  };
  return loop_kernel(run, sums.workspace_bytes());
}

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

std::unique_ptr<Kernel> plan_lion_update(const LionUpdate& op, const Signature& signature, Device& device) {
  if (!is_float32(op, signature)) return plan_widened<&plan_lion_update>(op, signature, device, &has_16_bits);
  return multi_tensor<1>(op, signature, [settings = op.settings](Views in) {
    const float rate = learning_rate(in);
    return math::Lion{rate,
                      rate * static_cast<float>(settings.weight_decay),
                      static_cast<float>(settings.beta1),
                      static_cast<float>(1 - settings.beta1),
                      static_cast<float>(settings.beta2),
                      static_cast<float>(1 - settings.beta2)};
  });
}

std::unique_ptr<Kernel> plan_rmsprop_update(const RmspropUpdate& op, const Signature& signature, Device& device) {
  if (!is_float32(op, signature)) return plan_widened<&plan_rmsprop_update>(op, signature, device, &has_16_bits);
  const auto rho = static_cast<float>(op.settings.rho), epsilon = static_cast<float>(op.settings.epsilon);
  const auto momentum = static_cast<float>(op.settings.momentum), decay = static_cast<float>(op.settings.weight_decay);
  if (op.settings.centered && momentum != 0) {
    return multi_tensor<3>(op, signature, [=](Views in) {
      const float rate = learning_rate(in);
      return math::RmspropCenteredMomentum{rate, rate * decay, rho, epsilon, momentum};
    });
  }
  if (op.settings.centered) {
    return multi_tensor<2>(op, signature, [=](Views in) {
      const float rate = learning_rate(in);
      return math::RmspropCentered{rate, rate * decay, rho, epsilon};
    });
  }
  if (momentum != 0) {
    return multi_tensor<2>(op, signature, [=](Views in) {
      const float rate = learning_rate(in);
      return math::RmspropMomentum{rate, rate * decay, rho, epsilon, momentum};
    });
  }
  return multi_tensor<1>(op, signature, [=](Views in) {
    const float rate = learning_rate(in);
    return math::Rmsprop{rate, rate * decay, rho, epsilon};
  });
}

std::unique_ptr<Kernel> plan_rule_update(const RuleUpdate& op, const Signature& signature, Device& device) {
  if (!is_float32(op, signature)) return plan_widened<&plan_rule_update>(op, signature, device, &has_16_bits);
  const bool multiplies = op.multiplies_momentum();
  return with_rule(op.settings.rule, [&]<class F>(std::type_identity<F>, auto slots) {
    return multi_tensor<decltype(slots)::value>(
        op, signature, [settings = settings_of(op.settings), multiplies](Views in) {
          const float product = multiplies ? *in[2].as<float>() : 0.0F;
          return F(settings, {learning_rate(in), *in[1].as<std::int64_t>(), product});
        });
  });
}

}  // namespace

void add_optimizer(KernelTable& table) {
  add_row<&plan_sgd_update>(table);
  add_row<&plan_adam_update>(table);
  add_row<&plan_lion_update>(table);
  add_row<&plan_rmsprop_update>(table);
  add_row<&plan_rule_update>(table);
  add_row<&plan_sums_of_squares>(table);
}

}  // namespace gpubench::cpu
