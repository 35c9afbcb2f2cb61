// Fuses the gradient of a dense layer's activation into the product that computes the layer's output gradient, on
// devices with such an epilogue. The layer's own product then saves what the epilogue reads, a mask for relu.
#include <array>
#include <map>
#include <memory>
#include <optional>

#include "core/ops/elementwise.h"
#include "core/ops/fused_matmul.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

bool is_plain(const Matmul& matmul) {
  return !matmul.options.bias && matmul.options.activation == Activation::none;
}

class ActivationGradientFusing {
 public:
  ActivationGradientFusing(const Program& program, const Fuses& fuses)
      : rewriter_(program), nodes_(program.graph.nodes()), fuses_(fuses) {}

  Program run() {
    for (std::int32_t index = 0; index < count(); ++index) find(index);
    for (std::int32_t index = 0; index < count(); ++index) {
      if (const auto found = layers_.find(index); found != layers_.end()) {
        fuse_layer(index, found->second);
      } else if (const auto derivative = derivatives_.find(index); derivative != derivatives_.end()) {
        fuse_derivative(index, derivative->second);
      } else if (!absorbed_.contains(index)) {
        rewriter_.keep(index);
      }
    }
    return rewriter_.finish();
  }

 private:
  /// A product and its activation: one node for relu, two for gelu_tanh, because other nodes read its argument.
  struct Layer {
    std::int32_t product = -1, activation = -1;
    std::shared_ptr<const MatmulAux> op;
  };
  /// activation_gradient(product, ...) of a layer.
  struct Derivative {
    std::int32_t product = -1;
    std::int32_t layer = -1;
    std::shared_ptr<const MatmulActivationGradient> op;
  };

  std::int32_t count() const { return static_cast<std::int32_t>(nodes_.size()); }
  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }

  void find(std::int32_t index) {
    if (!op_as<ReluGradient>(node(index)) && !op_as<GeluTanhGradient>(node(index))) return;
    std::optional<Layer> layer = layer_of(index);
    if (!layer) return;
    std::optional<Derivative> derivative = derivative_of(index, *layer);
    if (!derivative) return;
    absorbed_.insert(derivative->product);
    if (layer->activation != layer->product) absorbed_.insert(layer->activation);
    derivatives_[index] = *std::move(derivative);
    const std::int32_t product = layer->product;
    layers_[product] = *std::move(layer);
  }

  /// The layer to which the activation gradient at node `index` belongs.
  std::optional<Layer> layer_of(std::int32_t index) const {
    const Value known = node(index).inputs[1];  // relu's result or gelu_tanh's argument
    const Node& product = node(known.node);
    const auto* const matmul = op_as<Matmul>(product);
    if (matmul == nullptr || product.device != node(index).device || product.outputs[0].rank() != 2)
      return std::nullopt;
    Layer layer{known.node, known.node, nullptr};
    MatmulAttributes options = matmul->options;
    if (op_as<GeluTanhGradient>(node(index))) {
      if (options.activation != Activation::none) return std::nullopt;
      options.activation = Activation::gelu_tanh;
      layer.activation = reader_with<GeluTanh>(known);
      if (layer.activation < 0 || node(layer.activation).device != product.device) return std::nullopt;
    } else if (options.activation != Activation::relu) {
      return std::nullopt;
    }
    layer.op = std::make_shared<const MatmulAux>(options);
    const bool possible = aux_type(options.activation, product.outputs[0]).has_value() && are_matrices(product) &&
                          fuses_(product.device, *layer.op, types(product));
    return possible ? std::optional(std::move(layer)) : std::nullopt;
  }

  /// The replacement of node `index`, if its first input is a product that no other node reads.
  std::optional<Derivative> derivative_of(std::int32_t index, const Layer& layer) const {
    const Value dy = node(index).inputs[0];
    const Node& product = node(dy.node);
    const auto* const matmul = op_as<Matmul>(product);
    if (matmul == nullptr || !is_plain(*matmul) || product.device != node(index).device || !are_matrices(product) ||
        rewriter_.uses(dy) != 1 || rewriter_.effect_between(dy.node, index)) {
      return std::nullopt;
    }
    MatmulAttributes options = matmul->options;
    options.activation = layer.op->options.activation;
    Derivative result{dy.node, layer.product, std::make_shared<const MatmulActivationGradient>(options)};
    std::vector<TensorType> inputs = types(product);
    inputs.push_back(*aux_type(options.activation, node(index).outputs[0]));
    return fuses_(product.device, *result.op, inputs) ? std::optional(std::move(result)) : std::nullopt;
  }

  template <class O>
  std::int32_t reader_with(Value value) const {
    for (std::int32_t index = value.node + 1; index < count(); ++index) {
      if (op_as<O>(node(index)) && node(index).inputs[0] == value) return index;
    }
    return -1;
  }

  std::vector<TensorType> types(const Node& reader) const {
    std::vector<TensorType> result;
    for (const Value input : reader.inputs) result.push_back(rewriter_.old_graph().type(input));
    return result;
  }

  bool are_matrices(const Node& product) const {
    const std::vector<TensorType> inputs = types(product);
    return inputs[0].rank() == 2 && inputs[1].rank() == 2;
  }

  void fuse_layer(std::int32_t index, const Layer& layer) {
    std::vector<Value> inputs;
    for (const Value input : node(index).inputs) inputs.push_back(rewriter_.map(input));
    const Value result = rewriter_.add(index, layer.op, inputs);
    aux_[index] = {result.node, 1};
    rewriter_.replace({layer.activation, 0}, result);
    if (layer.activation != layer.product) rewriter_.replace({layer.product, 0}, aux_[index]);
  }

  void fuse_derivative(std::int32_t index, const Derivative& derivative) {
    const Node& product = node(derivative.product);
    const std::array inputs{rewriter_.map(product.inputs[0]), rewriter_.map(product.inputs[1]),
                            aux_.at(derivative.layer)};
    rewriter_.replace({index, 0}, rewriter_.add(derivative.product, derivative.op, inputs));
  }

  Rewriter rewriter_;
  const std::vector<Node>& nodes_;
  const Fuses& fuses_;
  std::map<std::int32_t, Layer> layers_;            // by their product
  std::map<std::int32_t, Derivative> derivatives_;  // by activation gradient
  std::map<std::int32_t, Value> aux_;               // by the layer's product; values of the new graph
  std::set<std::int32_t> absorbed_;
};

}  // namespace

Program fuse_activation_gradient(Program program, const Fuses& fuses) {
  return ActivationGradientFusing(program, fuses).run();
}

}  // namespace gpubench
