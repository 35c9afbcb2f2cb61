#include "core/nn/linear_layer.h"

#include <fmt/format.h>
#include <numeric>

#include "core/base/error.h"
#include "core/graph/exchange_ops.h"
#include "core/ops/bias.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/ops/quantize.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"

namespace gpubench {
namespace {

/// As slowly as batch normalization's averages.
constexpr float range_momentum = 0.99F;

HostTensor filled_with(Shape shape, float value) {
  HostTensor tensor({std::move(shape), Dtype::f32});
  for (float& element : tensor.values<float>()) element = value;
  return tensor;
}

LinearLayer::Quantization parse_quantization(const Config& config, const DtypePolicy& policy) {
  using enum LinearLayer::Quantization;
  const std::string& name = config.text("quantization");
  if (name.empty()) return none;
  if (name != "aware" && name != "int8")
    throw Error(fmt::format("{}: quantization must be \"aware\" or \"int8\", got \"{}\"", config.owner(), name));
  if (policy.variable == Dtype::f32 && policy.compute == Dtype::f32) return name == "aware" ? aware : int8;
  throw Error(fmt::format("{}: quantization = \"{}\" is for layers of dtype float32, got {}", config.owner(), name,
                          policy.name));
}

}  // namespace

std::vector<ConfigField> LinearLayer::fields(std::vector<ConfigField> own) {
  own.insert(own.end(), {{"activation", std::string(), false, true},
                         {"use_bias", true},
                         {"kernel_initializer", std::string("glorot_uniform")},
                         {"bias_initializer", std::string("zeros")},
                         {"quantization", std::string()}});
  return own;
}

LinearLayer::LinearLayer(Config given, DeviceId device, std::string width_option)
    : Layer(std::move(given), std::move(device)),
      width_option_(std::move(width_option)),
      width_(config().integer_from(width_option_, 1)),
      activation_(*this),
      quantization_(parse_quantization(config(), policy())) {
  parse_initializer(config().text("kernel_initializer"));
  parse_initializer(config().text("bias_initializer"));
}

std::string LinearLayer::precision() const {
  return integer() ? "int8" : policy().name;
}

Dtype LinearLayer::output_dtype() const {
  return activation_.output_dtype();
}

void LinearLayer::make_variables(VariableFactory& factory, TensorTypes inputs) {
  const Shape shape = kernel_shape(inputs);
  const auto make = [&](const std::string& name, const HostTensor& initial) {
    return make_variable(factory, name, initial, false);
  };
  kernel_ = integer() ? make("kernel", HostTensor::zeros({shape, Dtype::i8}))
                      : make_variable(factory, "kernel", shape, parse_initializer(config().text("kernel_initializer")));
  if (config().flag("use_bias")) {
    bias_ = make_variable(factory, "bias", {width_}, parse_initializer(config().text("bias_initializer")), !integer());
  }
  if (quantization_ == Quantization::aware) input_range_ = make("input_range", filled_with({}, 0));
  if (!integer()) return;
  kernel_scale_ = make("kernel_scale", filled_with({width_}, 1));
  input_scale_ = make("input_scale", filled_with({}, 1));
}

Value LinearLayer::moved_range(const CallContext& context, Value x) const {
  Graph& graph = context.graph;
  const Value range = graph.variable(input_range_);
  if (!context.training) return range;
  const auto number = [&](float value) { return ops::scalar(graph, value, Dtype::f32); };
  const Value own = ops::reduce_max(graph, ops::abs(graph, x));
  // Where replicas share a batch, all of them round by the range of the whole.
  const Value now = context.replica ? all_reduce_max(graph, own) : own;
  const Value averaged =
      ops::add(graph, ops::mul(graph, range, number(range_momentum)), ops::mul(graph, now, number(1 - range_momentum)));
  const Value moved = ops::select(graph, ops::greater(graph, range, number(0)), averaged, now);
  return ops::assign(graph, range, moved);
}

/// In training the range moves first.
Value LinearLayer::rounded_input(const CallContext& context, Value x) const {
  Graph& graph = context.graph;
  if (quantization_ == Quantization::none) return x;
  if (integer()) return ops::quantize(graph, x, graph.variable(input_scale_));
  const Value steps = ops::scalar(graph, int8_steps, Dtype::f32);
  return ops::fake_quantize(graph, x, ops::div(graph, moved_range(context, x), steps));
}

Value LinearLayer::rounded_kernel(const CallContext& context) const {
  Graph& graph = context.graph;
  const Value kernel = weight(context, kernel_);
  if (quantization_ != Quantization::aware) return kernel;
  std::vector<std::int64_t> all_but_last(graph.type(kernel).shape.size() - 1);
  std::iota(all_but_last.begin(), all_but_last.end(), 0);
  const Value largest = ops::reduce_max(graph, ops::abs(graph, kernel), all_but_last);
  return ops::fake_quantize(graph, kernel, ops::div(graph, largest, ops::scalar(graph, int8_steps, Dtype::f32)));
}

Value LinearLayer::sums_of(const CallContext& context, Value x) const {
  Graph& graph = context.graph;
  const Value read = rounded_input(context, x);
  Value y;
  if (integer()) {
    if (context.training) fail(untrainable);
    const Value scale = ops::mul(graph, graph.variable(kernel_scale_), graph.variable(input_scale_));
    y = integer_product(graph, read, graph.variable(kernel_), scale);
  } else {
    y = product(graph, read, rounded_kernel(context));
  }
  return bias_ ? ops::bias_add(graph, y, weight(context, bias_)) : y;
}

Value LinearLayer::output_of(const CallContext& context, Value x) const {
  return activation_.apply(context, sums_of(context, x));
}

}  // namespace gpubench
