// What training minimizes. A loss adds nodes that compute one value per example (or per element); training minimizes
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
  /// Values of any shape, computed in float32 from predictions of any floating-point type. `inputs`: the model's
  /// inputs, for losses that read them. Throws Error naming the loss and both types.
  Value call(Graph& graph, Value labels, Value predictions, std::span<const Value> inputs = {}) const;
  /// Whether the loss also reads the model's inputs.
  virtual bool reads_inputs() const { return false; }
  /// Whether labels are class indices, which must be checked against the number of classes before a kernel reads them.
  virtual bool takes_class_indices() const { return false; }

 protected:
  /// Floating-point predictions have been cast to float32.
  virtual Value values(Graph& graph, Value labels, Value predictions) const = 0;
  /// Called by call(); by default values().
  virtual Value values_with_inputs(Graph& graph, Value labels, Value predictions, std::span<const Value> inputs) const;
};
using LossPtr = std::shared_ptr<const Loss>;

/// Adds nodes for labels and predictions; made from a traced script function.
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
