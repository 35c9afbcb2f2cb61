#include "core/exec/eager_executor.h"

#include "core/base/interrupt.h"
#include "core/graph/exchange_ops.h"
#include "core/graph/leaf_ops.h"
#include "core/passes/rewriter.h"

namespace gpubench {
EagerExecutor::EagerExecutor(Runtime& runtime, Program program, bool inputs_on_device, Communicator* communicator)
    : eager_(runtime),
      program_(remove_dead_code(std::move(program))),
      inputs_on_device_(inputs_on_device),
      communicator_(communicator) {
  const std::vector<Node>& nodes = program_.graph.nodes();
  values_.resize(nodes.size());
  dies_.resize(nodes.size());
  ready_.resize(nodes.size());
  kinds_.resize(nodes.size(), Kind::op);
  std::vector<std::size_t> last(nodes.size());
  const std::vector<bool> reads_input = nodes_that_read_inputs(program_.graph);
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    last[index] = index;
    std::vector<TensorType> inputs;
    for (const Value input : nodes[index].inputs) {
      last[static_cast<std::size_t>(input.node)] = index;
      inputs.push_back(program_.graph.type(input));
    }
    const Op* const op = nodes[index].op.get();
    if (const auto* input = dynamic_cast<const InputOp*>(op)) {
      kinds_[index] = Kind::ready;
      inputs_.emplace_back(index, static_cast<std::size_t>(input->index()));
      fence_.add(runtime.devices().device(nodes[index].device));
    } else if (dynamic_cast<const VariableOp*>(op) != nullptr) {
      kinds_[index] = Kind::variable;
    } else if (const auto* constant = dynamic_cast<const ConstantOp*>(op)) {
      kinds_[index] = Kind::ready;
      ready_[index] = eager_.upload(constant->value(), nodes[index].device, nodes[index].label);
    } else if (dynamic_cast<const ExchangeOp*>(op) != nullptr) {
      kinds_[index] = Kind::exchange;
    }
    if (inputs.empty()) continue;
    facts_.add(nodes[index], inputs, reads_input[index]);
  }
  for (std::size_t index = 0; index < nodes.size(); ++index) dies_[last[index]].push_back(index);
}

void EagerExecutor::run_node(std::size_t index) {
  const Node& node = program_.graph.nodes()[index];
  gathered_.clear();
  for (const Value input : node.inputs) {
    gathered_.push_back(values_[static_cast<std::size_t>(input.node)][static_cast<std::size_t>(input.output)]);
  }
  switch (kinds_[index]) {
    case Kind::ready:
      values_[index] = {ready_[index]};
      break;
    case Kind::variable:
      values_[index] = {eager_.of(static_cast<const VariableOp&>(*node.op).variable())};
      break;
    case Kind::exchange:
      values_[index] = all_reduce(index);
      break;
    case Kind::op:
      values_[index] = eager_.apply(node.op, gathered_, node.device, node.label, part(index));
      break;
  }
}

std::vector<Tensor> EagerExecutor::all_reduce(std::size_t index) {
  const Node& node = program_.graph.nodes()[index];
  const OpPtr copy = std::make_shared<const AddN>();
  std::vector<Tensor> sums;
  Collective collective;
  const auto* const op = dynamic_cast<const AllReduce*>(node.op.get());
  if (op != nullptr) collective.reduction = op->reduction;
  for (const Tensor& tensor : gathered_) {
    sums.push_back(
        eager_.apply(copy, std::span(&tensor, 1), node.device, node.label, {node.owner.get(), node.role})[0]);
    collective.tensors.push_back(sums.back().view());
  }
  communicator_->run(collective, eager_.runtime().stream(node.device));
  return sums;
}

void EagerExecutor::run(std::span<const TensorView> inputs) {
  const Computation computation;
  fence_.begin_step();
  for (const auto& [index, input] : inputs_) {
    const Node& node = program_.graph.nodes()[index];
    const TensorView& memory = inputs[input];
    ready_[index] = {};  // releases its memory first
    ready_[index] = inputs_on_device_ ? Tensor(*memory.type, node.device, memory.data)
                                      : eager_.borrow(memory, node.device, node.label);
  }
  run_nodes();
}

void EagerExecutor::run_again() {
  const Computation computation;
  fence_.begin_step();
  run_nodes();
}

void EagerExecutor::name_nodes() {
  traced_.clear();
  for (const Node& node : program_.graph.nodes())
    traced_.push_back(eager_.node(*node.op, {node.owner.get(), node.role}));
  traced_in_ = eager_.runtime().recordings();
}

Eager::Part EagerExecutor::part(std::size_t index) const {
  const Node& node = program_.graph.nodes()[index];
  const bool is_traced = eager_.runtime().spans() != nullptr;
  return {node.owner.get(), node.role, is_traced ? traced_[index] : NodeId::none};
}

void EagerExecutor::run_nodes() {
  const SpanScope launching(eager_.runtime().spans(), SpanClass::launch);
  if (eager_.runtime().spans() != nullptr && traced_in_ != eager_.runtime().recordings()) name_nodes();
  results_.assign(program_.outputs.size(), {});
  for (std::size_t index = 0; index < values_.size(); ++index) {
    run_node(index);
    for (std::size_t output = 0; output < program_.outputs.size(); ++output) {
      const Value wanted = program_.outputs[output];
      if (static_cast<std::size_t>(wanted.node) == index) {
        results_[output] = values_[index][static_cast<std::size_t>(wanted.output)];
      }
    }
    gathered_.clear();
    for (const std::size_t dead : dies_[index]) values_[dead].clear();
  }
  fence_.end_step();
}

TensorView EagerExecutor::result(int index) const {
  return results_[static_cast<std::size_t>(index)].view();
}

HostTensor EagerExecutor::read(int index) {
  return eager_.download(results_[static_cast<std::size_t>(index)]);
}

}  // namespace gpubench
