#include "core/ops/recurrent.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/base/error.h"
#include "tests/support/op_case.h"

namespace gpubench::recurrent_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;
using testing::ThrowsMessage;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Calls body(turn, step, step before, row of the batch, unit); the step before the first is -1.
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

/// x or kernel, of which `column` is one.
double product(const Array& states, const Array& kernel, std::int64_t before, std::int64_t row, std::int64_t column) {
  double sum = 0;
  for (std::int64_t k = 0; before >= 0 && k < states.extent(2); ++k) {
    sum += states[(before * states.extent(1) + row) * states.extent(2) + k] * kernel[k * kernel.extent(1) + column];
  }
  return sum;
}

void forward(const RecurrentAttributes& options, std::span<const Array> in, std::span<Array> out) {
  const std::int64_t batch = out[0].extent(1), units = out[0].extent(2), gates = gates_of(options.cell);
  for_each_unit(
      options, out[0].type.shape, [&](std::int64_t step, std::int64_t before, std::int64_t row, std::int64_t u) {
        const std::int64_t at = (step * batch + row) * units + u, from = (before * batch + row) * units + u;
        const auto gate = [&](std::int64_t g) { return (step * batch + row) * gates * units + g * units + u; };
        const auto sum = [&](std::int64_t g) { return product(out[0], in[1], before, row, g * units + u); };
        if (options.cell == RecurrentCell::lstm) {
          for (std::int64_t g = 0; g < 4; ++g) {
            const double value = in[0][gate(g)] + sum(g);
            out[2][gate(g)] = g == 2 ? std::tanh(value) : sigmoid(value);
          }
          const double carried = before < 0 ? 0 : out[1][from];
          out[1][at] = out[2][gate(1)] * carried + out[2][gate(0)] * out[2][gate(2)];
          out[0][at] = out[2][gate(3)] * std::tanh(out[1][at]);
        } else {
          const double z = sigmoid(in[0][gate(0)] + sum(0)), r = sigmoid(in[0][gate(1)] + sum(1));
          out[1][at] = sum(2) + in[2][u];
          const double g = std::tanh(in[0][gate(2)] + r * out[1][at]);
          out[2][gate(0)] = z;
          out[2][gate(1)] = r;
          out[2][gate(2)] = g;
          out[0][at] = z * (before < 0 ? 0 : out[0][from]) + (1 - z) * g;
        }
      });
}

struct Sizes {
  std::int64_t steps, batch, units;
};

TensorType floats(Shape shape) {
  return {std::move(shape), Dtype::f32};
}

OpCase forward_case(std::string name, Sizes sizes, RecurrentAttributes options) {
  const std::int64_t width = gates_of(options.cell) * sizes.units;
  OpCase result{.name = std::move(name),
                .op = std::make_shared<const Recurrence>(options),
                .inputs = {CaseInput{.type = floats({sizes.steps, sizes.batch, width})},
                           CaseInput{.type = floats({sizes.units, width}), .low = -0.3, .high = 0.3}},
                .reference = [options](std::span<const Array> in, std::span<Array> out) { forward(options, in, out); },
                .saved_from = 1};
  if (options.cell == RecurrentCell::gru) result.inputs.push_back(CaseInput{.type = floats({sizes.units})});
  return result;
}

/// By the chain rule, from the given states, memory and gates.
void backward(const RecurrentAttributes& options, std::span<const Array> in, std::span<Array> out) {
  const Array &kernel = in[0], &states = in[1], &memory = in[2], &gates = in[3], &dstates = in[4];
  const std::int64_t steps = states.extent(0), batch = states.extent(1), units = states.extent(2);
  const std::int64_t count = gates_of(options.cell), width = count * units;
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
          return turn == 0 ? 0.0 : from[(before * batch + row) * units + u];
        };
        const double d = dstates[at] + dh[i];
        if (options.cell == RecurrentCell::lstm) {
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
          const double d = sums[static_cast<std::size_t>(n)];
          sum += d * kernel[k * width + n];
          if (turn > 0) out[1][k * width + n] += states[(before * batch + row) * units + k] * d;
        }
        dh[static_cast<std::size_t>(row * units + k)] = sum;
      }
    }
  }
}

OpCase gradient_case(std::string name, Sizes sizes, RecurrentAttributes options) {
  const std::int64_t width = gates_of(options.cell) * sizes.units;
  const TensorType states = floats({sizes.steps, sizes.batch, sizes.units});
  return {.name = std::move(name),
          .op = std::make_shared<const RecurrenceGradient>(options),
          .inputs = {CaseInput{.type = floats({sizes.units, width}), .low = -0.3, .high = 0.3},
                     CaseInput{.type = states}, CaseInput{.type = states},
                     CaseInput{.type = floats({sizes.steps, sizes.batch, width}), .low = 0.1, .high = 0.9},
                     CaseInput{.type = states}},
          .reference = [options](std::span<const Array> in, std::span<Array> out) { backward(options, in, out); },
          .differentiable = false};
}

std::vector<OpCase> recurrent_cases() {
  std::vector<OpCase> cases;
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
    for (const bool backwards : {false, true}) {
      const RecurrentAttributes options{.cell = cell, .backwards = backwards};
      const std::string name = std::string(to_string(cell)) + (backwards ? "_backwards" : "");
      const auto add = [&](const std::string& suffix, Sizes sizes) {
        cases.push_back(forward_case(name + suffix, sizes, options));
        cases.push_back(gradient_case(name + suffix + "_gradient", sizes, options));
      };
      add("", {4, 3, 5});
      if (backwards) continue;
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
  EXPECT_THAT(
      [&] {
        ops::recurrence(graph, value({4, 2, 12}), value({3, 9}), {}, lstm);
      },
      ThrowsMessage<Error>("recurrence: the kernel must be float32[3, 12], got float32[3, 9]"));
  EXPECT_THAT(
      [&] {
        ops::recurrence(graph, value({4, 2, 9}), value({3, 12}), {}, lstm);
      },
      ThrowsMessage<Error>("recurrence: the input must be float32[4, 2, 12], got float32[4, 2, 9]"));
  EXPECT_THAT(
      [&] {
        ops::recurrence(graph, value({4, 2, 9}), value({3, 9}), value({4}), gru);
      },
      ThrowsMessage<Error>("recurrence: the bias must be float32[3], got float32[4]"));
  EXPECT_THAT(
      [&] {
        ops::recurrence(graph, value({0, 2, 12}), value({3, 12}), {}, lstm);
      },
      ThrowsMessage<Error>("recurrence: float32[0, 2, 12] has no steps"));
}

TEST(RecurrentTest, TheFirstStepHasNoProduct) {
  const Recurrence op({.cell = RecurrentCell::lstm});
  const std::vector<TensorType> inputs = {floats({10, 2, 12}), floats({3, 12})};
  EXPECT_EQ(op.flops(inputs, op.infer(inputs)), 2.0 * 9 * 2 * 3 * 12 + 22.0 * 10 * 2 * 3);
}

}  // namespace
}  // namespace gpubench::recurrent_test
