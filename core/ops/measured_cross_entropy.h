// A softmax cross-entropy together with its gradient, the top-k metrics of its labels, and the sums for their means:
// what a step of a classifier computes from its logits. Formed by a pass after autodiff; it has no gradient.
#pragma once
#include <cstdint>

#include "core/graph/op.h"

namespace gpubench {

struct MeasuredAttributes {
  /// Whether the gradient of the logits is computed, from that of the losses.
  bool gradient = false;
  /// Whether sums are added to states, as by AccumulateMean; otherwise they are outputs, as of SumAndCount.
  bool adds = false;
  /// Whether metrics rank the logits; otherwise the probabilities, of which more may be equal.
  bool ranks_logits = false;
  /// k of a TopKMatches each.
  std::vector<std::int64_t> metrics{};
};

/// logits float32 [..., c], labels [..., c] or class indices [...], gradient only: dloss [...], and where sums are
/// added: a state float32[2] for the losses and for each metric -> probabilities [..., c], gradient only: dlogits, and
/// float32[2] for the losses and for each metric.
class MeasuredCrossEntropy final : public Op {
 public:
  explicit MeasuredCrossEntropy(MeasuredAttributes given) : options(std::move(given)) {}
  std::string_view name() const override { return "measured_cross_entropy"; }
  std::string attributes() const override;
  /// Throws what the op of a part throws.
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override;
  /// Flops of all parts.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  /// Number of means: of the losses and of each metric.
  std::size_t figures() const { return 1 + options.metrics.size(); }
  /// Index of the losses' state among the inputs, and of the losses' sum among the outputs; those of metrics follow.
  std::size_t first_state() const { return options.gradient ? 3 : 2; }
  std::size_t first_figure() const { return options.gradient ? 2 : 1; }

  const MeasuredAttributes options;

 private:
  /// An op of which this one is made, with the types of its inputs.
  struct Part {
    OpPtr op;
    std::vector<TensorType> inputs;
  };
  std::vector<Part> parts(TensorTypes inputs) const;
};

}  // namespace gpubench
