#include "tests/support/op_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <ostream>
#include <set>

#include "core/backend/cpu/cpu_backend.h"
#include "core/graph/graph.h"
#include "tests/support/evaluate.h"

namespace gpubench::support {
namespace {

/// Elements per input whose derivative is measured: each costs two runs of the reference.
constexpr std::size_t probes = 48, probes_of_large = 4;
/// Outputs with more elements than this, which are there to be run on several threads, are probed at fewer places.
constexpr std::int64_t large = 5000;
/// Step of the central differences: their error is its square, the rounding of the reference divided by it.
constexpr double step = 1e-5;
/// How far from 0 the values of an interval around 0 stay, as a share of the interval.
constexpr double gap = 0.01;

std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    const char* const given = std::getenv("GPUBENCH_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::uint64_t{std::random_device{}()};
  }();
  return seed;
}

std::set<std::type_index>& covered_ops() {
  static std::set<std::type_index> ops;
  return ops;
}

struct Place {
  const Backend* backend;
  Device* device;
};

/// Every device of every backend that this machine can test: the CPU with one thread and with a team.
std::vector<Place> places() {
  static const std::array<CpuDeviceOptions, 2> options{CpuDeviceOptions{.memory = {}, .threads = 1},
                                                       CpuDeviceOptions{.memory = {}, .threads = 3}};
  static const CpuBackend cpu(options);
  std::vector<Place> result;
  for (const auto& device : cpu.devices()) result.push_back({&cpu, device.get()});
  return result;
}

double tolerance_of(const OpCase& op_case, Dtype dtype) {
  if (!is_floating(dtype)) return 0;
  if (op_case.tolerance != 0) return op_case.tolerance;
  return dtype == Dtype::f32 ? 1e-5 : dtype == Dtype::f16 ? 2e-3 : 1.6e-2;
}

/// Values of all floating inputs of a case: the middles of equal parts of the interval, jittered and shuffled.
class Spread {
 public:
  Spread(std::size_t count, std::mt19937_64& random) : parts_(count) {
    std::uniform_real_distribution<double> jitter(0.25, 0.75);
    for (std::size_t i = 0; i < count; ++i) {
      parts_[i] = (static_cast<double>(i) + jitter(random)) / static_cast<double>(count);
    }
    std::shuffle(parts_.begin(), parts_.end(), random);
  }
  double next(double low, double high) {
    const double value = low + (high - low) * parts_[used_++];
    if (low >= 0 || high <= 0) return value;
    return value + std::copysign(gap * (high - low), value) * (1 - std::abs(value) / std::max(-low, high));
  }

 private:
  std::vector<double> parts_;
  std::size_t used_ = 0;
};

void draw_integers(const CaseInput& input, Array& array, std::mt19937_64& random) {
  std::uniform_int_distribution<std::int64_t> uniform(static_cast<std::int64_t>(input.low),
                                                      static_cast<std::int64_t>(input.high));
  std::bernoulli_distribution coin;
  for (double& value : array.values) {
    value =
        input.type.dtype == Dtype::boolean ? static_cast<double>(coin(random)) : static_cast<double>(uniform(random));
  }
}

std::vector<HostTensor> draw_inputs(const OpCase& op_case, std::mt19937_64& random) {
  std::size_t floating = 0;
  for (const CaseInput& input : op_case.inputs) {
    if (is_floating(input.type.dtype)) floating += static_cast<std::size_t>(input.type.elements());
  }
  Spread spread(floating, random);
  std::vector<HostTensor> tensors;
  for (const CaseInput& input : op_case.inputs) {
    Array array(input.type);
    if (is_floating(input.type.dtype)) {
      for (double& value : array.values) value = spread.next(input.low, input.high);
    } else {
      draw_integers(input, array, random);
    }
    if (input.fill) input.fill(array, random);
    tensors.push_back(to_tensor(array));
  }
  return tensors;
}

std::vector<Array> run_reference(const OpCase& op_case, const std::vector<Array>& inputs) {
  std::vector<TensorType> types;
  for (const Array& input : inputs) types.push_back(input.type);
  std::vector<Array> outputs;
  for (TensorType& type : op_case.op->infer(types)) outputs.emplace_back(std::move(type));
  op_case.reference(inputs, outputs);
  return outputs;
}

/// What the tests of one case share: its random inputs, as kernels and as the reference see them.
struct Drawn {
  explicit Drawn(const OpCase& op_case) : random(run_seed()), tensors(draw_inputs(op_case, random)) {
    for (const HostTensor& tensor : tensors) arrays.push_back(to_array(tensor));
  }
  std::mt19937_64 random;
  std::vector<HostTensor> tensors;
  std::vector<Array> arrays;
};

std::string where(const Place& place) {
  return fmt::format("{} with {}, GPUBENCH_TEST_SEED={}", to_string(place.device->id()), place.device->description(),
                     run_seed());
}

void expect_close(const Array& got, const Array& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double scale = 0;
  for (const double value : want.values) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  for (std::int64_t i = 0; i < want.size(); ++i) {
    const bool same = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]));
    if (same || std::abs(got[i] - want[i]) <= tolerance * scale) continue;
    ADD_FAILURE() << what << ": element " << i << " of " << to_string(want.type) << " is " << got[i] << ", expected "
                  << want[i] << " within " << tolerance << " of " << scale;
    return;
  }
}

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
    result.output_gradients.push_back(is_floating(type.dtype) ? graph.input(type, "gradient") : Value{});
  }
  const bool reached = std::any_of(result.output_gradients.begin(), result.output_gradients.end(),
                                   [](Value value) { return static_cast<bool>(value); });
  result.input_gradients.resize(inputs.size());
  if (reached) result.input_gradients = op_case.op->gradient(graph, inputs, outputs, result.output_gradients);
  return result;
}

/// d (sum of weights * outputs) / d (element of an input), by the reference.
double central_difference(const OpCase& op_case, std::vector<Array>& inputs, std::size_t input, std::int64_t element,
                          const std::vector<Array>& weights) {
  const auto loss = [&] {
    double sum = 0;
    const std::vector<Array> outputs = run_reference(op_case, inputs);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      for (std::int64_t i = 0; i < weights[o].size(); ++i) sum += weights[o][i] * outputs[o][i];
    }
    return sum;
  };
  double& value = inputs[input][element];
  const double before = value;
  value = before + step;
  const double above = loss();
  value = before - step;
  const double below = loss();
  value = before;
  return (above - below) / (2 * step);
}

void expect_gradient(const OpCase& op_case, Drawn& drawn, std::size_t input, const Array& got,
                     const std::vector<Array>& weights, const std::string& what) {
  std::vector<std::int64_t> elements(static_cast<std::size_t>(got.size()));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::int64_t>(i);
  std::shuffle(elements.begin(), elements.end(), drawn.random);
  std::int64_t outputs = 0;
  for (const Array& weight : weights) outputs += weight.size();
  elements.resize(std::min(elements.size(), outputs > large || got.size() > large ? probes_of_large : probes));
  const TensorType probed{{static_cast<std::int64_t>(elements.size())}, got.type.dtype};
  Array numeric(probed), analytic(probed);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    numeric.values[i] = central_difference(op_case, drawn.arrays, input, elements[i], weights);
    analytic.values[i] = got[elements[i]];
  }
  expect_close(analytic, numeric, 10 * tolerance_of(op_case, got.type.dtype),
               fmt::format("{}, gradient of input {}", what, input));
}

}  // namespace

void one_hot_rows(Array& array, std::mt19937_64& random) {
  const std::int64_t width = array.type.shape.back();
  std::uniform_int_distribution<std::int64_t> uniform(0, width - 1);
  std::fill(array.values.begin(), array.values.end(), 0.0);
  for (std::int64_t row = 0; row < array.size(); row += width) array[row + uniform(random)] = 1;
}

void probability_rows(Array& array, std::mt19937_64& random) {
  const std::int64_t width = array.type.shape.back();
  std::uniform_real_distribution<double> uniform(0.2, 1.0);
  for (std::int64_t row = 0; row < array.size(); row += width) {
    double sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += array[row + i] = uniform(random);
    for (std::int64_t i = 0; i < width; ++i) array[row + i] /= sum;
  }
}

void whole_numbers(Array& array, std::mt19937_64&) {
  for (double& value : array.values) value = std::round(value);
}

void check_forward(const OpCase& op_case) {
  const Drawn drawn(op_case);
  const std::vector<Array> want = run_reference(op_case, drawn.arrays);
  for (const Place& place : places()) {
    const std::vector<HostTensor> got = evaluate(*place.backend, *place.device, *op_case.op, drawn.tensors);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      expect_close(to_array(got[i]), want[i], tolerance_of(op_case, want[i].type.dtype),
                   fmt::format("output {} on {}", i, where(place)));
    }
  }
}

void check_in_place(const OpCase& op_case) {
  const Drawn drawn(op_case);
  for (const Place& place : places()) {
    const std::vector<HostTensor> fresh = evaluate(*place.backend, *place.device, *op_case.op, drawn.tensors);
    for (const Alias& alias : op_case.op->aliases()) {
      const auto output = static_cast<std::size_t>(alias.output), input = static_cast<std::size_t>(alias.input);
      const bool possible = alias.kind == Alias::Kind::may_overwrite &&
                            fresh[output].type() == drawn.tensors[input].type();  // a stretched input is too small
      if (!possible) continue;
      const auto over = evaluate(*place.backend, *place.device, *op_case.op, drawn.tensors, &alias);
      for (std::size_t i = 0; i < fresh.size(); ++i) {
        EXPECT_EQ(std::memcmp(over[i].data(), fresh[i].data(), fresh[i].bytes()), 0)
            << "output " << i << " differs when output " << output << " takes the memory of input " << input << " on "
            << where(place);
      }
    }
  }
}

void check_gradient(const OpCase& op_case) {
  const GradientGraph built = build_gradient(op_case);
  if (!op_case.differentiable) {
    for (const Value value : built.input_gradients) EXPECT_FALSE(value) << "a gradient that the case does not expect";
    return;
  }
  Drawn drawn(op_case);
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
  for (const Place& place : places()) {
    const auto got = evaluate(*place.backend, *place.device, built.graph, graph_inputs, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      expect_gradient(op_case, drawn, wanted_inputs[i], to_array(got[i]), weights, where(place));
    }
  }
}

bool cover(const std::vector<OpCase>& cases) {
  for (const OpCase& op_case : cases) {
    const Op& op = *op_case.op;
    covered_ops().insert(typeid(op));
  }
  return true;
}

bool is_covered(std::type_index op) {
  return covered_ops().contains(op);
}

void PrintTo(const OpCase& op_case, std::ostream* out) {
  *out << op_case.op->name() << " " << op_case.op->attributes();
}

std::string case_name(const testing::TestParamInfo<OpCase>& info) {
  return info.param.name;
}

TEST_P(OpCaseTest, Holds) {
  {
    SCOPED_TRACE("kernel against plain loops");
    check_forward(GetParam());
  }
  {
    SCOPED_TRACE("in place against fresh memory");
    check_in_place(GetParam());
  }
  {
    SCOPED_TRACE("gradient against central differences");
    check_gradient(GetParam());
  }
}

}  // namespace gpubench::support
