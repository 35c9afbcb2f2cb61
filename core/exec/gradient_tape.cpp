#include "core/exec/gradient_tape.h"

#include <array>
#include <cassert>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/gradients.h"
#include "core/graph/leaf_ops.h"

namespace gpubench {
namespace {

/// For a tape all reads of a variable are the same tensor, whichever handle is used.
const void* key_of(const Tensor& tensor) {
  const VariablePtr variable = tensor.variable();
  return variable != nullptr ? static_cast<const void*>(variable.get()) : tensor.identity();
}

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

GradientTape::GradientTape(Dispatcher& dispatcher) : dispatcher_(dispatcher) {
  dispatcher_.add_tape(this);
}

bool GradientTape::is_current(const VariableRead& read) const {
  return dispatcher_.runtime().variables().writes(*read.variable) == read.writes;
}

Value GradientTape::value_of(const Tensor& tensor) {
  const void* const key = key_of(tensor);
  const auto found = known_.find(key);
  if (found != known_.end()) {
    if (key != tensor.variable().get()) return found->second;
    const auto read = reads_.find(found->second.node);
    if (read == reads_.end() || is_current(read->second)) return found->second;
    earlier_[key].push_back(found->second);
  }
  const DeviceId before = graph_.set_device(tensor.device());
  const Value value = graph_.input(tensor.type(), "tape");
  graph_.set_device(before);
  values_.push_back({tensor});
  known_[key] = value;
  if (const VariablePtr& variable = tensor.variable_read()) {
    reads_[value.node] = {variable, dispatcher_.runtime().variables().writes(*variable)};
  }
  return value;
}

void GradientTape::record(const OpPtr& op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                          const DeviceId& device, const std::string& label) {
  if (op->has_effect()) return;  // an update of a variable has no gradient
  Node node{{device, label}, op, {}, {}};
  for (const Tensor& input : inputs) node.inputs.push_back(value_of(input));
  for (const Tensor& output : outputs) node.outputs.push_back(output.type());
  const auto viewed = op->is_view() ? reads_.find(node.inputs[0].node) : reads_.end();
  const Value first = graph_.adopt(std::move(node));
  if (viewed != reads_.end()) reads_[first.node] = viewed->second;
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
  std::vector<std::size_t> source_of;  // of each value
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const void* const key = key_of(sources[i]);
    const auto known = known_.find(key);
    // A source that was not read has no gradient, and what was read is known, also where it was written since.
    values.push_back(known != known_.end() ? known->second : value_of(sources[i]));
    source_of.push_back(i);
    for (const Value value : earlier_[key]) values.push_back(value), source_of.push_back(i);
  }
  const std::size_t recorded = graph_.nodes().size();
  const std::vector<Value> wanted = gradients(graph_, loss->second, values);
  evaluate(recorded, wanted);

  std::vector<Tensor> result(sources.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const Tensor& part = values_[at(wanted[i].node)][at(wanted[i].output)];
    Tensor& sum = result[source_of[i]];
    sum = sum ? dispatcher_.apply_one(std::make_shared<const AddN>(), std::array{sum, part}) : part;
  }
  return result;
}

void GradientTape::evaluate(std::size_t first, Values wanted) {
  const std::vector<Node>& nodes = graph_.nodes();
  std::vector<bool> needed(nodes.size(), false);
  for (const Value value : wanted) {
    if (value) needed[at(value.node)] = true;
  }
  for (std::size_t index = nodes.size(); index-- > first;) {
    if (!needed[index]) continue;
    for (const Value input : nodes[index].inputs) needed[at(input.node)] = true;
  }
  for (std::size_t index = 0; index < first; ++index) {
    if (needed[index]) require_current(index);
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
    values_[index] = dispatcher_.apply_on(node.device, node.op, inputs, node.label);
  }
}

void GradientTape::require_current(std::size_t node) const {
  const auto read = reads_.find(static_cast<std::int32_t>(node));
  if (read == reads_.end() || is_current(read->second)) return;
  throw Error(
      fmt::format("gradient: it needs the value that variable '{}' had when it was read, and the variable has "
                  "been written since; take the gradient before the update, or read a copy (v + 0)",
                  read->second.variable->name));
}

}  // namespace gpubench
