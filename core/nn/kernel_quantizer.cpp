#include "core/nn/kernel_quantizer.h"

#include <fmt/format.h>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "core/graph/exchange_ops.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/ops/quantize.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"

namespace gpubench {
namespace {

/// As slowly as batch normalization's averages.
constexpr float range_momentum = 0.99F;

HostTensor filled(Shape shape, float value) {
  HostTensor tensor({std::move(shape), Dtype::f32});
  for (float& element : tensor.values<float>()) element = value;
  return tensor;
}

KernelQuantizer::Mode parse(const std::string& owner, const std::string& name) {
  if (name.empty()) return KernelQuantizer::Mode::none;
  if (name == "aware") return KernelQuantizer::Mode::aware;
  if (name == "int8") return KernelQuantizer::Mode::int8;
  throw Error(fmt::format("{}: quantization must be \"aware\" or \"int8\", got \"{}\"", owner, name));
}

}  // namespace

ConfigField KernelQuantizer::field() {
  return {"quantization", std::string()};
}

KernelQuantizer::KernelQuantizer(const Config& config, const DtypePolicy& policy)
    : mode_(parse(config.owner(), config.text("quantization"))) {
  if (mode_ == Mode::none || (policy.variable == Dtype::f32 && policy.compute == Dtype::f32)) return;
  throw Error(fmt::format("{}: quantization = \"{}\" is for layers of dtype float32, got {}", config.owner(),
                          config.text("quantization"), policy.name));
}

VariablePtr KernelQuantizer::make_kernel(const MakeVariable& make, const Shape& shape) const {
  HostTensor zeros({shape, Dtype::i8});
  for (std::int8_t& value : zeros.values<std::int8_t>()) value = 0;
  return make("kernel", zeros);
}

void KernelQuantizer::make_variables(const MakeVariable& make, std::int64_t channels) {
  if (mode_ == Mode::aware) input_range_ = make("input_range", filled({}, 0));
  if (mode_ != Mode::int8) return;
  kernel_scale_ = make("kernel_scale", filled({channels}, 1));
  input_scale_ = make("input_scale", filled({}, 1));
}

Value KernelQuantizer::moved_range(const CallContext& context, Value x) const {
  Graph& graph = context.graph;
  const Value range = graph.variable(input_range_);
  if (!context.training) return range;
  const auto number = [&](float value) { return ops::scalar(graph, value, Dtype::f32); };
  const Value own = ops::reduce_max(graph, ops::abs(graph, x));
  // Where replicas share a batch, all of them round by the range of the whole.
  const Value now = context.replica_rows != 0 ? all_reduce_max(graph, own) : own;
  const Value averaged =
      ops::add(graph, ops::mul(graph, range, number(range_momentum)), ops::mul(graph, now, number(1 - range_momentum)));
  const Value moved = ops::select(graph, ops::greater(graph, range, number(0)), averaged, now);
  return ops::assign(graph, range, moved);
}

Value KernelQuantizer::input(const CallContext& context, Value x) const {
  Graph& graph = context.graph;
  if (mode_ == Mode::int8) return ops::quantize(graph, x, graph.variable(input_scale_));
  if (mode_ == Mode::none) return x;
  const Value steps = ops::scalar(graph, int8_steps, Dtype::f32);
  return ops::fake_quantize(graph, x, ops::div(graph, moved_range(context, x), steps));
}

Value KernelQuantizer::kernel(Graph& graph, Value kernel) const {
  if (mode_ != Mode::aware) return kernel;
  std::vector<std::int64_t> all_but_last(graph.type(kernel).shape.size() - 1);
  std::iota(all_but_last.begin(), all_but_last.end(), 0);
  const Value largest = ops::reduce_max(graph, ops::abs(graph, kernel), all_but_last);
  return ops::fake_quantize(graph, kernel, ops::div(graph, largest, ops::scalar(graph, int8_steps, Dtype::f32)));
}

Value KernelQuantizer::scale(Graph& graph) const {
  return ops::mul(graph, graph.variable(kernel_scale_), graph.variable(input_scale_));
}

}  // namespace gpubench
