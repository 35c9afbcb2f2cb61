#include "core/passes/vectorize.h"

#include <algorithm>
#include <vector>

#include "core/graph/leaf_ops.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

/// The replacement of one output of an element's node.
struct Moved {
  Value value;
  bool shared = false;  ///< the same for all elements: no new dimension
};

class Vectorizer {
 public:
  Vectorizer(const Program& element, std::int64_t count) : element_(element), count_(count) {}

  std::optional<Program> run() {
    for (const Node& node : element_.graph.nodes()) {
      const GraphScope place(block_.graph, node);
      if (!move(node)) return std::nullopt;
    }
    for (const Value output : element_.outputs) block_.outputs.push_back(repeated(moved(output), type(output)));
    return std::move(block_);
  }

 private:
  bool move(const Node& node) {
    moved_.emplace_back();
    if (op_as<InputOp>(node) != nullptr) {
      moved_.back() = {{block_.graph.input({of_block(node.outputs[0].shape), node.outputs[0].dtype}, node.label)}};
      return true;
    }
    const auto is_shared = [&](Value input) { return moved(input).shared; };
    if (std::ranges::all_of(node.inputs, is_shared)) {
      move_shared(node);
      return true;
    }
    std::vector<BlockInput> inputs;
    for (const Value input : node.inputs) inputs.push_back({type(input), moved(input).shared});
    const std::optional<BlockForm> form = node.op->has_effect() ? std::nullopt : node.op->block_form(inputs, count_);
    if (!form) return false;
    std::vector<Value> arguments;
    for (const Value input : node.inputs) arguments.push_back(argument(form->inputs, input, node));
    add_outputs(block_.graph.apply(form->op != nullptr ? form->op : node.op, arguments), node, false);
    return true;
  }

  /// Nodes that depend only on constants are computed once for all elements.
  void move_shared(const Node& node) {
    Node copy = node;
    for (Value& input : copy.inputs) input = moved(input).value;
    add_outputs(block_.graph.adopt(std::move(copy)), node, true);
  }

  void add_outputs(Value first, const Node& node, bool shared) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      moved_.back().push_back({{first.node, static_cast<std::int32_t>(i)}, shared});
    }
  }

  Value argument(BlockForm::Inputs inputs, Value of, const Node& node) {
    const Moved& input = moved(of);
    if (inputs == BlockForm::Inputs::repeated) return repeated(input, type(of));
    if (inputs == BlockForm::Inputs::as_they_are || input.shared) return input.value;
    return aligned(input.value, type(of).shape, node.outputs[0].shape.size());
  }

  /// Inserts dimensions of 1 after the elements' dimension if an element has fewer than `rank`.
  Value aligned(Value value, const Shape& element, std::size_t rank) {
    Shape shape = element;
    if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
    return ops::reshape(block_.graph, value, of_block(std::move(shape)));
  }

  Value repeated(const Moved& input, const TensorType& element) {
    return input.shared ? ops::broadcast_to(block_.graph, input.value, of_block(element.shape)) : input.value;
  }

  Shape of_block(Shape element) const {
    element.insert(element.begin(), count_);
    return element;
  }
  const TensorType& type(Value value) const { return element_.graph.type(value); }
  const Moved& moved(Value value) const {
    return moved_[static_cast<std::size_t>(value.node)][static_cast<std::size_t>(value.output)];
  }

  const Program& element_;
  std::int64_t count_;
  Program block_;
  std::vector<std::vector<Moved>> moved_;  // by node and output
};

}  // namespace

std::optional<Program> vectorize(const Program& element, std::int64_t count) {
  return Vectorizer(element, count).run();
}

}  // namespace gpubench
