// Bias addition, its gradient, and products fused with a pass over their result or a factor. On the CPU such a product
// is no faster than separate ops, so passes do not create it here: these kernels define the op's meaning.
#include <algorithm>
#include <array>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/rows.h"
#include "core/backend/cpu/widened.h"
#include "core/device/device.h"
#include "core/ops/bias.h"
#include "core/ops/elementwise.h"
#include "core/ops/fused_matmul.h"

namespace gpubench::cpu {
namespace {

std::unique_ptr<Kernel> plan_bias_add(const BiasAdd& op, const Signature& signature, Device& device) {
  require_float32(op.name(), signature.inputs[0]);
  device.bind_to_thread();
  const Rows rows(signature.inputs[0]);
  const int threads = threads_for(rows.count, rows.elements());
  return loop_kernel([rows, threads](Views inputs, Views outputs) {
    const float* const x = inputs[0].as<float>();
    const float* const bias = inputs[1].as<float>();
    float* const y = outputs[0].as<float>();
    parallel_ranges(threads, rows.count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin * rows.columns; at < end * rows.columns; at += rows.columns) {
        for (std::int64_t i = 0; i < rows.columns; ++i) y[at + i] = x[at + i] + bias[i];
      }
    });
  });
}

std::unique_ptr<Kernel> plan_bias_gradient(const BiasGradient& op, const Signature& signature, Device& device) {
  device.bind_to_thread();
  const Rows rows(signature.inputs[0]);
  const ColumnSums<1> sums(rows, threads_for(rows.count, rows.elements()));
  return dispatch(Floating{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    return loop_kernel(
        [rows, sums](Views inputs, Views outputs, std::span<std::byte> workspace) {
          const T* const dy = inputs[0].as<T>();
          const double* const totals =
              sums.compute(workspace, [dy](std::int64_t i, std::int64_t) { return std::array{widen(dy[i])}; });
          T* const dbias = outputs[0].as<T>();
          for (std::int64_t i = 0; i < rows.columns; ++i) dbias[i] = CastTo<T>{}(static_cast<float>(totals[i]));
        },
        sums.workspace_bytes());
  });
}

/// One kernel behind the other; `body(first, second, ...)` runs both with the memory that each has.
template <class Body>
std::unique_ptr<Kernel> two_kernels(std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second, Body body) {
  class Two final : public Kernel {
   public:
    Two(std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second, Body body)
        : first_(std::move(first)), second_(std::move(second)), body_(std::move(body)) {}
    std::string_view implementation() const override { return first_->implementation(); }
    std::size_t workspace_bytes() const override {
      return std::max(first_->workspace_bytes(), second_->workspace_bytes());
    }
    void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
      const auto call = [&](Kernel& kernel) {
        return [&](Views in, Views out) { kernel.run(stream, in, out, workspace); };
      };
      body_(call(*first_), call(*second_), inputs, outputs);
    }

   private:
    std::unique_ptr<Kernel> first_, second_;
    Body body_;
  };
  return std::make_unique<Two>(std::move(first), std::move(second), std::move(body));
}

std::int64_t mask_bytes(const TensorType& mask) {
  return mask.shape[1];
}

/// y -> mask.
std::unique_ptr<Kernel> plan_relu_mask(const TensorType& y, const TensorType& mask) {
  return loop_kernel([rows = y.shape[0], columns = y.shape[1], bytes = mask_bytes(mask)](Views inputs, Views outputs) {
    const float* const values = inputs[0].as<float>();
    auto* const bits = outputs[0].as<std::uint8_t>();
    std::fill_n(bits, rows * bytes, std::uint8_t{0});
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < columns; ++i) {
        const unsigned bit = values[row * columns + i] > 0 ? 1U << (i % 8) : 0U;
        bits[row * bytes + i / 8] |= static_cast<std::uint8_t>(bit);
      }
    }
  });
}

/// dy, mask -> dy where a bit is set, else 0; over dy.
std::unique_ptr<Kernel> plan_masked(const TensorType& dy, const TensorType& mask) {
  return loop_kernel(
      [rows = dy.shape[0], columns = dy.shape[1], bytes = mask_bytes(mask)](Views inputs, Views outputs) {
        const float* const from = inputs[0].as<float>();
        const auto* const bits = inputs[1].as<std::uint8_t>();
        float* const to = outputs[0].as<float>();
        for (std::int64_t row = 0; row < rows; ++row) {
          for (std::int64_t i = 0; i < columns; ++i) {
            const bool set = (bits[row * bytes + i / 8] >> (i % 8) & 1) != 0;
            to[row * columns + i] = set ? from[row * columns + i] : 0.0F;
          }
        }
      });
}

std::unique_ptr<Kernel> plan_matmul_bias_gradient(const MatmulBiasGradient& op, const Signature& signature,
                                                  Device& device) {
  const std::size_t summed = op.summed == Factor::first ? 0 : 1;
  require_float32(op.name(), signature.outputs[0]);
  return two_kernels(
      plan_kernel(Matmul(op.options), {signature.inputs, signature.outputs.first(1)}, device),
      plan_bias_gradient(BiasGradient(), {signature.inputs.subspan(summed, 1), signature.outputs.subspan(1)}, device),
      [summed](auto&& product, auto&& sum, Views inputs, Views outputs) {
        product(inputs, outputs.first(1));
        sum(inputs.subspan(summed, 1), outputs.subspan(1));
      });
}

std::unique_ptr<Kernel> plan_matmul_aux(const MatmulAux& op, const Signature& signature, Device& device) {
  require_float32(op.name(), signature.outputs[0]);
  const auto y = signature.outputs.first(1), aux = signature.outputs.subspan(1);
  if (op.options.activation == Activation::relu) {
    return two_kernels(plan_kernel(Matmul(op.options), {signature.inputs, y}, device), plan_relu_mask(y[0], aux[0]),
                       [](auto&& product, auto&& mask, Views inputs, Views outputs) {
                         product(inputs, outputs.first(1));
                         mask(outputs.first(1), outputs.subspan(1));
                       });
  }
  MatmulAttributes linear = op.options;
  linear.activation = Activation::none;
  return two_kernels(plan_kernel(Matmul(linear), {signature.inputs, aux}, device),
                     plan_kernel(GeluTanh(), {aux, y}, device),
                     [](auto&& product, auto&& activation, Views inputs, Views outputs) {
                       product(inputs, outputs.subspan(1));
                       activation(outputs.subspan(1), outputs.first(1));
                     });
}

std::unique_ptr<Kernel> plan_matmul_activation_gradient(const MatmulActivationGradient& op, const Signature& signature,
                                                        Device& device) {
  require_float32(op.name(), signature.outputs[0]);
  const std::array inputs{signature.outputs[0], signature.inputs[2]};
  return two_kernels(plan_kernel(op.product(), {signature.inputs.first(2), signature.outputs}, device),
                     op.options.activation == Activation::relu
                         ? plan_masked(inputs[0], inputs[1])
                         : plan_kernel(GeluTanhGradient(), {inputs, signature.outputs}, device),
                     [](auto&& product, auto&& derivative, Views given, Views outputs) {
                       product(given.first(2), outputs);
                       derivative(std::array{outputs[0], given[2]}, outputs);
                     });
}

}  // namespace

void add_linear(KernelTable& table) {
  add_float32_row<&plan_bias_add>(table);
  add_row<&plan_bias_gradient>(table);
  add_float32_row<&plan_matmul_bias_gradient>(table);
  add_float32_row<&plan_matmul_aux>(table);
  add_float32_row<&plan_matmul_activation_gradient>(table);
}

}  // namespace gpubench::cpu
