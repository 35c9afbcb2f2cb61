// Turns each filter once for all convolutions that read it, on devices whose convolutions read filters with the output
// channels outermost: a training step reads a filter forward and in the gradient of the image. Turned filters of
// variables that no node updates are computed once (core/graph/invariant.h).
#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "core/ops/conv.h"
#include "core/ops/shape_ops.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// The op that reads a turned filter; none for other ops.
OpPtr turned(const Node& node) {
  const auto of = [](Conv2DAttributes options) {
    options.turned = true;
    return options;
  };
  if (const auto* conv = op_as<Conv2D>(node)) return std::make_shared<const Conv2D>(of(conv->options));
  if (const auto* conv = op_as<Conv2DMaxPool>(node)) {
    return std::make_shared<const Conv2DMaxPool>(of(conv->conv), conv->pool);
  }
  if (const auto* gradient = op_as<Conv2DInputGradient>(node)) {
    return std::make_shared<const Conv2DInputGradient>(of(gradient->options), gradient->input_shape);
  }
  return nullptr;
}

class FilterTurning {
 public:
  FilterTurning(const Program& program, const Fuses& fuses) : rewriter_(program), fuses_(fuses) {}

  Program run() {
    const std::vector<Node>& nodes = rewriter_.old_graph().nodes();
    for (std::int32_t index = 0; index < static_cast<std::int32_t>(nodes.size()); ++index) {
      const Node& node = nodes[static_cast<std::size_t>(index)];
      const OpPtr op = turned(node);
      if (op == nullptr || !gains(node, *op)) {
        rewriter_.keep(index);
        continue;
      }
      Node reader = node;
      reader.op = op;
      for (Value& input : reader.inputs) input = rewriter_.map(input);
      reader.inputs[1] = turned_filter(index);
      rewriter_.put(index, std::move(reader));
    }
    return rewriter_.finish();
  }

 private:
  bool gains(const Node& node, const Op& op) const {
    std::vector<TensorType> inputs;
    for (const Value input : node.inputs) inputs.push_back(rewriter_.old_graph().type(input));
    inputs[1] = Transpose(turning).infer(std::array{inputs[1]})[0];
    return fuses_(node.device, op, inputs);
  }

  Value turned_filter(std::int32_t index) {
    const Node& node = rewriter_.old_graph().nodes()[static_cast<std::size_t>(index)];
    const Value filter = node.inputs[1];
    const auto [known, is_new] = turned_.try_emplace({filter.node, filter.output, node.device});
    if (is_new || rewriter_.changes_between(filter, known->second.reader, index)) {
      const std::array inputs{rewriter_.map(filter)};
      known->second = {index, rewriter_.add(index, std::make_shared<const Transpose>(turning), inputs)};
    }
    return known->second.filter;
  }

  /// The output channels come first.
  inline static const std::vector<std::int64_t> turning{3, 0, 1, 2};

  struct Turned {
    std::int32_t reader = -1;  ///< the first, in the old graph
    Value filter;              ///< in the new graph
  };

  Rewriter rewriter_;
  const Fuses& fuses_;
  std::map<std::tuple<std::int32_t, std::int32_t, DeviceId>, Turned> turned_;
};

}  // namespace

Program turn_filters(Program program, const Fuses& fuses) {
  return FilterTurning(program, fuses).run();
}

}  // namespace gpubench
