// Random numbers as a pure function of (seed, step, element): Philox4x32-10. A dropout mask is not stored for the
// backward pass but recomputed; the step is an input on the device, so that a captured graph never changes. Steps
// int64[k] stand for k parts along the result's first dimension; each part draws as it would alone in its step.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

/// Its last input is the step.
class RandomOp : public Op {
 public:
  /// Each element of a block draws by its own step.
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;
};

/// One of two ops that drop the same elements: x, step int64[] or int64[k] -> x where kept, scaled by 1 / (1 - rate),
/// else 0. `first`: if x is a part of the rows of a larger tensor, the index of its first element there, so that all
/// partitions draw the same.
class DropoutMask : public RandomOp {
 public:
  /// 0 <= rate < 1 and first >= 0; throws Error otherwise.
  DropoutMask(double probability, std::uint64_t of, std::int64_t from = 0);
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }

  const double rate;
  const std::uint64_t seed;
  const std::int64_t first;
};

/// x, step -> y
class Dropout final : public DropoutMask {
 public:
  using DropoutMask::DropoutMask;
  std::string_view name() const override { return "dropout"; }
};

/// dy, step -> dx with the mask that Dropout used in that step.
class DropoutGradient final : public DropoutMask {
 public:
  using DropoutMask::DropoutMask;
  std::string_view name() const override { return "dropout_gradient"; }
};

/// step int64[] -> float32 of `shape`, int64[k] -> [k, shape...], uniform in [low, high).
class RandomUniform final : public RandomOp {
 public:
  RandomUniform(Shape of, double from, double to, std::uint64_t key)
      : shape(std::move(of)), low(from), high(to), seed(key) {}
  std::string_view name() const override { return "random_uniform"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;

  const Shape shape;
  const double low, high;
  const std::uint64_t seed;
};

/// step int64[] -> float32 of `shape`, int64[k] -> [k, shape...], normally distributed (Box-Muller).
class RandomNormal final : public RandomOp {
 public:
  RandomNormal(Shape of, double center, double deviation, std::uint64_t key)
      : shape(std::move(of)), mean(center), stddev(deviation), seed(key) {}
  std::string_view name() const override { return "random_normal"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;

  const Shape shape;
  const double mean, stddev;
  const std::uint64_t seed;
};

namespace ops {

Value dropout(Graph& graph, Value x, Value step, double rate, std::uint64_t seed, std::int64_t first = 0);
Value random_uniform(Graph& graph, Value step, Shape shape, double low, double high, std::uint64_t seed);
Value random_normal(Graph& graph, Value step, Shape shape, double mean, double stddev, std::uint64_t seed);

}  // namespace ops
}  // namespace gpubench
