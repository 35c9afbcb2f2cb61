#include "core/exec/plan/plan.h"

#include <algorithm>
#include <cassert>

#include "core/device/device.h"
#include "core/exec/plan/place_buffers.h"
#include "core/graph/exchange_ops.h"
#include "core/graph/invariant.h"
#include "core/graph/leaf_ops.h"
#include "core/graph/offload_ops.h"

namespace gpubench {
namespace {

/// Sets the step's work and timing.
void describe(const Op& op, PlannedStep& step) {
  if (dynamic_cast<const ExchangeOp*>(&op) != nullptr) {
    step.work = Work::exchange;
    if (dynamic_cast<const AllReduceBegin*>(&op) != nullptr) step.timing = Timing::begin;
    if (dynamic_cast<const AllReduceEnd*>(&op) != nullptr) step.timing = Timing::end;
    const auto* const all = dynamic_cast<const AllReduce*>(&op);
    if (all != nullptr) step.reduction = all->reduction;
  } else if (dynamic_cast<const HostCopyOp*>(&op) != nullptr) {
    const bool begins = dynamic_cast<const Store*>(&op) != nullptr || dynamic_cast<const Fetch*>(&op) != nullptr;
    step.work = Work::copy;
    step.timing = begins ? Timing::begin : Timing::end;
  } else if (dynamic_cast<const Transfer*>(&op) != nullptr) {
    step.work = Work::copy;
  }
}

/// Whether tensor cores can carry out the op: all matrix products and convolutions, fused ones and gradients.
bool is_product(const Op& op) {
  return op.name().starts_with("matmul") || op.name().starts_with("conv2d");
}

/// Vectors, such as biases, are no operands of a product.
bool has_unaligned_rows(TensorTypes tensors) {
  return std::ranges::any_of(tensors, [](const TensorType& type) {
    if (type.shape.size() < 2) return false;
    const std::size_t row = static_cast<std::size_t>(type.shape.back()) * size_of(type.dtype);
    return row % PlanFacts::aligned_bytes != 0;
  });
}

class Planner {
 public:
  Planner(const Program& program, const Devices& devices)
      : program_(program),
        devices_(devices),
        invariant_(invariant_nodes(program.graph)),
        reads_input_(nodes_that_read_inputs(program.graph)) {}

  Plan run() {
    for (const Node& node : program_.graph.nodes()) plan_node(node);
    for (const Value output : program_.outputs) plan_.outputs.push_back(tensor(output));
    std::vector<bool> side_by_side;  // of devices that record steps
    for (const DeviceId& id : plan_.devices) side_by_side.push_back(!devices_.device(id).shares_host_memory());
    place_buffers(plan_, shared_, aliases_, side_by_side);
    return std::move(plan_);
  }

 private:
  void plan_node(const Node& node) {
    tensors_of_.emplace_back();
    std::vector<int>& outputs = tensors_of_.back();
    const std::size_t device = device_index(node.device);
    if (node.inputs.empty() && plan_leaf(node, device, outputs)) return;

    PlannedStep step;
    step.device = device;
    step.label = node.label;
    step.owner = node.owner;
    step.role = node.role;
    step.op = node.op->name();
    step.adds_inputs = node.op->adds_inputs();
    describe(*node.op, step);
    for (const Value input : node.inputs) step.inputs.push_back(tensor(input));

    const std::vector<Alias> aliases = node.op->aliases();
    if (node.op->is_view()) {
      outputs.push_back(add_view(node.outputs[0], step.inputs[0], view_offset(*node.op, node.outputs[0]), node));
      return;
    }
    if (step.work == Work::kernel) plan_kernel(node, step);
    step.due = due(step.inputs);
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      outputs.push_back(add_output(node, step, static_cast<int>(o)));
    }
    step.outputs = outputs;
    const std::vector<TensorType> inputs = types(step.inputs);
    if (step.due == Due::every_run && step.timing != Timing::end) {
      PlanFacts own;
      own.add(node, inputs, reads_input_[tensors_of_.size() - 1]);
      step.flops = own.flops;
      step.bytes = own.bytes;
      if (step.kernel != nullptr && !step.kernel->why_not_library().empty())
        own.own_attention.emplace(step.kernel->why_not_library());
      plan_.facts += own;
    }
    add_step(std::move(step), aliases);
  }

  /// When the current node must run.
  Due due(const std::vector<int>& inputs) {
    if (!invariant_[tensors_of_.size() - 1]) return Due::every_run;
    const bool constant = std::ranges::all_of(inputs, [&](int t) { return at(t).home == Home::constant; });
    return constant ? Due::once : Due::on_change;
  }

  bool plan_leaf(const Node& node, std::size_t device, std::vector<int>& outputs) {
    PlannedTensor leaf{node.outputs[0], device, Home::input, -1, 0, node.label, node.owner};
    if (const auto* input = dynamic_cast<const InputOp*>(node.op.get())) {
      leaf.index = input->index();
      plan_.inputs.resize(std::max(plan_.inputs.size(), static_cast<std::size_t>(leaf.index) + 1), -1);
      plan_.inputs[static_cast<std::size_t>(leaf.index)] = static_cast<int>(plan_.tensors.size());
    } else if (const auto* variable = dynamic_cast<const VariableOp*>(node.op.get())) {
      leaf.home = Home::variable;
      leaf.index = static_cast<int>(plan_.variables.size());
      plan_.variables.push_back(variable->variable());
    } else if (const auto* constant = dynamic_cast<const ConstantOp*>(node.op.get())) {
      leaf.home = Home::constant;
      leaf.index = static_cast<int>(plan_.constants.size());
      plan_.constants.push_back(constant->value());
    } else {
      return false;
    }
    outputs.push_back(add_tensor(std::move(leaf)));
    return true;
  }

  void plan_kernel(const Node& node, PlannedStep& step) {
    const std::vector<TensorType> inputs = types(step.inputs);
    const Signature signature{inputs, node.outputs};
    Device& device = devices_.device(node.device);
    device.bind_to_thread();  // a kernel is planned for the threads of its device
    step.kernel = devices_.backend(node.device).plan(*node.op, signature, device);
    step.workspace_bytes = step.kernel->workspace_bytes();
  }

  int add_output(const Node& node, const PlannedStep& step, int output) {
    PlannedTensor result{
        node.outputs[static_cast<std::size_t>(output)], step.device, Home::arena, -1, 0, node.label, node.owner};
    if (dynamic_cast<const Store*>(node.op.get()) != nullptr) result.home = Home::host;
    if (step.due != Due::every_run) {
      result.home = step.due == Due::once ? Home::constant : Home::kept;
      result.index = static_cast<int>(plan_.constants.size());
      plan_.constants.emplace_back();
    }
    return add_tensor(std::move(result));
  }

  int add_view(const TensorType& type, int base, std::size_t offset, const Origin& origin) {
    PlannedTensor view = at(base);
    view.type = type;
    view.offset += offset;
    view.label = origin.label;
    view.owner = origin.owner;
    const int tensor = add_tensor(std::move(view));
    shared_.join(tensor, base);
    return tensor;
  }

  int add_tensor(PlannedTensor tensor) {
    plan_.tensors.push_back(std::move(tensor));
    return shared_.add();
  }

  void add_step(PlannedStep step, const std::vector<Alias>& aliases) {
    plan_.steps.push_back(std::move(step));
    aliases_.push_back(aliases);
    for (const Alias& alias : aliases) {
      if (alias.kind == Alias::Kind::in_place) unite(alias);
    }
    if (plan_.steps.back().timing == Timing::end) plan_.steps.back().begun = begin_of(plan_.steps.back());
  }

  /// The step that began the work for which `end` waits: the latest one with the same output.
  int begin_of(const PlannedStep& end) {
    const auto begun = std::ranges::find_if(plan_.steps.rbegin(), plan_.steps.rend(), [&](const PlannedStep& earlier) {
      return earlier.timing == Timing::begin && shared_.root(earlier.outputs[0]) == shared_.root(end.outputs[0]);
    });
    assert(begun != plan_.steps.rend());
    return static_cast<int>(plan_.steps.rend() - begun) - 1;
  }

  // An in-place output has its input's home, so that a variable's update is the variable.
  void unite(const Alias& alias) {
    const PlannedStep& step = plan_.steps.back();
    const int output = step.outputs[static_cast<std::size_t>(alias.output)];
    const int input = step.inputs[static_cast<std::size_t>(alias.input)];
    shared_.join(output, input);
    at(output).home = at(input).home;
    at(output).index = at(input).index;
    at(output).offset = at(input).offset;
  }

  PlannedTensor& at(int tensor) { return plan_.tensors[static_cast<std::size_t>(tensor)]; }
  int tensor(Value value) const {
    return tensors_of_[static_cast<std::size_t>(value.node)][static_cast<std::size_t>(value.output)];
  }
  std::vector<TensorType> types(const std::vector<int>& tensors) {
    std::vector<TensorType> result;
    for (const int tensor : tensors) result.push_back(at(tensor).type);
    return result;
  }
  std::size_t device_index(const DeviceId& id) {
    const auto found = std::find(plan_.devices.begin(), plan_.devices.end(), id);
    if (found == plan_.devices.end()) plan_.devices.push_back(id);
    return static_cast<std::size_t>(std::find(plan_.devices.begin(), plan_.devices.end(), id) - plan_.devices.begin());
  }

  const Program& program_;
  const Devices& devices_;
  std::vector<bool> invariant_, reads_input_;  // by node
  Plan plan_;
  std::vector<std::vector<int>> tensors_of_;  // by node and output
  SharedMemory shared_;
  std::vector<std::vector<Alias>> aliases_;  // by step
};

}  // namespace

std::vector<bool> nodes_that_read_inputs(const Graph& graph) {
  std::vector<bool> read;
  for (const Node& node : graph.nodes()) {
    read.push_back(op_as<InputOp>(node) != nullptr || std::ranges::any_of(node.inputs, [&](const Value input) {
                     return read[static_cast<std::size_t>(input.node)];
                   }));
  }
  return read;
}

void PlanFacts::add(const Node& node, TensorTypes inputs, bool reads_input) {
  const Op& op = *node.op;
  const TensorTypes outputs = node.outputs;
  const double own_flops = node.role == Role::recomputed ? 0 : op.flops(inputs, outputs);
  flops += own_flops;
  if (node.role == Role::update || !reads_input) fixed_flops += own_flops;
  if (is_product(op) && (has_unaligned_rows(inputs) || has_unaligned_rows(outputs))) unaligned_flops += own_flops;
  bytes += op.bytes(inputs, outputs);
  ++kernels;
  if (dynamic_cast<const Transfer*>(&op) != nullptr) ++crossings;
  if (dynamic_cast<const Store*>(&op) != nullptr) offloaded_bytes += static_cast<double>(outputs[0].bytes());
}

PlanFacts& PlanFacts::operator+=(const PlanFacts& other) {
  flops += other.flops;
  bytes += other.bytes;
  arena_bytes += other.arena_bytes;
  lower_bound += other.lower_bound;
  kernels += other.kernels;
  crossings += other.crossings;
  offloaded_bytes += other.offloaded_bytes;
  unaligned_flops += other.unaligned_flops;
  fixed_flops += other.fixed_flops;
  own_attention.insert(other.own_attention.begin(), other.own_attention.end());
  return *this;
}

Plan make_plan(const Program& program, const Devices& devices) {
  Plan plan = Planner(program, devices).run();
  plan.overlaps_recorded = program.overlaps_recorded;
  return plan;
}

}  // namespace gpubench
