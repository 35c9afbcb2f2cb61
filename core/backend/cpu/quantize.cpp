// The scale of each channel is a factor behind the primitive, and not its own output scales: with scales that are known
// only when it runs, oneDNN 2 takes its older and slower product. Weights are asked for in any order, since int8 of
// both signs needs sums of them beside them.
#include "core/math/quantize.h"

#include <array>
#include <fmt/format.h>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/elementwise.h"
#include "core/backend/cpu/empty_sums.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/onednn_kernel.h"
#include "core/backend/cpu/widened.h"
#include "core/base/align.h"
#include "core/base/error.h"
#include "core/ops/quantize.h"
#include "core/ops/quantized_linear.h"

namespace gpubench::cpu {
namespace {

std::unique_ptr<Kernel> plan_quantize(const Quantize& op, const Signature& signature, Device&) {
  return elementwise<std::int8_t, float, float>(op.name(), math::Quantize{}, signature);
}

std::unique_ptr<Kernel> plan_fake_quantize(const FakeQuantize& op, const Signature& signature, Device&) {
  return elementwise<float, float, float>(op.name(), math::FakeQuantize{}, signature);
}

std::unique_ptr<Kernel> plan_fake_quantize_gradient(const FakeQuantizeGradient& op, const Signature& signature,
                                                    Device&) {
  return elementwise<float, float, float, float>(op.name(), math::FakeQuantizeGradient{}, signature);
}

/// A primitive's description, and the weights as the op has them when they are not packed.
template <class Primitive>
struct Product {
  typename Primitive::primitive_desc desc;
  dnnl::memory::desc plain;
};

Product<dnnl::matmul> describe(const QuantizedMatmul& op, const TensorType& x, const TensorType& weights,
                               const TensorType& y) {
  const auto matrix = [&](const TensorType& type) {
    return strided(op.name(), type.dtype, type.shape, {type.shape[1], 1});
  };
  return {describe_matmul(matrix(x), any_layout(matrix(weights)), nullptr, matrix(y),
                          quantized_attributes(op.options, y.rank(), y.shape.back())),
          matrix(weights)};
}

Product<dnnl::convolution_forward> describe(const QuantizedConv2D& op, const TensorType& x, const TensorType& filter,
                                            const TensorType& y) {
  const auto window = convolution_window(op.options.strides, op.options.dilations,
                                         slide(op.name(), op.options.window(), x.shape, filter.shape));
  const auto plain = filter_desc(op.name(), filter);
  return {describe_convolution(image_desc(op.name(), x), any_layout(plain), nullptr, image_desc(op.name(), y), window,
                               quantized_attributes(op.options, y.rank(), y.shape.back())),
          plain};
}

template <class Primitive, class O>
std::unique_ptr<Kernel> plan(const O& op, const Signature& signature, Device& device) {
  const QuantizedEpilogue& options = op.options;
  const TensorType& y = signature.outputs[0];
  auto kernel = std::make_unique<OneDnnKernel>(device);
  const Product<Primitive> product = describe(op, signature.inputs[0], weights_type(options, signature.inputs), y);
  const auto weights = options.packed.empty()
                           ? kernel->converted(kernel->input(1, product.plain), product.desc.weights_desc())
                           : kernel->input(1, product.desc.weights_desc());
  std::vector<std::pair<int, OneDnnKernel::Slot>> arguments = {
      {DNNL_ARG_SRC, kernel->input(0, product.desc.src_desc())},
      {DNNL_ARG_WEIGHTS, weights},
      {DNNL_ARG_DST, kernel->output(0, product.desc.dst_desc())}};
  std::size_t input = 2;
  for (const EpilogueOperand& operand : epilogue_operands(options, y.rank(), y.shape.back())) {
    arguments.emplace_back(operand.argument, kernel->input(input++, operand.desc));
  }
  kernel->add(product.desc, Primitive(product.desc), arguments);
  return kernel;
}

/// Whether oneDNN's products of int8 are exact here. Without instructions for them it adds two products in 16 bits,
/// which saturate (oneDNN's developer guide, "Nuances of int8 computations").
bool has_exact_int8_products() {
  const auto has = [](dnnl_cpu_isa_t isa) { return (dnnl_get_effective_cpu_isa() & isa) == isa; };
  static const bool exact = has(dnnl_cpu_isa_avx512_core_vnni) || has(dnnl_cpu_isa_avx2_vnni);
  return exact;
}

bool needs_float32_products(const TensorType& x) {
  return x.dtype == Dtype::i8 && !has_exact_int8_products();
}

/// A product in float32 whose result `quantize` makes int8 for the next product.
class Requantized final : public Kernel {
 public:
  Requantized(std::unique_ptr<Kernel> product, TensorType between, std::unique_ptr<Kernel> quantize)
      : product_(std::move(product)),
        between_(std::move(between)),
        quantize_(std::move(quantize)),
        between_bytes_(align_up(between_.bytes(), between_alignment)) {}

  std::string_view implementation() const override { return product_->implementation(); }
  std::size_t workspace_bytes() const override { return between_bytes_ + product_->workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const std::array between{TensorView{&between_, workspace.data()}};
    product_->run(stream, inputs.first(inputs.size() - 1), between, workspace.subspan(between_bytes_));
    quantize_->run(stream, std::array{between[0], inputs.back()}, outputs, {});
  }

 private:
  static constexpr std::size_t between_alignment = 64;
  std::unique_ptr<Kernel> product_;
  TensorType between_;
  std::unique_ptr<Kernel> quantize_;
  std::size_t between_bytes_;
};

/// Products of float32: sums below 2^24 are exact, as those of int32 are. Weights are not packed: packed ones are
/// copies.
template <auto plan_product, class O>
std::unique_ptr<Kernel> plan_float32_product(const O& op, const Signature& signature, Device& device) {
  auto options = op.options;
  options.requantize = false;
  options.packed = {};
  std::vector<TensorType> inputs(signature.inputs.begin(), signature.inputs.end() - (op.options.requantize ? 1 : 0));
  inputs[1] = weights_type(op.options, signature.inputs);
  const std::array sums{TensorType{signature.outputs[0].shape, Dtype::f32}};
  auto product =
      plan_widened<plan_product>(O(options), {inputs, sums}, device, [](Dtype dtype) { return dtype == Dtype::i8; });
  if (!op.options.requantize) return product;
  const std::array quantized{sums[0], signature.inputs.back()};
  return std::make_unique<Requantized>(std::move(product), sums[0],
                                       plan_kernel(Quantize(), {quantized, signature.outputs}, device));
}

template <class O>
std::unique_ptr<Kernel> plan_packing(const PackWeights& op, const O& reader, const Signature& signature,
                                     Device& device) {
  std::vector<TensorType> inputs = {op.x, signature.outputs[0], {{signature.inputs[0].shape.back()}, Dtype::f32}};
  if (reader.options.bias) inputs.push_back(inputs[2]);
  if (reader.options.requantize) inputs.push_back({{}, Dtype::f32});
  auto kernel = std::make_unique<OneDnnKernel>(device);
  const auto product = describe(reader, op.x, signature.inputs[0], reader.infer(inputs)[0]);
  const auto packed = needs_float32_products(op.x) ? product.plain : product.desc.weights_desc();
  if (packed.get_size() > signature.outputs[0].bytes()) {
    throw Error(fmt::format("cpu: pack_weights: oneDNN's order of {} takes {} bytes, more than the {} planned",
                            to_string(signature.inputs[0]), packed.get_size(), signature.outputs[0].bytes()));
  }
  kernel->copy(kernel->input(0, product.plain), kernel->output(0, packed));
  return kernel;
}

std::unique_ptr<Kernel> plan_quantized_matmul(const QuantizedMatmul& op, const Signature& signature, Device& device) {
  if (signature.inputs[0].shape[1] == 0) {  // oneDNN 3 writes no sums without a term
    QuantizedEpilogue options = op.options;
    options.packed = {};
    std::vector<TensorType> inputs(signature.inputs.begin(), signature.inputs.end());
    inputs[1] = weights_type(op.options, signature.inputs);
    inputs[0].shape[1] = inputs[1].shape[0] = 1;
    return std::make_unique<EmptySums>(
        inputs[0], inputs[1], plan_quantized_matmul(QuantizedMatmul(options), {inputs, signature.outputs}, device));
  }
  if (needs_float32_products(signature.inputs[0])) {
    return plan_float32_product<&plan_quantized_matmul>(op, signature, device);
  }
  return plan<dnnl::matmul>(op, signature, device);
}

std::unique_ptr<Kernel> plan_quantized_conv2d(const QuantizedConv2D& op, const Signature& signature, Device& device) {
  if (needs_float32_products(signature.inputs[0])) {
    return plan_float32_product<&plan_quantized_conv2d>(op, signature, device);
  }
  return plan<dnnl::convolution_forward>(op, signature, device);
}

std::unique_ptr<Kernel> plan_pack_weights(const PackWeights& op, const Signature& signature, Device& device) {
  if (const auto* matmul = dynamic_cast<const QuantizedMatmul*>(op.product.get())) {
    return plan_packing(op, *matmul, signature, device);
  }
  return plan_packing(op, dynamic_cast<const QuantizedConv2D&>(*op.product), signature, device);
}

}  // namespace

void add_quantize(KernelTable& table) {
  add_float32_row<&plan_quantize>(table);
  add_float32_row<&plan_fake_quantize>(table);
  add_float32_row<&plan_fake_quantize_gradient>(table);
  add_float32_row<&plan_quantized_matmul>(table);
  add_float32_row<&plan_quantized_conv2d>(table);
  add_float32_row<&plan_pack_weights>(table);
}

}  // namespace gpubench::cpu
