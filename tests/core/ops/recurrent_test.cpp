#include "core/ops/recurrent.h"

#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::recurrent_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Calls body(step, step before, row of the batch, unit); the step before the first is -1.
template <class Body>
void for_each_unit(const RecurrentAttributes& options, const Shape& states, const Body& body) {
  for (std::int64_t turn = 0; turn < states[0]; ++turn) {
    const std::int64_t step = options.backwards ? states[0] - 1 - turn : turn;
    const std::int64_t before = turn == 0 ? -1 : (options.backwards ? step + 1 : step - 1);
    for (std::int64_t row = 0; row < states[1]; ++row) {
      for (std::int64_t unit = 0; unit < states[2]; ++unit) body(step, before, row, unit);
    }
  }
}

/// The extras of a case, and what follows from them.
struct Extras {
  Extras(const RecurrentAttributes& options, std::span<const Array> in, std::size_t own)
      : given(options, in.subspan(own)), gates(gates_of(options.cell)), by_gates(options.dropout) {}

  bool masked(std::int64_t step, std::int64_t row) const {
    return given.mask != nullptr && (*given.mask)[step * given.mask->extent(1) + row] == 0;
  }
  /// Of one unit of the state before in the product of a gate.
  double factor(std::int64_t row, std::int64_t gate, std::int64_t unit, std::int64_t units) const {
    return given.factors == nullptr ? 1 : (*given.factors)[(row * gates + gate) * units + unit];
  }
  /// The state or the memory before the step `before` + 1, 0 if there is none.
  double carried(const Array& all, const Array* initial, std::int64_t before, std::int64_t row,
                 std::int64_t unit) const {
    const std::int64_t batch = all.extent(1), units = all.extent(2);
    if (before >= 0) return all[(before * batch + row) * units + unit];
    return initial == nullptr ? 0 : (*initial)[row * units + unit];
  }
  std::int64_t weight(std::int64_t from, std::int64_t gate, std::int64_t unit, std::int64_t units) const {
    return by_gates ? (gate * units + from) * units + unit : (from * gates + gate) * units + unit;
  }

  RecurrentExtras<Array> given;
  std::int64_t gates;
  bool by_gates;
};

/// The product of the state before with the column of a gate's unit.
double product(const Array& states, const Array& kernel, const Extras& extras, std::int64_t before, std::int64_t row,
               std::int64_t gate, std::int64_t unit) {
  const std::int64_t units = states.extent(2);
  double sum = 0;
  for (std::int64_t k = 0; k < units; ++k) {
    sum += extras.carried(states, extras.given.state, before, row, k) * extras.factor(row, gate, k, units) *
           kernel[extras.weight(k, gate, unit, units)];
  }
  return sum;
}

void forward(const RecurrentAttributes& options, std::span<const Array> in, std::span<Array> out) {
  const std::int64_t batch = out[0].extent(1), units = out[0].extent(2), gates = gates_of(options.cell);
  const Extras extras(options, in, own_inputs(options.cell));
  for_each_unit(
      options, out[0].type.shape, [&](std::int64_t step, std::int64_t before, std::int64_t row, std::int64_t u) {
        const std::int64_t at = (step * batch + row) * units + u;
        const double state = extras.carried(out[0], extras.given.state, before, row, u);
        const auto gate = [&](std::int64_t g) { return (step * batch + row) * gates * units + g * units + u; };
        const auto sum = [&](std::int64_t g) { return product(out[0], in[1], extras, before, row, g, u); };
        if (extras.masked(step, row)) {
          out[0][at] = state;
          if (options.cell == RecurrentCell::lstm) {
            out[1][at] = extras.carried(out[1], extras.given.memory, before, row, u);
          }
        } else if (options.cell == RecurrentCell::lstm) {
          for (std::int64_t g = 0; g < 4; ++g) {
            const double value = in[0][gate(g)] + sum(g);
            out[2][gate(g)] = g == 2 ? std::tanh(value) : sigmoid(value);
          }
          const double carried = extras.carried(out[1], extras.given.memory, before, row, u);
          out[1][at] = out[2][gate(1)] * carried + out[2][gate(0)] * out[2][gate(2)];
          out[0][at] = out[2][gate(3)] * std::tanh(out[1][at]);
        } else {
          const double z = sigmoid(in[0][gate(0)] + sum(0)), r = sigmoid(in[0][gate(1)] + sum(1));
          out[1][at] = sum(2) + in[2][u];
          const double g = std::tanh(in[0][gate(2)] + r * out[1][at]);
          out[2][gate(0)] = z;
          out[2][gate(1)] = r;
          out[2][gate(2)] = g;
          out[0][at] = z * state + (1 - z) * g;
        }
      });
}

struct Sizes {
  std::int64_t steps, batch, units;
};

TensorType floats(Shape shape) {
  return {std::move(shape), Dtype::f32};
}

/// Adds those that the attributes ask for.
void add_extras(std::vector<CaseInput>& inputs, const Sizes& sizes, const RecurrentAttributes& options) {
  if (options.dropout) {
    inputs.push_back(CaseInput{.type = floats({sizes.batch, gates_of(options.cell) * sizes.units}),
                               .gradient = false,
                               .fill = [](Array& factors, std::mt19937_64& random) {
                                 for (double& factor : factors.values) factor = random() % 4 == 0 ? 0 : 1.5;
                               }});
  }
  if (options.masked) inputs.push_back(CaseInput{.type = {{sizes.steps, sizes.batch}, Dtype::boolean}});
  const std::size_t states = !options.initial ? 0 : options.cell == RecurrentCell::lstm ? 2 : 1;
  for (std::size_t i = 0; i < states; ++i) inputs.push_back(CaseInput{.type = floats({sizes.batch, sizes.units})});
  if (options.of_memory) inputs.push_back(CaseInput{.type = floats({sizes.steps, sizes.batch, sizes.units})});
}

TensorType kernel_type(const Sizes& sizes, const RecurrentAttributes& options) {
  const std::int64_t gates = gates_of(options.cell);
  return floats(options.dropout ? Shape{gates, sizes.units, sizes.units} : Shape{sizes.units, gates * sizes.units});
}

OpCase forward_case(std::string name, Sizes sizes, RecurrentAttributes options) {
  const std::int64_t width = gates_of(options.cell) * sizes.units;
  OpCase result{.name = std::move(name),
                .op = std::make_shared<const Recurrence>(options),
                .inputs = {CaseInput{.type = floats({sizes.steps, sizes.batch, width})},
                           CaseInput{.type = kernel_type(sizes, options), .low = -0.3, .high = 0.3}},
                .reference = [options](std::span<const Array> in, std::span<Array> out) { forward(options, in, out); },
                .saved_from = options.cell == RecurrentCell::lstm ? 2U : 1U};
  if (options.cell == RecurrentCell::gru) result.inputs.push_back(CaseInput{.type = floats({sizes.units})});
  add_extras(result.inputs, sizes, options);
  return result;
}

/// By the chain rule, from the given states, memory and gates.
void backward(const RecurrentAttributes& options, std::span<const Array> in, std::span<Array> out) {
  const Array &kernel = in[0], &states = in[1], &memory = in[2], &gates = in[3], &dstates = in[4];
  const std::int64_t steps = states.extent(0), batch = states.extent(1), units = states.extent(2);
  const std::int64_t count = gates_of(options.cell), width = count * units;
  const Extras extras(options, in, 5);
  std::vector<double> dh(static_cast<std::size_t>(batch * units)), dc(dh.size());
  for (std::int64_t turn = steps - 1; turn >= 0; --turn) {
    const std::int64_t step = options.backwards ? steps - 1 - turn : turn;
    const std::int64_t before = options.backwards ? step + 1 : step - 1;
    for (std::int64_t row = 0; row < batch; ++row) {
      std::vector<double> sums(static_cast<std::size_t>(width)), carried(static_cast<std::size_t>(units));
      for (std::int64_t u = 0; u < units; ++u) {
        const std::int64_t at = (step * batch + row) * units + u;
        const auto i = static_cast<std::size_t>(row * units + u), unit = static_cast<std::size_t>(u);
        const auto part = [&](std::int64_t g) { return static_cast<std::size_t>(g * units + u); };
        const auto of = [&](std::int64_t g) { return gates[(step * batch + row) * width + g * units + u]; };
        const auto previous = [&](const Array& from) {
          const Array* const initial = &from == &memory ? extras.given.memory : extras.given.state;
          return extras.carried(from, initial, turn == 0 ? -1 : before, row, u);
        };
        if (extras.given.dmemory != nullptr) dc[i] += (*extras.given.dmemory)[at];
        const double d = dstates[at] + dh[i];
        if (extras.masked(step, row)) {
          carried[unit] = d;
        } else if (options.cell == RecurrentCell::lstm) {
          const double tanh_c = std::tanh(memory[at]);
          dc[i] += d * of(3) * (1 - tanh_c * tanh_c);
          sums[part(0)] = dc[i] * of(2) * of(0) * (1 - of(0));
          sums[part(1)] = dc[i] * previous(memory) * of(1) * (1 - of(1));
          sums[part(2)] = dc[i] * of(0) * (1 - of(2) * of(2));
          sums[part(3)] = d * tanh_c * of(3) * (1 - of(3));
          dc[i] *= of(1);
          for (std::int64_t g = 0; g < 4; ++g) out[0][(step * batch + row) * width + g * units + u] = sums[part(g)];
        } else {
          const double dg = d * (1 - of(0)) * (1 - of(2) * of(2));
          sums[part(0)] = d * (previous(states) - of(2)) * of(0) * (1 - of(0));
          sums[part(1)] = dg * memory[at] * of(1) * (1 - of(1));
          sums[part(2)] = dg * of(1);
          carried[unit] = d * of(0);
          for (std::int64_t g = 0; g < 3; ++g) {
            out[0][(step * batch + row) * width + g * units + u] = g == 2 ? dg : sums[part(g)];
          }
          out[2][u] += sums[part(2)];
        }
      }
      for (std::int64_t k = 0; k < units; ++k) {
        double sum = carried[static_cast<std::size_t>(k)];
        for (std::int64_t n = 0; n < width; ++n) {
          const std::int64_t weight = extras.weight(k, n / units, n % units, units);
          const double d = sums[static_cast<std::size_t>(n)] * extras.factor(row, n / units, k, units);
          sum += d * kernel[weight];
          out[1][weight] += extras.carried(states, extras.given.state, turn == 0 ? -1 : before, row, k) * d;
        }
        dh[static_cast<std::size_t>(row * units + k)] = sum;
      }
    }
  }
  const std::size_t own = options.cell == RecurrentCell::gru ? 3 : 2;
  for (std::size_t i = 0; options.initial && i < dh.size(); ++i) {
    out[own].values[i] = dh[i];
    if (options.cell == RecurrentCell::lstm) out[own + 1].values[i] = dc[i];
  }
}

OpCase gradient_case(std::string name, Sizes sizes, RecurrentAttributes options) {
  const std::int64_t width = gates_of(options.cell) * sizes.units;
  const TensorType states = floats({sizes.steps, sizes.batch, sizes.units});
  OpCase result{.name = std::move(name),
                .op = std::make_shared<const RecurrenceGradient>(options),
                .inputs = {CaseInput{.type = kernel_type(sizes, options), .low = -0.3, .high = 0.3},
                           CaseInput{.type = states}, CaseInput{.type = states},
                           CaseInput{.type = floats({sizes.steps, sizes.batch, width}), .low = 0.1, .high = 0.9},
                           CaseInput{.type = states}},
                .reference = [options](std::span<const Array> in, std::span<Array> out) { backward(options, in, out); },
                .differentiable = false};
  add_extras(result.inputs, sizes, options);
  return result;
}

std::vector<OpCase> recurrent_cases() {
  std::vector<OpCase> cases;
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
    for (const unsigned flags : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 10U, 12U, 15U}) {
      const RecurrentAttributes options{.cell = cell,
                                        .backwards = (flags & 1U) != 0,
                                        .dropout = (flags & 2U) != 0,
                                        .masked = (flags & 4U) != 0,
                                        .initial = (flags & 8U) != 0};
      const std::string name = std::string(to_string(cell)) + (options.backwards ? "_backwards" : "") +
                               (options.dropout ? "_dropped" : "") + (options.masked ? "_masked" : "") +
                               (options.initial ? "_initial" : "");
      const auto add = [&](const std::string& suffix, Sizes sizes) {
        cases.push_back(forward_case(name + suffix, sizes, options));
        cases.push_back(gradient_case(name + suffix + "_gradient", sizes, options));
        if (cell != RecurrentCell::lstm || (flags != 0 && flags != 8 && flags != 15)) return;
        RecurrentAttributes of_memory = options;
        of_memory.of_memory = true;
        cases.push_back(gradient_case(name + suffix + "_memory_gradient", sizes, of_memory));
      };
      add("", {4, 3, 5});
      if (options.backwards) continue;
      add("_one_step", {1, 2, 3});
      add("_vectors", {3, 5, 32});
      add("_on_threads", {3, 19, 70});
    }
  }
  return cases;
}

GPUBENCH_OP_CASES(Recurrent, recurrent_cases);

TEST(RecurrentTest, RefusesWhatDoesNotFit) {
  Graph graph;
  const auto value = [&](Shape shape) { return graph.input(floats(std::move(shape)), "x"); };
  const RecurrentAttributes lstm{.cell = RecurrentCell::lstm}, gru{.cell = RecurrentCell::gru};
  EXPECT_ERROR("recurrence: the kernel must be float32[3, 12], got float32[3, 9]",
               ops::recurrence(graph, {.x = value({4, 2, 12}), .kernel = value({3, 9})}, lstm));
  EXPECT_ERROR("recurrence: the input must be float32[4, 2, 12], got float32[4, 2, 9]",
               ops::recurrence(graph, {.x = value({4, 2, 9}), .kernel = value({3, 12})}, lstm));
  EXPECT_ERROR("recurrence: the bias must be float32[3], got float32[4]",
               ops::recurrence(graph, {.x = value({4, 2, 9}), .kernel = value({3, 9}), .bias = value({4})}, gru));
  EXPECT_ERROR("recurrence: float32[0, 2, 12] has no steps",
               ops::recurrence(graph, {.x = value({0, 2, 12}), .kernel = value({3, 12})}, lstm));
  const ops::RecurrentInputs dropped{.x = value({4, 2, 12}), .kernel = value({4, 3, 3}), .factors = value({2, 3})};
  EXPECT_ERROR("recurrence: the dropout's factors must be float32[2, 12], got float32[2, 3]",
               ops::recurrence(graph, dropped, lstm));
  const ops::RecurrentInputs masked{.x = value({4, 2, 12}), .kernel = value({3, 12}), .mask = value({4, 2})};
  EXPECT_ERROR("recurrence: the mask must be bool[4, 2], got float32[4, 2]", ops::recurrence(graph, masked, lstm));
  const ops::RecurrentInputs begun{
      .x = value({4, 2, 12}), .kernel = value({3, 12}), .state = value({2, 3}), .memory = value({1, 3})};
  EXPECT_ERROR("recurrence: the initial memory must be float32[2, 3], got float32[1, 3]",
               ops::recurrence(graph, begun, lstm));
}

TEST(RecurrentTest, TheFirstStepHasNoProduct) {
  const Recurrence op({.cell = RecurrentCell::lstm});
  const std::vector<TensorType> inputs = {floats({10, 2, 12}), floats({3, 12})};
  EXPECT_EQ(op.flops(inputs, op.infer(inputs)), 2.0 * 9 * 2 * 3 * 12 + 22.0 * 10 * 2 * 3);
  const Recurrence begun({.cell = RecurrentCell::lstm, .initial = true});
  const std::vector<TensorType> more = {inputs[0], inputs[1], floats({2, 3}), floats({2, 3})};
  EXPECT_EQ(begun.flops(more, begun.infer(more)), 2.0 * 10 * 2 * 3 * 12 + 22.0 * 10 * 2 * 3);
}

}  // namespace
}  // namespace gpubench::recurrent_test
