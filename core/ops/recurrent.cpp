#include "core/ops/recurrent.h"

#include <fmt/format.h>
#include <memory>

#include "core/base/enum_names.h"
#include "core/ops/broadcast.h"
#include "core/ops/check.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

constexpr EnumNames<RecurrentCell, 2> cells{"unknown cell", {"lstm", "gru"}};

std::string text_of(const RecurrentAttributes& options) {
  return fmt::format("cell={} backwards={}{}{}{}{}", to_string(options.cell), options.backwards,
                     options.dropout ? " dropout=true" : "", options.masked ? " masked=true" : "",
                     options.initial ? " initial=true" : "", options.of_memory ? " of_memory=true" : "");
}

/// Operations on one unit in one step.
struct CellFlops {
  int forward;   ///< three sigmoids of four operations and two tanh, or two and one; the sums and products
  int gradient;  ///< the derivatives of the activations take three operations each; the rest are products and sums
};

CellFlops cell_flops(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? CellFlops{22, 28} : CellFlops{18, 21};
}

double product_flops(const RecurrentExtents& extents, const RecurrentAttributes& options) {
  const auto units = static_cast<double>(extents.units), gates = static_cast<double>(gates_of(options.cell));
  const std::int64_t products = extents.steps - (options.initial ? 0 : 1);
  return 2.0 * static_cast<double>(products * extents.batch) * units * units * gates;
}

double count_of_units(const RecurrentExtents& extents) {
  return static_cast<double>(extents.steps * extents.batch * extents.units);
}

/// Of the states before the first step.
std::size_t initial_count(const RecurrentAttributes& options) {
  if (!options.initial) return 0;
  return options.cell == RecurrentCell::lstm ? 2 : 1;
}

std::size_t extra_count(const RecurrentAttributes& options) {
  return (options.dropout ? 1 : 0) + (options.masked ? 1 : 0) + initial_count(options) + (options.of_memory ? 1 : 0);
}

Shape kernel_shape(const RecurrentAttributes& options, std::int64_t units) {
  const std::int64_t gates = gates_of(options.cell);
  return options.dropout ? Shape{gates, units, units} : Shape{units, gates * units};
}

void expect_extras(std::string_view op, const RecurrentAttributes& options, TensorTypes extras,
                   const TensorType& states) {
  const auto [steps, batch, units] = recurrent_extents(states);
  const RecurrentExtras<TensorType> given(options, extras);
  if (given.factors != nullptr) {
    ops::expect_type(op, "the dropout's factors", *given.factors,
                     {{batch, gates_of(options.cell) * units}, states.dtype});
  }
  if (given.mask != nullptr) ops::expect_type(op, "the mask", *given.mask, {{steps, batch}, Dtype::boolean});
  const TensorType of_step{{batch, units}, states.dtype};
  if (given.state != nullptr) ops::expect_type(op, "the initial state", *given.state, of_step);
  if (given.memory != nullptr) ops::expect_type(op, "the initial memory", *given.memory, of_step);
  if (given.dmemory != nullptr) ops::expect_type(op, "the memory's gradient", *given.dmemory, states);
}

}  // namespace

std::string_view to_string(RecurrentCell cell) {
  return cells[cell];
}

std::int64_t gates_of(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 4 : 3;
}

std::size_t own_inputs(RecurrentCell cell) {
  return cell == RecurrentCell::gru ? 3 : 2;
}

RecurrentExtents recurrent_extents(const TensorType& states) {
  return {states.shape[0], states.shape[1], states.shape[2]};
}

std::string Recurrence::attributes() const {
  return text_of(options);
}

std::vector<TensorType> Recurrence::infer(TensorTypes inputs) const {
  const std::size_t own = own_inputs(options.cell);
  const std::int64_t gates = gates_of(options.cell);
  ops::expect_count(name(), inputs, own + extra_count(options));
  const TensorType &x = inputs[0], &kernel = inputs[1];
  ops::expect_floating(name(), x);
  ops::expect_rank(name(), "the input [steps, batch, gates * units]", x, 3);
  if (options.dropout) {
    ops::expect_rank(name(), "the kernel [gates, units, units]", kernel, 3);
  } else {
    ops::expect_rank(name(), "the kernel [units, gates * units]", kernel, 2);
  }
  const std::int64_t units = options.dropout ? kernel.shape[1] : kernel.shape[0];
  ops::expect_type(name(), "the kernel", kernel, {kernel_shape(options, units), x.dtype});
  ops::expect_type(name(), "the input", x, {{x.shape[0], x.shape[1], gates * units}, x.dtype});
  if (own > 2) ops::expect_type(name(), "the bias", inputs[2], {{units}, x.dtype});
  if (x.shape[0] == 0) ops::refuse(name(), fmt::format("{} has no steps", to_string(x)));
  const TensorType states{{x.shape[0], x.shape[1], units}, x.dtype};
  expect_extras(name(), options, inputs.subspan(own), states);
  return {states, states, x};
}

std::vector<Value> Recurrence::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  const bool of_memory = static_cast<bool>(output_gradients[1]);
  if (output_gradients[2] || (of_memory && options.cell != RecurrentCell::lstm)) {
    ops::refuse(name(), "only the states have a gradient, and the memory of an lstm");
  }
  if (!output_gradients[0] && !of_memory) return std::vector<Value>(inputs.size());
  Value dstates = output_gradients[0];
  if (!dstates) {
    const TensorType& states = graph.type(outputs[0]);
    dstates = ops::broadcast_to(graph, ops::scalar(graph, 0, states.dtype), states.shape);
  }
  const std::size_t own = own_inputs(options.cell), states = initial_count(options);
  std::vector<Value> given{inputs[1], outputs[0], outputs[1], outputs[2], dstates};
  given.insert(given.end(), inputs.begin() + static_cast<std::ptrdiff_t>(own), inputs.end());
  if (of_memory) given.push_back(output_gradients[1]);
  RecurrentAttributes backward = options;
  backward.of_memory = of_memory;
  const Value dx = graph.apply(std::make_shared<const RecurrenceGradient>(backward), given);
  std::vector<Value> result(inputs.size());
  for (std::size_t i = 0; i < own + states; ++i) {
    const std::size_t input = i < own ? i : inputs.size() - states + i - own;
    result[input] = {dx.node, static_cast<std::int32_t>(i)};
  }
  return result;
}

double Recurrence::flops(TensorTypes, TensorTypes outputs) const {
  const RecurrentExtents extents = recurrent_extents(outputs[0]);
  return product_flops(extents, options) + cell_flops(options.cell).forward * count_of_units(extents);
}

std::string RecurrenceGradient::attributes() const {
  return text_of(options);
}

std::vector<TensorType> RecurrenceGradient::infer(TensorTypes inputs) const {
  const std::int64_t gates = gates_of(options.cell);
  constexpr std::size_t own = 5;
  ops::expect_count(name(), inputs, own + extra_count(options));
  const TensorType &kernel = inputs[0], &states = inputs[1];
  ops::expect_floating(name(), states);
  ops::expect_rank(name(), "the states [steps, batch, units]", states, 3);
  const auto [steps, batch, units] = recurrent_extents(states);
  ops::expect_type(name(), "the kernel", kernel, {kernel_shape(options, units), states.dtype});
  ops::expect_type(name(), "the memory", inputs[2], states);
  ops::expect_type(name(), "the gates", inputs[3], {{steps, batch, gates * units}, states.dtype});
  ops::expect_type(name(), "the gradient", inputs[4], states);
  if (steps == 0) ops::refuse(name(), fmt::format("{} has no steps", to_string(states)));
  expect_extras(name(), options, inputs.subspan(own), states);
  std::vector<TensorType> result = {inputs[3], kernel};
  if (options.cell == RecurrentCell::gru) result.push_back({{units}, states.dtype});
  for (std::size_t i = 0; i < initial_count(options); ++i) result.push_back({{batch, units}, states.dtype});
  return result;
}

double RecurrenceGradient::flops(TensorTypes inputs, TensorTypes) const {
  const RecurrentExtents extents = recurrent_extents(inputs[1]);
  return 2 * product_flops(extents, options) + cell_flops(options.cell).gradient * count_of_units(extents);
}

namespace ops {

Value recurrence(Graph& graph, const RecurrentInputs& inputs, RecurrentAttributes options) {
  options.dropout = static_cast<bool>(inputs.factors);
  options.masked = static_cast<bool>(inputs.mask);
  options.initial = static_cast<bool>(inputs.state);
  std::vector<Value> given;
  for (const Value input :
       {inputs.x, inputs.kernel, inputs.bias, inputs.factors, inputs.mask, inputs.state, inputs.memory}) {
    if (input) given.push_back(input);
  }
  return graph.apply(std::make_shared<const Recurrence>(options), given);
}

}  // namespace ops
}  // namespace gpubench
