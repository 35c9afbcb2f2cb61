#include "core/ops/matmul_accumulate.h"

#include <fmt/format.h>

#include "core/ops/check.h"

namespace gpubench {

MatmulAccumulate::MatmulAccumulate(MatmulAttributes given) : options(given) {
  if (options.bias || options.activation != Activation::none) {
    ops::refuse(name(), "the product has neither bias nor activation");
  }
}

std::string MatmulAccumulate::attributes() const {
  return fmt::format("transpose_a={} transpose_b={}", options.transpose_a, options.transpose_b);
}

std::vector<TensorType> MatmulAccumulate::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 3);
  std::vector<TensorType> result = Matmul(options).infer(inputs.first(2));
  if (inputs[0].rank() != 2 || inputs[1].rank() != 2) {
    ops::refuse(name(), fmt::format("both factors must be matrices, got {} and {}", to_string(inputs[0]),
                                    to_string(inputs[1])));
  }
  ops::expect_type(name(), "the sum", inputs[2], result[0]);
  return result;
}

double MatmulAccumulate::flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const {
  return Matmul(options).flops(inputs.first(2), outputs) + static_cast<double>(outputs[0].elements());
}

}  // namespace gpubench
