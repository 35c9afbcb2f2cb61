// Element-wise ops joined into one: a short program that a kernel runs for each element, so that what lies between the
// ops never reaches memory. One value is handed from step to step, so that it stays in a register; it is a float32
// whatever the types of the inputs, and rounded to the output's type once, at the end.
#pragma once
#include <optional>

#include "core/graph/op.h"
#include "core/math/functions.h"

namespace gpubench {

/// value = function(value), function(value, operand), or, reversed, function(operand, value).
struct ChainStep {
  math::Function function;
  int operand = -1;  ///< the input that is the other argument; -1: the function takes one
  bool reversed = false;
};

/// Where an input's elements go: element i of the output reads element (i / repeat) % period.
struct Stretch {
  std::int64_t repeat = 1;
  std::int64_t period = 1;

  bool operator==(const Stretch&) const = default;
};

/// Inputs of any type but bytes -> `dtype`, which is floating. The value starts as the first input. Made by a pass that
/// runs after autodiff, hence without a gradient.
class ElementwiseChain final : public Op {
 public:
  static constexpr std::size_t max_inputs = 8;
  static constexpr std::size_t max_steps = 16;

  /// `flops_of_element`: what the joined ops say.
  ElementwiseChain(std::vector<ChainStep> program, Dtype to, double flops_of_element)
      : steps(std::move(program)), dtype(to), flops_per_element(flops_of_element) {}
  std::string_view name() const override { return "elementwise_chain"; }
  /// "sub(#1, x) exp(x) dtype=float32"
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Alias> aliases() const override;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const std::vector<ChainStep> steps;
  const Dtype dtype;
  const double flops_per_element;
};

namespace ops {

/// The function that `op` applies, where it gives a float for floats.
std::optional<math::Function> function_of(const Op& op);
/// None where `from` stretches in more than one place between dimensions that it keeps.
std::optional<Stretch> stretch_of(const Shape& from, const Shape& to);

}  // namespace ops
}  // namespace gpubench
