// Cases of updates: variables of several shapes, with their gradients and slots, updated element by element.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/ops/optimizer.h"
#include "tests/support/op_case.h"

namespace gpubench::optimizer_test {

using support::Array;
using support::CaseInput;
using support::OpCase;

/// Variables of these shapes: none a multiple of a vector, one that spans threads.
inline const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{{33, 7}, {7}, {}, {130, 901}, {0}, {17}};
  return all;
}

/// A state's lowest and highest value.
struct Range {
  double low, high;
};

/// The variables, their gradients and one group per slot.
inline std::vector<CaseInput> groups(std::vector<CaseInput> leading, std::initializer_list<Range> slots) {
  std::vector<Range> ranges{{-1, 1}, {-1, 1}};
  ranges.insert(ranges.end(), slots);
  for (const Range range : ranges) {
    for (const Shape& shape : shapes()) leading.push_back({{shape, Dtype::f32}, range.low, range.high});
  }
  return leading;
}

/// One element's variable and slots, updated by its gradient.
using Update = std::function<void(double learning_rate, double step, double& w, double g, double* slots)>;

inline OpCase update_case(std::string name, const std::shared_ptr<const OptimizerUpdate>& op,
                          std::vector<CaseInput> inputs, Update update) {
  return {.name = std::move(name),
          .op = op,
          .inputs = std::move(inputs),
          .reference =
              [op, update = std::move(update)](std::span<const Array> in, std::span<Array> out) {
                const auto first = static_cast<std::size_t>(op->leading()), n = shapes().size();
                const double step = op->counts_steps() ? in[1][0] : 0;
                for (std::size_t variable = 0; variable < n; ++variable) {
                  for (std::int64_t i = 0; i < in[first + variable].size(); ++i) {
                    double w = in[first + variable][i];
                    std::array<double, 3> slots{};
                    for (int s = 0; s < op->slots(); ++s) {
                      slots[static_cast<std::size_t>(s)] =
                          in[first + (2 + static_cast<std::size_t>(s)) * n + variable][i];
                    }
                    update(in[0][0], step, w, in[first + n + variable][i], slots.data());
                    out[variable][i] = w;
                    for (int s = 0; s < op->slots(); ++s) {
                      out[(1 + static_cast<std::size_t>(s)) * n + variable][i] = slots[static_cast<std::size_t>(s)];
                    }
                  }
                }
              },
          .differentiable = false,
          .least_scale = 1};
}

inline const CaseInput rate{{{}, Dtype::f32}, 0.01, 0.1};
inline const CaseInput step{{{}, Dtype::i64}, 1, 30};

/// The case with limits for its gradients: of each norm, the squares of which differ from variable to variable.
inline OpCase clipped(OpCase op_case, std::string name, const std::shared_ptr<const OptimizerUpdate>& op) {
  op_case.name = std::move(name);
  op_case.op = op;
  const GradientClip clip = op->clip;
  const auto squares = static_cast<std::size_t>(op->squares_input()), n = shapes().size();
  if (op->limits_norm()) {
    const Shape shape = clip.global ? Shape{} : Shape{static_cast<std::int64_t>(n)};
    op_case.inputs.insert(op_case.inputs.begin() + op->squares_input(), {{shape, Dtype::f32}, 0.01, 4});
  }
  op_case.reference = [op, clip, squares, n, update = op_case.reference](std::span<const Array> in,
                                                                         std::span<Array> out) {
    std::vector<Array> others(in.begin(), in.end());
    if (op->limits_norm()) others.erase(others.begin() + op->squares_input());
    const std::size_t first = static_cast<std::size_t>(op->leading()) - (op->limits_norm() ? 1 : 0) + n;
    for (std::size_t variable = 0; variable < n; ++variable) {
      double factor = 1;
      if (op->limits_norm()) {
        const double norm = std::sqrt(in[squares][clip.global ? 0 : static_cast<std::int64_t>(variable)]);
        factor = clip.norm / std::max(norm, clip.norm);
      }
      for (double& g : others[first + variable].values) g = std::clamp(factor * g, -clip.value, clip.value);
    }
    update(others, out);
  };
  return op_case;
}

/// The case of `op` with a flag behind its other scalars.
inline OpCase with_flag(OpCase op_case, const std::shared_ptr<const OptimizerUpdate>& op, bool skipped) {
  const auto flag = op->leading() - 1;
  op_case.name += skipped ? "_skipped" : "_not_skipped";
  op_case.op = op;
  op_case.inputs.insert(op_case.inputs.begin() + flag,
                        {.type = {{}, Dtype::boolean},
                         .fill = [skipped](Array& array, std::mt19937_64&) { array[0] = skipped ? 1 : 0; }});
  op_case.reference = [op, flag, skipped, update = op_case.reference](std::span<const Array> in, std::span<Array> out) {
    std::vector<Array> others(in.begin(), in.end());
    others.erase(others.begin() + flag);
    if (!skipped) update(others, out);
    if (!skipped) return;
    for (const Alias& alias : op->aliases()) {
      out[static_cast<std::size_t>(alias.output)].values = in[static_cast<std::size_t>(alias.input)].values;
    }
  };
  return op_case;
}

/// The same with variables, gradients and slots of another type; the learning rate stays float32.
inline OpCase in(Dtype dtype, OpCase op_case) {
  const auto leading = static_cast<std::size_t>(dynamic_cast<const OptimizerUpdate&>(*op_case.op).leading());
  for (std::size_t i = leading; i < op_case.inputs.size(); ++i) op_case.inputs[i].type.dtype = dtype;
  return op_case;
}

}  // namespace gpubench::optimizer_test
