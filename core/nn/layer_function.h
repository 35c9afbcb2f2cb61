// Functions of tensors as options of layers: the body of a Lambda or custom layer, an operator on symbols, an
// activation. Scripts implement them; a layer traces them into each graph that it joins.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/variable.h"
#include "core/nn/initializer.h"

namespace gpubench {

struct CallContext;
struct LayerArguments;
struct LayerOutputs;
enum class MaskRule : std::uint8_t;
class Layer;

/// Creates a weight of a layer.
using AddWeight = std::function<VariablePtr(const std::string& name, const Shape& shape, const Initializer& initializer,
                                            bool trainable)>;

/// What one layer makes of a function. Only the thread of the script may use it.
class FunctionBody {
 public:
  virtual ~FunctionBody() = default;
  /// Creates the weights for inputs of these types (of one example).
  virtual void build(const AddWeight& /*add_weight*/, TensorTypes /*inputs*/) {}
  /// Adds the nodes. `inputs` have a batch dimension. Throws Error, naming the layer, if the function fails or returns
  /// no tensor.
  virtual Value call(const CallContext& context, Values inputs) = 0;
  /// build() and call() for the types alone: the variables have no memory, and the body is thrown away.
  virtual Value trial(const AddWeight& add_weight, TensorTypes types, const CallContext& context, Values inputs) = 0;
  /// The same for functions that may read masks and states, and return several tensors, each with its mask or none: by
  /// default one.
  virtual LayerOutputs call_all(const CallContext& context, const LayerArguments& given);
  virtual LayerOutputs trial_all(const AddWeight& add_weight, TensorTypes types, const CallContext& context,
                                 const LayerArguments& given);
  /// The masks of the outputs, by a function of the script; only where mask_rule() is `makes`.
  virtual std::vector<Value> masks(const CallContext& context, const LayerArguments& given);
  /// Layers that the function calls. They are known after build(), and have their variables after the first call.
  virtual std::vector<std::shared_ptr<Layer>> layers() const { return {}; }
};

class LayerFunction {
 public:
  virtual ~LayerFunction() = default;
  /// The base of unnamed layers' names: "lambda", "relu".
  virtual std::string name() const = 0;
  /// JSON from which a saved model finds the function again.
  virtual std::string stored() const = 0;
  /// Whether it builds weights, so that a layer fits the types of its first input only.
  virtual bool has_weights() const { return false; }
  /// What it does with the masks of its inputs: by default it drops them.
  virtual MaskRule mask_rule() const;
  /// Whether it reads them.
  virtual bool reads_masks() const { return false; }
  /// Of a recurrent layer's cell: the sizes of its states.
  virtual Shape state_sizes() const { return {}; }
  /// Whether it may use CallContext::step.
  virtual bool draws() const { return false; }
  /// `layer` must outlive the body.
  virtual std::unique_ptr<FunctionBody> body(const Layer& layer) const = 0;
};

}  // namespace gpubench
