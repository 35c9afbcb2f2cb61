// Layers connected from inputs to outputs. One class serves functional and sequential models: a sequential model is a
// chain whose types are inferred when its input type is known.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/layer.h"

namespace gpubench {

class Symbol;
using SymbolPtr = std::shared_ptr<const Symbol>;

/// One call of a model as a layer. Layers are ordered as if the call were one layer, whose place the model's layers
/// take.
struct NestedCall {
  std::shared_ptr<const std::vector<LayerPtr>> layers;  ///< of the model in its order; one object for all its calls
  std::vector<std::weak_ptr<const Symbol>> inputs;
};

/// One use of a layer, which its outputs share.
struct Application {
  /// Throws as Layer::infer does.
  Application(LayerPtr of, std::vector<SymbolPtr> arguments, CallForm how,
              std::shared_ptr<const NestedCall> call_of_model = {});
  /// Without recursion, so that the end of a deep chain cannot overflow the stack.
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  LayerPtr layer;
  mutable std::vector<SymbolPtr> inputs;  // the last owner's destructor takes them
  CallForm form;
  std::shared_ptr<const NestedCall> nested_call;  ///< of the model whose call made this application; null: none
  std::vector<TensorType> types;                  ///< of the outputs, for one example
  std::vector<std::optional<TensorType>> masks;   ///< of the outputs' masks; none: no mask
};
using ApplicationPtr = std::shared_ptr<const Application>;

/// A value of a model under construction: `layer(symbol)` creates the next one. A model is the part of the symbols'
/// graph between its inputs and outputs.
class Symbol : public std::enable_shared_from_this<Symbol> {
 public:
  /// Stands in the place of an output's index for the mask of the first output.
  static constexpr int mask_output = -1;

  Symbol(ApplicationPtr of, int output) : of_(std::move(of)), output_(output) {}

  const ApplicationPtr& application() const { return of_; }
  const LayerPtr& layer() const { return of_->layer; }
  const std::vector<SymbolPtr>& inputs() const { return of_->inputs; }
  const CallForm& form() const { return of_->form; }
  int output() const { return output_; }
  /// Type of one example.
  const TensorType& type() const {
    return output_ == mask_output ? *of_->masks.front() : of_->types[static_cast<std::size_t>(output_)];
  }
  /// Of the mask that comes with the value; none: no mask.
  std::optional<TensorType> mask() const {
    return output_ == mask_output ? std::nullopt : of_->masks[static_cast<std::size_t>(output_)];
  }

 private:
  ApplicationPtr of_;
  int output_;
};

/// The first output; the only one of most layers.
SymbolPtr apply_layer(const LayerPtr& layer, std::vector<SymbolPtr> inputs, const CallForm& form = {});
/// A symbol for each output.
std::vector<SymbolPtr> outputs_of(const ApplicationPtr& application);
/// The mask of the first output; null if it has none.
SymbolPtr mask_of(const ApplicationPtr& application);

/// Applies layers anew, as the calls of a model or a file say it: calls of one application stay outputs of one.
class Reapplication {
 public:
  /// `nested_call`: the call of a model that applies its layers; null: none.
  explicit Reapplication(std::shared_ptr<const NestedCall> nested_call = {}) : nested_call_(std::move(nested_call)) {}
  /// `application`: what calls of one application have in common.
  SymbolPtr apply(std::size_t application, int output, const LayerPtr& layer, std::vector<SymbolPtr> inputs,
                  const CallForm& form);

 private:
  std::map<std::size_t, ApplicationPtr> made_;
  std::shared_ptr<const NestedCall> nested_call_;
};

/// The names by which a script gives a model its inputs and gets its outputs, one each in their order; empty: lists.
struct ModelNames {
  std::vector<std::string> inputs, outputs;
};

class Model {
 public:
  /// One output of an application of a layer; `inputs` are indices of earlier calls.
  struct Call {
    LayerPtr layer;
    std::vector<std::size_t> inputs;
    TensorType type;  ///< of one example
    SymbolPtr symbol{};
    CallForm form{};              ///< of the symbol
    std::size_t application = 0;  ///< index of the first call of the same application
    int output = 0;               ///< as Symbol::output()
  };

  /// All layers between the symbols. Throws Error if an output depends on an input that is not listed, and if no output
  /// depends on one that is. `order`: of layers() if it is known, as that of a model in a file; empty: that of Keras.
  Model(std::string name, const std::vector<SymbolPtr>& inputs, const std::vector<SymbolPtr>& outputs,
        const std::vector<LayerPtr>& order = {}, ModelNames given_names = {});
  /// A chain, which may be empty; its input type comes from the first layer's input_shape option, an Input layer, or
  /// define().
  Model(std::string name, std::vector<LayerPtr> chain);

  const std::string& name() const { return name_; }
  bool sequential() const { return chain_.has_value(); }
  /// Whether the input types are known.
  bool defined() const { return !calls_.empty(); }
  /// Sets the input type of a chain that has none (types of one example). Otherwise checks it, by shape only because
  /// call() casts. Throws Error naming both shapes.
  void define(TensorTypes inputs);
  /// Creates all variables; does nothing if they exist. Throws Error if the model is not defined yet.
  void build(VariableFactory& factory);
  bool built() const { return built_; }

  /// Adds the model's nodes. Inputs have a batch dimension; they are cast to the declared element types. `masks`: those
  /// that come with the inputs.
  LayerOutputs call(const CallContext& context, Values inputs, const std::vector<Value>& masks = {}) const;
  /// The same, but returns the outputs of all calls, in the order of calls().
  LayerOutputs call_each(const CallContext& context, Values inputs, const std::vector<Value>& masks = {}) const;
  /// Applies the model's layers to other symbols: a model used as a layer. Layers without a name of the user get
  /// another one in a model where theirs is taken.
  std::vector<SymbolPtr> apply(const std::vector<SymbolPtr>& inputs, std::optional<bool> training = {}) const;
  /// Whether a call for training, or one for inference, draws random numbers.
  bool draws(bool training) const;

  const std::vector<Call>& calls() const { return calls_; }
  const std::vector<std::size_t>& inputs() const { return inputs_; }
  const std::vector<std::size_t>& outputs() const { return outputs_; }
  std::vector<TensorType> input_types() const;
  std::vector<TensorType> output_types() const;
  const ModelNames& given_names() const { return given_names_; }
  /// The given names, else those of the Input layers. Empty while the input's shape is not known.
  std::vector<std::string> input_names() const;
  /// The given names, else those of the layers that give the outputs; "name_1" for a second output of one layer.
  std::vector<std::string> output_names() const;
  /// Each layer once, in Keras' order (core/nn/layer_order.h); before define() the chain's layers.
  std::vector<LayerPtr> layers() const;
  /// The same in the order of first calls, by which layers are named and numbered.
  std::vector<LayerPtr> called_layers() const;
  /// Throws Error listing the names.
  LayerPtr layer_named(std::string_view name) const;
  std::vector<VariablePtr> variables() const;
  /// The names of variables() in files of weights.
  std::vector<std::string> saved_names() const;
  std::vector<VariablePtr> trainable_variables() const;

 private:
  void cut(const std::vector<SymbolPtr>& inputs, const std::vector<SymbolPtr>& outputs,
           const std::vector<LayerPtr>& order);
  void name_layers() const;
  void check_inputs(TensorTypes inputs) const;
  void define_chain(const TensorType& input);
  void require_layers() const;
  void require_used(const std::vector<SymbolPtr>& inputs) const;

  std::string name_;
  ModelNames given_names_;
  std::optional<std::vector<LayerPtr>> chain_;
  std::vector<Call> calls_;
  std::vector<std::size_t> inputs_, outputs_;
  std::shared_ptr<const std::vector<LayerPtr>> layers_;  // in their order, once defined
  VariablePtr counter_;                                  // of calls, where layers draw in inference; not saved
  bool built_ = false;
};

using ModelPtr = std::shared_ptr<Model>;

/// The model as a table: layers, shapes, parameter counts. Throws Error if the model is not built.
std::string summary(const Model& model);

}  // namespace gpubench
