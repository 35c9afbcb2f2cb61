#include "core/ops/elementwise.h"

#include <fmt/format.h>
#include <memory>

#include "core/ops/broadcast.h"
#include "core/ops/check.h"
#include "core/ops/reduce.h"

namespace gpubench {
namespace {

using At = ElementwiseFunction::Node;
using Derivatives = std::array<Value, 2>;

/// d where the condition holds, else 0.
Value where(Graph& graph, Value condition, Value d) {
  return ops::select(graph, condition, d, ops::scalar(graph, 0, graph.type(d).dtype));
}
/// A number of the type of `like`.
Value number(const At& at, double value, Value like) {
  return ops::scalar(at.graph, value, at.graph.type(like).dtype);
}

constexpr Derivatives constant{zero_gradient, zero_gradient};

/// Functions of bools, and predicates: nothing asks them.
template <class F>
Derivatives derivatives(F, const At&) {
  return {};
}

Derivatives derivatives(math::Sign, const At&) {
  return constant;
}
Derivatives derivatives(math::Floor, const At&) {
  return constant;
}
Derivatives derivatives(math::Ceil, const At&) {
  return constant;
}
Derivatives derivatives(math::Round, const At&) {
  return constant;
}
Derivatives derivatives(math::FloorDiv, const At&) {
  return constant;
}
Derivatives derivatives(math::Neg, const At& at) {
  return {ops::neg(at.graph, at.gradient)};
}
Derivatives derivatives(math::Abs, const At& at) {
  return {ops::mul(at.graph, at.gradient, ops::sign(at.graph, at.a))};
}
Derivatives derivatives(math::Square, const At& at) {
  return {ops::mul(at.graph, at.gradient, ops::mul(at.graph, at.a, number(at, 2, at.a)))};
}
Derivatives derivatives(math::Sqrt, const At& at) {
  return {ops::div(at.graph, ops::mul(at.graph, at.gradient, number(at, 0.5, at.output)), at.output)};
}
Derivatives derivatives(math::Rsqrt, const At& at) {
  const Value half = ops::mul(at.graph, at.gradient, number(at, -0.5, at.output));
  return {ops::mul(at.graph, half, ops::mul(at.graph, at.output, ops::square(at.graph, at.output)))};
}
Derivatives derivatives(math::Exp, const At& at) {
  return {ops::mul(at.graph, at.gradient, at.output)};
}
Derivatives derivatives(math::Log, const At& at) {
  return {ops::div(at.graph, at.gradient, at.a)};
}
Derivatives derivatives(math::Expm1, const At& at) {
  return {ops::mul(at.graph, at.gradient, ops::exp(at.graph, at.a))};
}
Derivatives derivatives(math::Log1p, const At& at) {
  return {ops::div(at.graph, at.gradient, ops::add(at.graph, at.a, number(at, 1, at.a)))};
}
Derivatives derivatives(math::Sin, const At& at) {
  return {ops::mul(at.graph, at.gradient, ops::cos(at.graph, at.a))};
}
Derivatives derivatives(math::Cos, const At& at) {
  return {ops::neg(at.graph, ops::mul(at.graph, at.gradient, ops::sin(at.graph, at.a)))};
}
Derivatives derivatives(math::Tan, const At& at) {
  const Value slope = ops::add(at.graph, ops::square(at.graph, at.output), number(at, 1, at.output));
  return {ops::mul(at.graph, at.gradient, slope)};
}
Derivatives derivatives(math::Arctan, const At& at) {
  const Value steepness = ops::add(at.graph, ops::square(at.graph, at.a), number(at, 1, at.a));
  return {ops::div(at.graph, at.gradient, steepness)};
}
Derivatives derivatives(math::Relu, const At& at) {
  return {ops::relu_gradient(at.graph, at.gradient, at.output)};
}
Derivatives derivatives(math::Relu6, const At& at) {
  return {ops::relu6_gradient(at.graph, at.gradient, at.output)};
}
Derivatives derivatives(math::Softplus, const At& at) {
  return {ops::mul(at.graph, at.gradient, ops::sigmoid(at.graph, at.a))};
}
Derivatives derivatives(math::Sigmoid, const At& at) {
  return {ops::sigmoid_gradient(at.graph, at.gradient, at.output)};
}
Derivatives derivatives(math::Tanh, const At& at) {
  return {ops::tanh_gradient(at.graph, at.gradient, at.output)};
}
Derivatives derivatives(math::Erf, const At& at) {
  return {ops::erf_gradient(at.graph, at.gradient, at.a)};
}
Derivatives derivatives(math::Silu, const At& at) {
  return {ops::silu_gradient(at.graph, at.gradient, at.a)};
}
Derivatives derivatives(math::Gelu, const At& at) {
  return {ops::gelu_gradient(at.graph, at.gradient, at.a)};
}
Derivatives derivatives(math::GeluTanh, const At& at) {
  return {ops::gelu_tanh_gradient(at.graph, at.gradient, at.a)};
}

Derivatives derivatives(math::Add, const At& at) {
  return {at.gradient, at.gradient};
}
Derivatives derivatives(math::Sub, const At& at) {
  return {at.gradient, ops::neg(at.graph, at.gradient)};
}
Derivatives derivatives(math::Mul, const At& at) {
  return {ops::mul(at.graph, at.gradient, at.b), ops::mul(at.graph, at.gradient, at.a)};
}
Derivatives derivatives(math::Div, const At& at) {
  const Value da = ops::div(at.graph, at.gradient, at.b);
  return {da, ops::neg(at.graph, ops::mul(at.graph, da, at.output))};
}
/// The exponent's gradient is 0 where the base is not positive.
Derivatives derivatives(math::Pow, const At& at) {
  const Value less_one = ops::sub(at.graph, at.b, number(at, 1, at.a));
  const Value da = ops::mul(at.graph, at.b, ops::pow(at.graph, at.a, less_one));
  const Value positive = ops::greater(at.graph, at.a, number(at, 0, at.a));
  const Value safe = ops::select(at.graph, positive, at.a, number(at, 1, at.a));  // log(1) is 0
  const Value db = ops::mul(at.graph, at.output, ops::log(at.graph, safe));
  return {ops::mul(at.graph, at.gradient, da), ops::mul(at.graph, at.gradient, db)};
}
/// c = a - floor(a / b) b.
Derivatives derivatives(math::FloorMod, const At& at) {
  const Value times = ops::floor_div(at.graph, at.a, at.b);
  return {at.gradient, ops::neg(at.graph, ops::mul(at.graph, at.gradient, times))};
}
/// If both are equal, the gradient goes to a; also for minimum.
Derivatives derivatives(math::Maximum, const At& at) {
  return {where(at.graph, ops::greater_equal(at.graph, at.a, at.b), at.gradient),
          where(at.graph, ops::less(at.graph, at.a, at.b), at.gradient)};
}
Derivatives derivatives(math::Minimum, const At& at) {
  return {where(at.graph, ops::less_equal(at.graph, at.a, at.b), at.gradient),
          where(at.graph, ops::greater(at.graph, at.a, at.b), at.gradient)};
}

Derivatives derivatives(math::LeakyRelu, const At& at) {
  const Value below_zero = ops::minimum(at.graph, at.a, number(at, 0, at.a));
  return {ops::mul(at.graph, at.gradient, ops::leaky_slope(at.graph, at.a, at.b)),
          ops::mul(at.graph, at.gradient, below_zero)};
}
Derivatives derivatives(math::Elu, const At& at) {
  const Value below_zero = ops::minimum(at.graph, at.a, number(at, 0, at.a));
  const Value of_one = ops::sub(at.graph, ops::exp(at.graph, below_zero), number(at, 1, at.a));
  return {ops::mul(at.graph, at.gradient, ops::elu_slope(at.graph, at.a, at.b)),
          ops::mul(at.graph, at.gradient, of_one)};
}

// Second order. Inputs of a gradient: a = dy, b = the function's result or argument. It is linear in dy.

/// a b c
Value product(const At& at, Value a, Value b, Value c) {
  return ops::mul(at.graph, ops::mul(at.graph, a, b), c);
}
Value times(const At& at, double factor, Value x) {
  return ops::mul(at.graph, x, number(at, factor, x));
}
Value plus(const At& at, Value x, double term) {
  return ops::add(at.graph, x, number(at, term, x));
}

Derivatives derivatives(math::ReluGradient, const At& at) {
  return {ops::relu_gradient(at.graph, at.gradient, at.b), zero_gradient};
}
Derivatives derivatives(math::Relu6Gradient, const At& at) {
  return {ops::relu6_gradient(at.graph, at.gradient, at.b), zero_gradient};
}
/// dy y (1 - y)
Derivatives derivatives(math::SigmoidGradient, const At& at) {
  return {ops::sigmoid_gradient(at.graph, at.gradient, at.b),
          product(at, at.gradient, at.a, plus(at, times(at, -2, at.b), 1))};
}
/// dy (1 - y^2)
Derivatives derivatives(math::TanhGradient, const At& at) {
  return {ops::tanh_gradient(at.graph, at.gradient, at.b), product(at, at.gradient, at.a, times(at, -2, at.b))};
}
/// dy 2 / sqrt(pi) exp(-x^2), whose derivative is itself times -2 x
Derivatives derivatives(math::ErfGradient, const At& at) {
  return {ops::erf_gradient(at.graph, at.gradient, at.b), product(at, at.gradient, at.output, times(at, -2, at.b))};
}
/// s = sigmoid(x): the second derivative of x s is s (1 - s) (2 + x (1 - 2 s)).
Derivatives derivatives(math::SiluGradient, const At& at) {
  const Value s = ops::sigmoid(at.graph, at.b);
  const Value slope = ops::mul(at.graph, s, plus(at, ops::neg(at.graph, s), 1));
  const Value bend = plus(at, ops::mul(at.graph, at.b, plus(at, times(at, -2, s), 1)), 2);
  return {ops::silu_gradient(at.graph, at.gradient, at.b),
          product(at, at.gradient, at.a, ops::mul(at.graph, slope, bend))};
}
/// The second derivative of x Phi(x) is phi(x) (2 - x^2).
Derivatives derivatives(math::GeluGradient, const At& at) {
  constexpr double inverse_root_of_two_pi = 0.3989422804014327;
  const Value square = ops::square(at.graph, at.b);
  const Value phi = times(at, inverse_root_of_two_pi, ops::exp(at.graph, times(at, -0.5, square)));
  const Value second = ops::mul(at.graph, phi, plus(at, ops::neg(at.graph, square), 2));
  return {ops::gelu_gradient(at.graph, at.gradient, at.b), product(at, at.gradient, at.a, second)};
}
/// t = tanh(u), u = c (x + k x^3): the second derivative of x (1 + t) / 2 is (1 - t^2) (u' + x (u'' / 2 - t u'^2)).
Derivatives derivatives(math::GeluTanhGradient, const At& at) {
  constexpr double c = 0.7978845608028654, k = 0.044715;
  Graph& graph = at.graph;
  const Value x = at.b, square = ops::square(graph, x);
  const Value t = ops::tanh(graph, ops::mul(graph, times(at, c, x), plus(at, times(at, k, square), 1)));
  const Value u1 = times(at, c, plus(at, times(at, 3 * k, square), 1)), half_u2 = times(at, 3 * c * k, x);
  const Value bent = ops::sub(graph, half_u2, ops::mul(graph, t, ops::square(graph, u1)));
  const Value slope = plus(at, ops::neg(graph, ops::square(graph, t)), 1);
  const Value second = ops::mul(graph, slope, ops::add(graph, u1, ops::mul(graph, x, bent)));
  return {ops::gelu_tanh_gradient(graph, at.gradient, x), product(at, at.gradient, at.a, second)};
}
/// 1 above 0, b below
Derivatives derivatives(math::LeakySlope, const At& at) {
  return {zero_gradient, where(at.graph, ops::less(at.graph, at.a, number(at, 0, at.a)), at.gradient)};
}
/// 1 above 0, b exp(a) below
Derivatives derivatives(math::EluSlope, const At& at) {
  const Value below = ops::less(at.graph, at.a, number(at, 0, at.a));
  const Value exp = ops::exp(at.graph, ops::minimum(at.graph, at.a, number(at, 0, at.a)));
  return {where(at.graph, below, product(at, at.gradient, at.b, exp)),
          where(at.graph, below, ops::mul(at.graph, at.gradient, exp))};
}

std::vector<TensorType> infer_select(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 3);
  if (inputs[0].dtype != Dtype::boolean) {
    ops::refuse(op, fmt::format("the condition must be bool, got {}", to_string(inputs[0])));
  }
  ops::expect_same_dtype(op, inputs[1], inputs[2]);
  const Shape values = ops::broadcast_shapes(op, inputs[1].shape, inputs[2].shape);
  return {{ops::broadcast_shapes(op, inputs[0].shape, values), inputs[1].dtype}};
}

std::vector<Value> of_select(const SimpleOpRow::Node& node) {
  Graph& graph = node.graph;
  const Value condition = node.inputs[0], dc = node.gradients[0];
  const Value zero = ops::scalar(graph, 0, graph.type(dc).dtype);
  const Value da = ops::select(graph, condition, dc, zero), db = ops::select(graph, condition, zero, dc);
  return {Value{}, ops::sum_to(graph, da, graph.type(node.inputs[1]).shape),
          ops::sum_to(graph, db, graph.type(node.inputs[2]).shape)};
}

}  // namespace

std::vector<Value> ElementwiseOp::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  const Value b = inputs.size() > 1 ? inputs[1] : Value{};
  const Derivatives derived = function_.derivatives({graph, inputs[0], b, outputs[0], output_gradients[0]});
  std::vector<Value> result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    result.push_back(derived[i] ? ops::sum_to(graph, derived[i], graph.type(inputs[i]).shape) : derived[i]);
  }
  return result;
}

double ElementwiseOp::flops(TensorTypes, TensorTypes outputs) const {
  return static_cast<double>(function_.flops) * static_cast<double>(outputs[0].elements());
}

void ElementwiseOp::check(const TensorType& type) const {
  switch (function_.domain) {
    case math::Domain::floats:
      return ops::expect_floating(name(), type);
    case math::Domain::numbers:
      return ops::expect_numeric(name(), type);
    case math::Domain::numbers_and_bool:
      if (type.dtype == Dtype::bytes) ops::refuse(name(), "bytes cannot be compared");
      return;
    case math::Domain::bools:
      if (type.dtype != Dtype::boolean) ops::refuse(name(), fmt::format("takes bool, got {}", to_string(type)));
  }
}

std::vector<TensorType> UnaryOp::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  check(inputs[0]);
  return {inputs[0]};
}

std::vector<TensorType> GradientOp::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  check(inputs[0]);
  ops::expect_type(name(), "the second input", inputs[1], inputs[0]);
  return {inputs[0]};
}

std::vector<TensorType> ArithmeticOp::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_same_dtype(name(), inputs[0], inputs[1]);
  check(inputs[0]);
  return {{ops::broadcast_shapes(name(), inputs[0].shape, inputs[1].shape), inputs[0].dtype}};
}

std::vector<TensorType> PredicateOp::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  if (domain() != math::Domain::bools) ops::expect_same_dtype(name(), inputs[0], inputs[1]);
  for (const TensorType& type : inputs) check(type);
  return {{ops::broadcast_shapes(name(), inputs[0].shape, inputs[1].shape), Dtype::boolean}};
}

std::vector<Alias> PredicateOp::aliases() const {
  if (domain() != math::Domain::bools) return {};
  return {{0, 0, Alias::Kind::may_overwrite}, {0, 1, Alias::Kind::may_overwrite}};
}

Select::Select()
    : SimpleOp({.name = "select",
                .infer = &infer_select,
                .gradient = &of_select,
                .aliases = {{0, 1}, {0, 2}},
                .block_form = BlockForm{.inputs = BlockForm::Inputs::stretched}}) {}

#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) \
  Type::Type()                                              \
      : Kind##Op({#name, math::Domain::domain, flops, [](const At& at) { return derivatives(math::Type{}, at); }}) {}
GPUBENCH_ELEMENTWISE_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW

namespace ops {

#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops)  \
  Value name(Graph& graph, Value x) {                        \
    return graph.apply(std::make_shared<const Type>(), {x}); \
  }
GPUBENCH_FUNCTIONS_OF_ONE(GPUBENCH_ROW)
#undef GPUBENCH_ROW
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops)     \
  Value name(Graph& graph, Value a, Value b) {                  \
    return graph.apply(std::make_shared<const Type>(), {a, b}); \
  }
GPUBENCH_FUNCTIONS_OF_TWO(GPUBENCH_ROW)
#undef GPUBENCH_ROW

Value select(Graph& graph, Value condition, Value a, Value b) {
  return graph.apply(std::make_shared<const Select>(), {condition, a, b});
}

}  // namespace ops
}  // namespace gpubench
