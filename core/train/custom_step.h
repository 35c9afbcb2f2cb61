// A step of training or evaluation that a script wrote, in place of the one that compile describes.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/exec/replicas.h"
#include "core/graph/graph.h"
#include "core/train/metric_states.h"

namespace gpubench {

class CustomStep {
 public:
  virtual ~CustomStep() = default;
  /// All that the step computes, updates and adds to its figures, for a batch of these types, which are its inputs in
  /// their order. With a `share`: the graph of a replica with those rows of the batch, and its exchanges.
  virtual Graph graph(TensorTypes element, const std::optional<BatchShare>& share) = 0;
  /// Of the graphs so far, with their states.
  virtual std::vector<Figure> figures() const = 0;
};
using CustomStepPtr = std::shared_ptr<CustomStep>;

}  // namespace gpubench
