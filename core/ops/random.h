// Random numbers as a pure function of (seed, step, element): Philox4x32-10. A mask is not stored for the backward
// pass, it is computed again; the step is an input on the device, so that a captured graph never changes.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

/// x, step int64[] -> x where kept, scaled by 1 / (1 - rate), else 0.
class Dropout final : public Op {
 public:
  /// 0 <= rate < 1; throws Error otherwise.
  Dropout(double probability, std::uint64_t of);
  std::string_view name() const override { return "dropout"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }

  const double rate;
  const std::uint64_t seed;
};

/// dy, step -> dx with the mask that Dropout used in that step.
class DropoutGradient final : public Op {
 public:
  DropoutGradient(double probability, std::uint64_t of);
  std::string_view name() const override { return "dropout_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }

  const double rate;
  const std::uint64_t seed;
};

/// step int64[] -> float32 of `shape`, uniform in [low, high).
class RandomUniform final : public Op {
 public:
  RandomUniform(Shape of, double from, double to, std::uint64_t key)
      : shape(std::move(of)), low(from), high(to), seed(key) {}
  std::string_view name() const override { return "random_uniform"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;

  const Shape shape;
  const double low, high;
  const std::uint64_t seed;
};

/// step int64[] -> float32 of `shape`, normally distributed (Box-Muller).
class RandomNormal final : public Op {
 public:
  RandomNormal(Shape of, double center, double deviation, std::uint64_t key)
      : shape(std::move(of)), mean(center), stddev(deviation), seed(key) {}
  std::string_view name() const override { return "random_normal"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;

  const Shape shape;
  const double mean, stddev;
  const std::uint64_t seed;
};

namespace ops {

Value dropout(Graph& graph, Value x, Value step, double rate, std::uint64_t seed);
Value random_uniform(Graph& graph, Value step, Shape shape, double low, double high, std::uint64_t seed);
Value random_normal(Graph& graph, Value step, Shape shape, double mean, double stddev, std::uint64_t seed);

}  // namespace ops
}  // namespace gpubench
