#include "core/exec/gradient_tape.h"

#include <cassert>

#include "core/base/error.h"
#include "core/graph/gradients.h"
#include "core/graph/leaf_ops.h"

namespace gpubench {
namespace {

/// For a tape all reads of a variable are the same tensor, whichever handle is used.
const void* key_of(const Tensor& tensor) {
  const bool whole = tensor.variable() != nullptr && tensor.type() == tensor.variable()->type;
  return whole ? static_cast<const void*>(tensor.variable().get()) : tensor.identity();
}

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

GradientTape::GradientTape(Dispatcher& dispatcher) : dispatcher_(dispatcher) {
  dispatcher_.add_tape(this);
}

Value GradientTape::value_of(const Tensor& tensor) {
  const auto found = known_.find(key_of(tensor));
  if (found != known_.end()) return found->second;
  const DeviceId before = graph_.set_device(tensor.device());
  const Value value = graph_.input(tensor.type(), "tape");
  graph_.set_device(before);
  values_.push_back({tensor});
  known_[key_of(tensor)] = value;
  return value;
}

void GradientTape::record(const OpPtr& op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                          const DeviceId& device, const std::string& label) {
  if (op->has_effect()) return;  // an update of a variable has no gradient
  Node node{{device, label}, op, {}, {}};
  for (const Tensor& input : inputs) node.inputs.push_back(value_of(input));
  for (const Tensor& output : outputs) node.outputs.push_back(output.type());
  const Value first = graph_.adopt(std::move(node));
  values_.emplace_back(outputs.begin(), outputs.end());
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    known_[key_of(outputs[o])] = {first.node, static_cast<std::int32_t>(o)};
  }
}

std::vector<Tensor> GradientTape::symbolic_gradient(const Tensor& target, std::span<const Tensor> sources) {
  std::vector<Value> values;
  for (const Tensor& source : sources) values.push_back(dispatcher_.symbol(source));
  std::vector<Tensor> result;
  for (const Value gradient : gradients(dispatcher_.trace()->graph, dispatcher_.symbol(target), values)) {
    result.push_back(gradient ? Tensor(dispatcher_.trace(), gradient) : Tensor());
  }
  return result;
}

std::vector<Tensor> GradientTape::gradient(const Tensor& target, std::span<const Tensor> sources) {
  if (dispatcher_.trace() != nullptr) return symbolic_gradient(target, sources);
  stop();
  const auto loss = known_.find(key_of(target));
  if (loss == known_.end()) {
    throw Error("gradient: the target was not computed while the tape was recording; compute it inside gb.tape");
  }
  std::vector<Value> values;
  for (const Tensor& source : sources) values.push_back(value_of(source));
  const std::size_t recorded = graph_.nodes().size();
  const std::vector<Value> wanted = gradients(graph_, loss->second, values);
  evaluate(recorded, wanted);

  std::vector<Tensor> result;
  for (const Value value : wanted) {
    result.push_back(value ? values_[at(value.node)][at(value.output)] : Tensor());
  }
  return result;
}

void GradientTape::evaluate(std::size_t first, std::span<const Value> wanted) {
  const std::vector<Node>& nodes = graph_.nodes();
  std::vector<bool> needed(nodes.size(), false);
  for (const Value value : wanted) {
    if (value) needed[at(value.node)] = true;
  }
  for (std::size_t index = nodes.size(); index-- > first;) {
    if (!needed[index]) continue;
    for (const Value input : nodes[index].inputs) needed[at(input.node)] = true;
  }
  values_.resize(nodes.size());
  Eager& eager = dispatcher_.eager();
  std::vector<Tensor> inputs;
  for (std::size_t index = first; index < nodes.size(); ++index) {
    if (!needed[index]) continue;
    const Node& node = nodes[index];
    if (const auto* constant = dynamic_cast<const ConstantOp*>(node.op.get())) {
      values_[index] = {eager.upload(constant->value(), node.device, node.label)};
      continue;
    }
    inputs.clear();
    for (const Value input : node.inputs) inputs.push_back(values_[at(input.node)][at(input.output)]);
    values_[index] = eager.apply(node.op, inputs, node.device, node.label);
  }
}

}  // namespace gpubench
