// What training minimizes. A loss adds nodes that compute one value per example (or per element); training minimizes
// their mean.
#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <optional>
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
  /// The class index that is no class: its examples have no loss.
  virtual std::optional<std::int64_t> ignored_class() const { return std::nullopt; }

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
/// In the order of their names; in loss_kinds.cpp.
const std::vector<LossKind>& loss_kinds();
/// The value of `ignore_class` where no class is ignored.
constexpr std::int64_t no_class = std::numeric_limits<std::int64_t>::min();
/// Keras' name of an object of a class: "mean_io_u" of "MeanIoU".
std::string name_of_class(std::string_view name);
/// Takes Keras' short names, "mse", and names of classes, "MeanSquaredError", too. Throws Error listing the names.
LossPtr make_loss(std::string_view name, const ConfigEntries& options = {});
LossPtr make_custom_loss(std::string name, GraphFunction function);

}  // namespace gpubench
