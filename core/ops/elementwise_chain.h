// Several element-wise ops as one: a short program that a kernel runs for each element, so that intermediate values
// never reach memory. A single value is passed from step to step in a register; it is float32 for all input types, and
// is rounded to the output's type once, at the end.
#pragma once
#include <optional>

#include "core/graph/op.h"
#include "core/math/functions.h"

namespace gpubench {

/// value = function(value), function(value, operand), or, reversed, function(operand, value).
struct ChainStep {
  math::Function function;
  int operand = -1;  ///< index of the other argument's input; -1: the function has one argument
  bool reversed = false;
};

/// How an input is broadcast: element i of the output reads element (i / repeat) % period.
struct Stretch {
  std::int64_t repeat = 1;
  std::int64_t period = 1;

  bool operator==(const Stretch&) const = default;
};

/// Inputs of any type but bytes -> `dtype`, which is floating. The value starts as the first input. Created by a pass
/// after autodiff, so it has no gradient.
class ElementwiseChain final : public Op {
 public:
  static constexpr std::size_t max_inputs = 8;
  static constexpr std::size_t max_steps = 16;

  /// `flops_of_element`: sum over the joined ops.
  ElementwiseChain(std::vector<ChainStep> program, Dtype to, double flops_of_element)
      : steps(std::move(program)), dtype(to), flops_per_element(flops_of_element) {}
  std::string_view name() const override { return "elementwise_chain"; }
  /// "sub(#1, x) exp(x) dtype=float32"
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const std::vector<ChainStep> steps;
  const Dtype dtype;
  const double flops_per_element;
};

namespace ops {

/// The function of `op`, if it maps floats to float.
std::optional<math::Function> function_of(const Op& op);
/// None if `from` is broadcast at several places between dimensions that it keeps.
std::optional<Stretch> stretch_of(const Shape& from, const Shape& to);

}  // namespace ops
}  // namespace gpubench
