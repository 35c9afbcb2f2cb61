// What training makes small. A loss adds nodes that give one value per example (or per element); training minimizes
// their mean.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/nn/config.h"

namespace gpubench {

class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string name() const = 0;
  /// Values of any shape, computed in float32 from predictions of any floating-point type. `inputs`: the model's, for a
  /// loss that reads them. Throws Error naming the loss and both types.
  Value call(Graph& graph, Value labels, Value predictions, std::span<const Value> inputs = {}) const;
  /// Whether it depends on the model's inputs as well.
  virtual bool reads_inputs() const { return false; }
  /// Labels are class indices, to be checked against the number of classes before they reach a kernel.
  virtual bool takes_class_indices() const { return false; }

 protected:
  /// Floating-point predictions are float32.
  virtual Value values(Graph& graph, Value labels, Value predictions) const = 0;
  /// What call() calls; values() unless the loss reads inputs.
  virtual Value values_with_inputs(Graph& graph, Value labels, Value predictions, std::span<const Value> inputs) const;
};
using LossPtr = std::shared_ptr<const Loss>;

/// Adds nodes for labels and predictions; what a traced script function becomes.
using GraphFunction = std::function<Value(Graph& graph, Value labels, Value predictions)>;

struct LossKind {
  std::string name;
  std::vector<ConfigField> fields;
  LossPtr (*make)(const Config& config);
};
/// categorical_crossentropy, sparse_categorical_crossentropy, binary_crossentropy (from_logits), mean_squared_error.
const std::vector<LossKind>& loss_kinds();
/// Throws Error listing the names.
LossPtr make_loss(std::string_view name, const ConfigEntries& options = {});
LossPtr make_custom_loss(std::string name, GraphFunction function);

}  // namespace gpubench
