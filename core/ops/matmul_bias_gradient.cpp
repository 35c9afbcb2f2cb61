#include "core/ops/matmul_bias_gradient.h"

#include <fmt/format.h>

#include "core/ops/check.h"

namespace gpubench {

MatmulBiasGradient::MatmulBiasGradient(MatmulAttributes given, Factor of) : options(given), summed(of) {
  if (options.bias || options.activation != Activation::none) {
    ops::refuse(name(), "the product has neither bias nor activation");
  }
  if (summed == Factor::first ? !options.transpose_a : options.transpose_b) {
    ops::refuse(name(), "the product must multiply what is summed down its columns: a transposed, or b as it is");
  }
}

std::string MatmulBiasGradient::attributes() const {
  return fmt::format("transpose_a={} transpose_b={} sum={}", options.transpose_a, options.transpose_b,
                     summed == Factor::first ? "first" : "second");
}

std::vector<TensorType> MatmulBiasGradient::infer(std::span<const TensorType> inputs) const {
  std::vector<TensorType> result = Matmul(options).infer(inputs);
  if (inputs[0].rank() != 2 || inputs[1].rank() != 2) {
    ops::refuse(name(),
                fmt::format("both inputs must be matrices, got {} and {}", to_string(inputs[0]), to_string(inputs[1])));
  }
  result.push_back({{result[0].shape[summed == Factor::first ? 0 : 1]}, result[0].dtype});
  return result;
}

double MatmulBiasGradient::flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const {
  const TensorType& factor = inputs[summed == Factor::first ? 0 : 1];
  return Matmul(options).flops(inputs, outputs.first(1)) + static_cast<double>(factor.elements());
}

}  // namespace gpubench
