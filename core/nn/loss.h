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

/// How the values of a batch become one number.
enum class LossReduction : std::uint8_t {
  mean,  ///< "sum_over_batch_size" or "mean"
  sum,   ///< over the examples of the batch
  none,  ///< a value per example, for loops written by hand
};

class Loss {
 public:
  virtual ~Loss() = default;
  virtual LossReduction reduction() const { return LossReduction::mean; }
  virtual std::string name() const = 0;
  /// Values of any shape, computed in float32 from predictions of any floating-point type. `inputs`: the model's
  /// inputs, for losses that read them. Reduced by any but the mean, values are one per example: elements of the
  /// predictions' last dimension are averaged. Throws Error naming the loss and both types.
  Value call(Graph& graph, Value labels, Value predictions, Values inputs = {}) const;
  /// Whether the loss also reads the model's inputs.
  virtual bool reads_inputs() const { return false; }
  /// Whether labels are class indices, which must be checked against the number of classes before a kernel reads them.
  virtual bool takes_class_indices() const { return false; }

 protected:
  /// Floating-point predictions have been cast to float32.
  virtual Value values(Graph& graph, Value labels, Value predictions) const = 0;
  /// Called by call(); by default values().
  virtual Value values_with_inputs(Graph& graph, Value labels, Value predictions, Values inputs) const;
};
using LossPtr = std::shared_ptr<const Loss>;

/// Adds nodes for labels and predictions; made from a traced script function.
using GraphFunction = std::function<Value(Graph& graph, Value labels, Value predictions)>;

struct LossKind {
  std::string name;
  std::vector<ConfigField> fields;  ///< besides `reduction`, which all have
  Value (*values)(Graph& graph, const Config& config, Value labels, Value predictions);
  bool takes_class_indices = false;
};
/// In the order of their names.
const std::vector<LossKind>& loss_kinds();
/// Takes Keras' short names too: "mse". Throws Error listing the names.
LossPtr make_loss(std::string_view name, const ConfigEntries& options = {});
LossPtr make_custom_loss(std::string name, GraphFunction function);

}  // namespace gpubench
