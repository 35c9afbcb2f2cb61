#include "core/ops/recurrent.h"

#include <fmt/format.h>
#include <memory>

#include "core/base/enum_names.h"
#include "core/ops/check.h"

namespace gpubench {
namespace {

constexpr EnumNames<RecurrentCell, 2> cells{"unknown cell", {"lstm", "gru"}};

std::string text_of(const RecurrentAttributes& options) {
  return fmt::format("cell={} backwards={}", to_string(options.cell), options.backwards);
}

/// Of one unit in one step: three sigmoids of four operations and two tanh, or two and one; the sums and products.
double cell_flops(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 22 : 18;
}
/// The derivatives of the activations take three operations each; the rest are products and sums.
double cell_gradient_flops(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 28 : 21;
}

double product_flops(const RecurrentExtents& extents, std::int64_t gates) {
  const auto units = static_cast<double>(extents.units);
  return 2.0 * static_cast<double>((extents.steps - 1) * extents.batch) * units * units * static_cast<double>(gates);
}

double count_of_units(const RecurrentExtents& extents) {
  return static_cast<double>(extents.steps * extents.batch * extents.units);
}

}  // namespace

std::string_view to_string(RecurrentCell cell) {
  return cells[cell];
}

std::int64_t gates_of(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 4 : 3;
}

RecurrentExtents recurrent_extents(const TensorType& states) {
  return {states.shape[0], states.shape[1], states.shape[2]};
}

std::string Recurrence::attributes() const {
  return text_of(options);
}

std::vector<TensorType> Recurrence::infer(std::span<const TensorType> inputs) const {
  const bool has_bias = options.cell == RecurrentCell::gru;
  const std::int64_t gates = gates_of(options.cell);
  ops::expect_count(name(), inputs, has_bias ? 3 : 2);
  const TensorType &x = inputs[0], &kernel = inputs[1];
  ops::expect_floating(name(), x);
  ops::expect_rank(name(), "the input [steps, batch, gates * units]", x, 3);
  ops::expect_rank(name(), "the kernel [units, gates * units]", kernel, 2);
  const std::int64_t units = kernel.shape[0];
  ops::expect_type(name(), "the kernel", kernel, {{units, gates * units}, x.dtype});
  ops::expect_type(name(), "the input", x, {{x.shape[0], x.shape[1], gates * units}, x.dtype});
  if (has_bias) ops::expect_type(name(), "the bias", inputs[2], {{units}, x.dtype});
  if (x.shape[0] == 0) ops::refuse(name(), fmt::format("{} has no steps", to_string(x)));
  const TensorType states{{x.shape[0], x.shape[1], units}, x.dtype};
  return {states, states, x};
}

std::vector<Value> Recurrence::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                                        std::span<const Value> output_gradients) const {
  if (output_gradients[1] || output_gradients[2]) ops::refuse(name(), "only the states have a gradient");
  if (!output_gradients[0]) return std::vector<Value>(inputs.size());
  const Value dx = graph.apply(std::make_shared<const RecurrenceGradient>(options),
                               {inputs[1], outputs[0], outputs[1], outputs[2], output_gradients[0]});
  std::vector<Value> result;
  for (std::size_t i = 0; i < inputs.size(); ++i) result.push_back({dx.node, static_cast<std::int32_t>(i)});
  return result;
}

double Recurrence::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  const RecurrentExtents extents = recurrent_extents(outputs[0]);
  return product_flops(extents, gates_of(options.cell)) + cell_flops(options.cell) * count_of_units(extents);
}

std::string RecurrenceGradient::attributes() const {
  return text_of(options);
}

std::vector<TensorType> RecurrenceGradient::infer(std::span<const TensorType> inputs) const {
  const std::int64_t gates = gates_of(options.cell);
  ops::expect_count(name(), inputs, 5);
  const TensorType &kernel = inputs[0], &states = inputs[1];
  ops::expect_floating(name(), states);
  ops::expect_rank(name(), "the states [steps, batch, units]", states, 3);
  const auto [steps, batch, units] = recurrent_extents(states);
  ops::expect_type(name(), "the kernel", kernel, {{units, gates * units}, states.dtype});
  ops::expect_type(name(), "the memory", inputs[2], states);
  ops::expect_type(name(), "the gates", inputs[3], {{steps, batch, gates * units}, states.dtype});
  ops::expect_type(name(), "the gradient", inputs[4], states);
  if (steps == 0) ops::refuse(name(), fmt::format("{} has no steps", to_string(states)));
  std::vector<TensorType> result = {inputs[3], kernel};
  if (options.cell == RecurrentCell::gru) result.push_back({{units}, states.dtype});
  return result;
}

double RecurrenceGradient::flops(std::span<const TensorType> inputs, std::span<const TensorType>) const {
  const RecurrentExtents extents = recurrent_extents(inputs[1]);
  return 2 * product_flops(extents, gates_of(options.cell)) +
         cell_gradient_flops(options.cell) * count_of_units(extents);
}

namespace ops {

Value recurrence(Graph& graph, Value x, Value kernel, Value bias, RecurrentAttributes options) {
  const auto op = std::make_shared<const Recurrence>(options);
  return options.cell == RecurrentCell::lstm ? graph.apply(op, {x, kernel}) : graph.apply(op, {x, kernel, bias});
}

}  // namespace ops
}  // namespace gpubench
