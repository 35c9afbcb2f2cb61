#include "core/ops/fused_matmul.h"

#include <fmt/format.h>

#include "core/ops/check.h"

namespace gpubench {
namespace {

// cublasLt.h, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: a mask's rows are multiples of 128 bits, those of gelu's argument
// of 8 elements.
constexpr std::int64_t mask_row_bits = 128, argument_row_elements = 8;

TensorType expect_aux(std::string_view op, Activation activation, const TensorType& result) {
  if (std::optional<TensorType> aux = aux_type(activation, result)) return *std::move(aux);
  ops::refuse(op,
              fmt::format("nothing is kept of {} for the derivative of {}; possible are relu, and gelu_tanh in rows "
                          "of a multiple of {} elements",
                          to_string(result), to_string(activation), argument_row_elements));
}

void expect_matrices(std::string_view op, TensorTypes inputs) {
  if (inputs[0].rank() == 2 && inputs[1].rank() == 2) return;
  ops::refuse(op,
              fmt::format("both inputs must be matrices, got {} and {}", to_string(inputs[0]), to_string(inputs[1])));
}

}  // namespace

MatmulAccumulate::MatmulAccumulate(MatmulAttributes given) : options(given) {
  if (options.bias || options.activation != Activation::none) {
    ops::refuse(name(), "the product has neither bias nor activation");
  }
}

std::string MatmulAccumulate::attributes() const {
  return fmt::format("transpose_a={} transpose_b={}", options.transpose_a, options.transpose_b);
}

std::vector<TensorType> MatmulAccumulate::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 3);
  std::vector<TensorType> result = Matmul(options).infer(inputs.first(2));
  if (inputs[0].rank() != 2 || inputs[1].rank() != 2) {
    ops::refuse(name(), fmt::format("both factors must be matrices, got {} and {}", to_string(inputs[0]),
                                    to_string(inputs[1])));
  }
  ops::expect_type(name(), "the sum", inputs[2], result[0]);
  return result;
}

double MatmulAccumulate::flops(TensorTypes inputs, TensorTypes outputs) const {
  return Matmul(options).flops(inputs.first(2), outputs) + static_cast<double>(outputs[0].elements());
}

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

std::vector<TensorType> MatmulBiasGradient::infer(TensorTypes inputs) const {
  std::vector<TensorType> result = Matmul(options).infer(inputs);
  if (inputs[0].rank() != 2 || inputs[1].rank() != 2) {
    ops::refuse(name(),
                fmt::format("both inputs must be matrices, got {} and {}", to_string(inputs[0]), to_string(inputs[1])));
  }
  result.push_back({{result[0].shape[summed == Factor::first ? 0 : 1]}, result[0].dtype});
  return result;
}

double MatmulBiasGradient::flops(TensorTypes inputs, TensorTypes outputs) const {
  const TensorType& factor = inputs[summed == Factor::first ? 0 : 1];
  return Matmul(options).flops(inputs, outputs.first(1)) + static_cast<double>(factor.elements());
}

std::optional<TensorType> aux_type(Activation activation, const TensorType& result) {
  const std::int64_t rows = result.shape[0], columns = result.shape[1];
  if (activation == Activation::relu) {
    return TensorType{{rows, (columns + mask_row_bits - 1) / mask_row_bits * (mask_row_bits / 8)}, Dtype::u8};
  }
  const bool kept = activation == Activation::gelu_tanh && columns % argument_row_elements == 0;
  return kept ? std::optional(result) : std::nullopt;
}

std::vector<TensorType> MatmulAux::infer(TensorTypes inputs) const {
  std::vector<TensorType> result = Matmul(options).infer(inputs);
  expect_matrices(name(), inputs);
  result.push_back(expect_aux(name(), options.activation, result[0]));
  return result;
}

double MatmulAux::flops(TensorTypes inputs, TensorTypes outputs) const {
  return Matmul(options).flops(inputs, outputs.first(1));
}

MatmulActivationGradient::MatmulActivationGradient(MatmulAttributes given) : options(given) {
  if (options.bias) ops::refuse(name(), "the product has no bias");
}

Matmul MatmulActivationGradient::product() const {
  return Matmul({.transpose_a = options.transpose_a, .transpose_b = options.transpose_b});
}

std::vector<TensorType> MatmulActivationGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 3);
  std::vector<TensorType> result = product().infer(inputs.first(2));
  expect_matrices(name(), inputs);
  ops::expect_type(name(), "the auxiliary tensor", inputs[2], expect_aux(name(), options.activation, result[0]));
  return result;
}

double MatmulActivationGradient::flops(TensorTypes inputs, TensorTypes outputs) const {
  return product().flops(inputs.first(2), outputs);
}

}  // namespace gpubench
