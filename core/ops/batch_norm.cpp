#include "core/ops/batch_norm.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/exchange_ops.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

std::string epsilon_attribute(float epsilon, NormEpilogue epilogue = NormEpilogue::none) {
  constexpr std::string_view suffixes[] = {"", " relu", " add relu"};
  return fmt::format("epsilon={}{}", epsilon, suffixes[static_cast<std::size_t>(epilogue)]);
}

/// Checks x (input 0) and `names[i]`, input i + 1, each [channels] and all of x's type or of float32; returns their
/// type.
TensorType check_inputs(std::string_view op, TensorTypes inputs, std::initializer_list<std::string_view> names) {
  const TensorType& x = inputs[0];
  ops::expect_floating(op, x);
  if (x.rank() < 2) {
    throw Error(fmt::format("{}: the input must be [batch, ..., channels], got {}", op, to_string(x)));
  }
  const bool wide = inputs[1].dtype == Dtype::f32;
  TensorType channels{{x.shape.back()}, wide ? Dtype::f32 : x.dtype};
  std::size_t index = 1;
  for (const std::string_view name : names) {
    ops::expect_type(op, name, inputs[index++], channels);
  }
  return channels;
}

std::vector<TensorType> infer_norm_gradient(std::string_view op, TensorTypes inputs, std::size_t count = 5) {
  ops::expect_count(op, inputs, count);
  const TensorType channels = check_inputs(op, inputs, {"gamma", "the mean", "the variance"});
  ops::expect_type(op, "the gradient", inputs[4], inputs[0]);
  return {inputs[0], channels, channels};
}

double norm_flops(double count, TensorTypes outputs) {
  return count * static_cast<double>(outputs[0].elements());
}

}  // namespace

std::string BatchNorm::attributes() const {
  return epsilon_attribute(epsilon, epilogue);
}

std::vector<TensorType> BatchNorm::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, epilogue == NormEpilogue::add_relu ? 4 : 3);
  const TensorType channels = check_inputs(name(), inputs, {"gamma", "beta"});
  if (epilogue == NormEpilogue::add_relu) ops::expect_type(name(), "the shortcut", inputs[3], inputs[0]);
  if (inputs[0].elements() == 0 && channels.elements() > 0) {
    throw Error(
        fmt::format("{}: {} has nothing to take mean and variance of; at least one value of each channel is needed",
                    name(), to_string(inputs[0])));
  }
  return {inputs[0], channels, channels};
}

std::vector<Value> BatchNorm::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  if (epilogue != NormEpilogue::none) return Op::gradient(graph, inputs, outputs, output_gradients);
  std::vector<Value> result(3, zero_gradient);
  std::vector<Value> parts;
  if (output_gradients[0]) {
    const Value dx = graph.apply(std::make_shared<const BatchNormGradient>(epsilon),
                                 {inputs[0], inputs[1], outputs[1], outputs[2], output_gradients[0]});
    parts.push_back(dx);
    result[1] = {dx.node, 1};
    result[2] = {dx.node, 2};
  }
  const TensorType type = graph.type(inputs[0]);
  const auto of_x = [&](Value parameter) { return ops::cast(graph, parameter, type.dtype); };
  const double share = static_cast<double>(type.shape.back()) / static_cast<double>(type.elements());
  if (output_gradients[1]) {
    const Value each = ops::mul(graph, of_x(output_gradients[1]), ops::scalar(graph, share, type.dtype));
    parts.push_back(ops::broadcast_to(graph, each, type.shape));
  }
  if (output_gradients[2]) {
    const Value each = ops::mul(graph, of_x(output_gradients[2]), ops::scalar(graph, 2 * share, type.dtype));
    parts.push_back(ops::mul(graph, ops::sub(graph, inputs[0], of_x(outputs[1])), each));
  }
  result[0] = parts.size() == 1 ? parts[0] : graph.apply(std::make_shared<const AddN>(), parts);
  return result;
}

double BatchNorm::flops(TensorTypes, TensorTypes outputs) const {
  return norm_flops(7 + static_cast<double>(epilogue), outputs);
}

std::string BatchNormGradient::attributes() const {
  return epsilon_attribute(epsilon, epilogue);
}

std::vector<TensorType> BatchNormGradient::infer(TensorTypes inputs) const {
  std::vector<TensorType> result = infer_norm_gradient(name(), inputs, epilogue == NormEpilogue::none ? 5 : 6);
  if (epilogue == NormEpilogue::relu) ops::expect_type(name(), "beta", inputs[5], result[1]);
  if (epilogue != NormEpilogue::add_relu) return result;
  ops::expect_type(name(), "the result", inputs[5], inputs[0]);
  result.push_back(inputs[0]);
  return result;
}

std::vector<Alias> BatchNormGradient::aliases() const {
  std::vector<Alias> result{{0, 4, Alias::Kind::may_overwrite}, {0, 0, Alias::Kind::may_overwrite}};
  if (epilogue == NormEpilogue::add_relu) result.insert(result.begin(), {3, 4, Alias::Kind::may_overwrite});
  return result;
}

double BatchNormGradient::flops(TensorTypes, TensorTypes outputs) const {
  return norm_flops(epilogue == NormEpilogue::none ? 11 : 12, outputs);
}

bool is_fused_batch_norm(const Op& op) {
  const auto* const forward = dynamic_cast<const BatchNorm*>(&op);
  const auto* const backward = dynamic_cast<const BatchNormGradient*>(&op);
  return (forward != nullptr && forward->epilogue != NormEpilogue::none) ||
         (backward != nullptr && backward->epilogue != NormEpilogue::none);
}

std::string BatchNormInference::attributes() const {
  return epsilon_attribute(epsilon);
}

std::vector<TensorType> BatchNormInference::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 5);
  check_inputs(name(), inputs, {"gamma", "beta", "the mean", "the variance"});
  return {inputs[0]};
}

std::vector<Value> BatchNormInference::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  const Value dx = graph.apply(std::make_shared<const BatchNormInferenceGradient>(epsilon),
                               {inputs[0], inputs[1], inputs[3], inputs[4], output_gradients[0]});
  const Value dgamma{dx.node, 1}, dbeta{dx.node, 2};
  // From the sums over x that dgamma and dbeta are already; not computed where the statistics are variables' values.
  const Value gamma = inputs[1], variance = inputs[4];
  const Dtype dtype = graph.type(gamma).dtype;
  const Value spread = ops::add(graph, variance, ops::scalar(graph, static_cast<double>(epsilon), dtype));
  const Value scale = ops::mul(graph, gamma, ops::rsqrt(graph, spread));
  const Value dmean = ops::neg(graph, ops::mul(graph, dbeta, scale));
  const Value half = ops::mul(graph, ops::mul(graph, dgamma, gamma), ops::scalar(graph, -0.5, dtype));
  return {dx, dgamma, dbeta, dmean, ops::div(graph, half, spread)};
}

double BatchNormInference::flops(TensorTypes, TensorTypes outputs) const {
  return norm_flops(2, outputs);
}

std::string BatchNormInferenceGradient::attributes() const {
  return epsilon_attribute(epsilon);
}

std::vector<TensorType> BatchNormInferenceGradient::infer(TensorTypes inputs) const {
  return infer_norm_gradient(name(), inputs);
}

std::vector<Alias> BatchNormInferenceGradient::aliases() const {
  return {{0, 4, Alias::Kind::may_overwrite}, {0, 0, Alias::Kind::may_overwrite}};
}

double BatchNormInferenceGradient::flops(TensorTypes, TensorTypes outputs) const {
  return norm_flops(5, outputs);
}

namespace {

/// Sums of values weighted by a replica's share when the loss is not: gradients from the other replicas are weighted by
/// their shares, and this replica's gradients will be multiplied by its own share later.
class SharesAllReduce final : public AllReduce {
 public:
  explicit SharesAllReduce(double own_share) : AllReduce(1), share(own_share) {}
  std::vector<Value> gradient(Graph& graph, Values, Values, Values output_gradients) const override {
    const auto number = [&](double value) { return ops::scalar(graph, value, graph.type(output_gradients[0]).dtype); };
    const Value part = ops::mul(graph, output_gradients[0], number(share));
    const Value sum = graph.apply(std::make_shared<const SharesAllReduce>(share), {part});
    return {ops::mul(graph, sum, number(1 / share))};
  }

  const double share;
};

}  // namespace

namespace ops {

Value batch_norm(Graph& graph, Value x, Value gamma, Value beta, float epsilon) {
  return graph.apply(std::make_shared<const BatchNorm>(epsilon), {x, gamma, beta});
}

Normalized synchronized_batch_norm(Graph& graph, Value x, Value gamma, Value beta, float epsilon, double weight,
                                   ReplicaLoss loss) {
  // For its statistics, which it takes without loss of precision far from zero and of 16-bit data.
  const Value own = batch_norm(graph, x, gamma, beta, epsilon);
  const Value own_mean{own.node, 1}, own_variance{own.node, 2};
  const Value part = scalar(graph, weight, graph.type(own_mean).dtype);
  const auto summed = [&](Value own_part) {
    if (loss == ReplicaLoss::part) return all_reduce(graph, own_part);
    return graph.apply(std::make_shared<const SharesAllReduce>(weight), {own_part});
  };
  const Value mean = summed(mul(graph, own_mean, part));
  const Value between = square(graph, sub(graph, own_mean, mean));
  const Value variance = summed(mul(graph, add(graph, own_variance, between), part));
  return {batch_norm_inference(graph, x, gamma, beta, mean, variance, epsilon), mean, variance};
}

Value batch_norm_inference(Graph& graph, Value x, Value gamma, Value beta, Value mean, Value variance, float epsilon) {
  return graph.apply(std::make_shared<const BatchNormInference>(epsilon), {x, gamma, beta, mean, variance});
}

}  // namespace ops
}  // namespace gpubench
