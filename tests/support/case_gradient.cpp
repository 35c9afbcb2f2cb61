// The gradient of an OpCase: the nodes that Op::gradient adds, run by kernels, against central differences of the
// reference.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "core/device/device.h"
#include "core/graph/graph.h"
#include "tests/support/case_checks.h"
#include "tests/support/case_inputs.h"
#include "tests/support/evaluate.h"

namespace gpubench::support {
namespace {

/// Elements per input whose derivative is measured: each costs two runs of the reference.
constexpr std::size_t probes = 48, probes_of_large = 4;
/// Outputs with more elements than this, which are there to be run on several threads, are probed at fewer places.
constexpr std::int64_t large = 5000;
/// Step of the differences: their error is its square, the rounding of the reference divided by it.
constexpr double step = 1e-5;
/// The op, its inputs and the gradients of its outputs as a graph, and the gradients of its inputs.
struct GradientGraph {
  Graph graph;
  std::vector<Value> output_gradients, input_gradients;
};

GradientGraph build_gradient(const OpCase& op_case) {
  GradientGraph result;
  Graph& graph = result.graph;
  std::vector<Value> inputs, outputs;
  for (const CaseInput& input : op_case.inputs) inputs.push_back(graph.input(input.type, "input"));
  const Value first = graph.apply(op_case.op, inputs);
  const std::size_t count = graph.node(first).outputs.size();
  for (std::size_t i = 0; i < count; ++i) {
    outputs.push_back({first.node, static_cast<std::int32_t>(i)});
    const TensorType type = graph.type(outputs.back());
    const bool flows = is_floating(type.dtype) && i < op_case.saved_from;
    result.output_gradients.push_back(flows ? graph.input(type, "gradient") : Value{});
  }
  const bool reached = std::any_of(result.output_gradients.begin(), result.output_gradients.end(),
                                   [](Value value) { return static_cast<bool>(value); });
  result.input_gradients.resize(inputs.size());
  if (reached) result.input_gradients = op_case.op->gradient(graph, inputs, outputs, result.output_gradients);
  return result;
}

/// weights * outputs, by the reference.
std::vector<double> weighted(const OpCase& op_case, const std::vector<Array>& inputs,
                             const std::vector<Array>& weights) {
  std::vector<double> terms;
  OpCase smooth = op_case;
  if (op_case.differentiated) smooth.reference = op_case.differentiated;
  const std::vector<Array> outputs = run_reference(smooth, inputs);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    for (std::int64_t i = 0; i < weights[o].size(); ++i) terms.push_back(weights[o][i] * outputs[o][i]);
  }
  return terms;
}

double sum(const std::vector<double>& terms) {
  return std::accumulate(terms.begin(), terms.end(), 0.0);
}

struct Slope {
  double value;
  double magnitude;  ///< of the terms that add up to it, to which rounding is relative where they cancel
};

/// d (sum of weighted outputs) / d (element of an input), where the sum is `here`. None at a kink (another winner of a
/// maximum within the step), which the slopes on both sides tell.
std::optional<Slope> central_difference(const OpCase& op_case, std::vector<Array>& inputs, double& element,
                                        const std::vector<Array>& weights, double here) {
  constexpr double kink = 2e-4;  // smooth slopes differ by the step times the curvature
  const double before = element;
  element = before + step;
  const std::vector<double> above = weighted(op_case, inputs, weights);
  element = before - step;
  const std::vector<double> below = weighted(op_case, inputs, weights);
  element = before;
  const double right = (sum(above) - here) / step, left = (here - sum(below)) / step;
  if (std::abs(right - left) > kink * (1 + std::max(std::abs(right), std::abs(left)))) return std::nullopt;
  double magnitude = 0;
  for (std::size_t i = 0; i < above.size(); ++i) magnitude += std::abs(above[i] - below[i]) / (2 * step);
  return Slope{(right + left) / 2, magnitude};
}

/// Derivatives of the weighted outputs by some elements of an input, as the reference has them.
struct Slopes {
  std::vector<std::int64_t> elements{};  ///< those that are at no kink
  std::vector<double> values{};
  double magnitude = 0;
  std::size_t tried = 0;  ///< elements, with those at kinks
};

Slopes measure_slopes(const OpCase& op_case, CaseInputs& drawn, std::size_t input, const std::vector<Array>& weights) {
  Array& measured = drawn.arrays[input];
  std::vector<std::int64_t> elements(static_cast<std::size_t>(measured.size()));
  std::iota(elements.begin(), elements.end(), 0);
  std::shuffle(elements.begin(), elements.end(), drawn.random);
  std::int64_t outputs = 0;
  for (const Array& weight : weights) outputs += weight.size();
  elements.resize(std::min(elements.size(), std::max(outputs, measured.size()) > large ? probes_of_large : probes));
  Slopes slopes{.tried = elements.size()};
  const double here = sum(weighted(op_case, drawn.arrays, weights));
  for (const std::int64_t element : elements) {
    const auto slope = central_difference(op_case, drawn.arrays, measured[element], weights, here);
    if (!slope) continue;
    slopes.elements.push_back(element);
    slopes.values.push_back(slope->value);
    if (std::isfinite(slope->magnitude)) slopes.magnitude = std::max(slopes.magnitude, slope->magnitude);
  }
  return slopes;
}

void expect_gradient(const OpCase& op_case, const Slopes& slopes, const Array& got, const std::string& what) {
  EXPECT_GE(2 * slopes.values.size(), slopes.tried) << what << ": kinks at most elements";
  Array numeric({{static_cast<std::int64_t>(slopes.values.size())}, got.type.dtype}), analytic(numeric.type);
  numeric.values = slopes.values;
  std::ranges::transform(slopes.elements, analytic.values.begin(), [&](std::int64_t element) { return got[element]; });
  expect_close(analytic, numeric, 10 * tolerance_of(op_case, got.type.dtype), what,
               std::max(slopes.magnitude, op_case.least_scale));
}

}  // namespace

void check_gradient(const OpCase& op_case) {
  const GradientGraph built = build_gradient(op_case);
  if (!op_case.differentiable) {
    for (const Value value : built.input_gradients) EXPECT_FALSE(value) << "a gradient that the case does not expect";
    return;
  }
  CaseInputs drawn(op_case);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Array> weights;
  std::vector<HostTensor> graph_inputs = drawn.tensors;
  for (const Value value : built.output_gradients) {
    Array& weight = weights.emplace_back();
    if (!value) continue;
    weight = Array(built.graph.type(value));
    for (double& w : weight.values) w = uniform(drawn.random);
    graph_inputs.push_back(to_tensor(weight));
    weight = to_array(graph_inputs.back());
  }
  std::vector<Value> wanted;
  std::vector<std::size_t> wanted_inputs;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    const bool flows = op_case.inputs[i].gradient && is_floating(op_case.inputs[i].type.dtype);
    EXPECT_EQ(static_cast<bool>(built.input_gradients[i]), flows) << "whether a gradient reaches input " << i;
    if (!flows || !built.input_gradients[i]) continue;
    EXPECT_EQ(built.graph.type(built.input_gradients[i]), op_case.inputs[i].type) << "type of gradient " << i;
    wanted.push_back(built.input_gradients[i]);
    wanted_inputs.push_back(i);
  }
  std::vector<Slopes> slopes;
  for (const std::size_t input : wanted_inputs) slopes.push_back(measure_slopes(op_case, drawn, input, weights));
  for (const Place& place : places()) {
    const auto got = evaluate(*place.backend, *place.device, built.graph, graph_inputs, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      expect_gradient(op_case, slopes[i], to_array(got[i]),
                      fmt::format("{}, gradient of input {}", where(place), wanted_inputs[i]));
    }
  }
}

}  // namespace gpubench::support
