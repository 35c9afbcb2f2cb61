#include "core/exec/plan.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <numeric>

#include "core/graph/exchange_ops.h"
#include "core/graph/invariant.h"
#include "core/graph/leaf_ops.h"
#include "core/graph/offload_ops.h"

namespace gpubench {
namespace {

constexpr int forever = std::numeric_limits<int>::max() - 1;

Work work_of(const Op& op) {
  if (dynamic_cast<const Transfer*>(&op) != nullptr) return Work::transfer;
  if (const auto* const all = dynamic_cast<const AllReduce*>(&op))
    return all->of == AllReduce::Of::sum ? Work::exchange : Work::exchange_max;
  if (dynamic_cast<const AllReduceBegin*>(&op) != nullptr) return Work::exchange_begin;
  if (dynamic_cast<const AllReduceEnd*>(&op) != nullptr) return Work::exchange_end;
  const bool begins = dynamic_cast<const Store*>(&op) != nullptr || dynamic_cast<const Fetch*>(&op) != nullptr;
  if (begins) return Work::begin;
  return dynamic_cast<const HostCopyOp*>(&op) != nullptr ? Work::end : Work::kernel;
}

class Planner {
 public:
  Planner(const Program& program, const Devices& devices)
      : program_(program), devices_(devices), invariant_(invariant_nodes(program.graph)) {}

  Plan run() {
    for (const Node& node : program_.graph.nodes()) plan_node(node);
    for (const Value output : program_.outputs) plan_.outputs.push_back(tensor(output));
    place_buffers();
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
    step.op = node.op->name();
    step.adds_inputs = node.op->adds_inputs();
    step.work = work_of(*node.op);
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
    if (step.due == Due::every_run && step.work != Work::end && step.work != Work::exchange_end) {
      // What is computed again is no work of the model's.
      if (node.role != Role::recomputed) plan_.facts.flops += node.op->flops(inputs, node.outputs);
      plan_.facts.bytes += node.op->bytes(inputs, node.outputs);
      ++plan_.facts.kernels;
    }
    add_step(std::move(step), aliases);
  }

  /// Of the node that is planned now.
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
    device.bind_to_thread();  // kernels are planned for the threads that will run them
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
    root_.back() = root(base);
    return tensor;
  }

  int add_tensor(PlannedTensor tensor) {
    plan_.tensors.push_back(std::move(tensor));
    const int index = static_cast<int>(plan_.tensors.size()) - 1;
    root_.push_back(index);
    return index;
  }

  void add_step(PlannedStep step, const std::vector<Alias>& aliases) {
    plan_.steps.push_back(std::move(step));
    aliases_.push_back(aliases);
    for (const Alias& alias : aliases) {
      if (alias.kind == Alias::Kind::in_place) unite(alias);
    }
  }

  // An in-place output is its input: it has the input's home, so that a variable's update is the variable.
  void unite(const Alias& alias) {
    const PlannedStep& step = plan_.steps.back();
    const int output = step.outputs[static_cast<std::size_t>(alias.output)];
    const int input = step.inputs[static_cast<std::size_t>(alias.input)];
    root_[static_cast<std::size_t>(output)] = root(input);
    at(output).home = at(input).home;
    at(output).index = at(input).index;
    at(output).offset = at(input).offset;
  }

  struct Range {
    int first = forever;
    int last = -1;
  };

  // Lifetimes of the arena's tensors by their roots; merges outputs into inputs that die in the same step.
  void place_buffers() {
    std::vector<Range> ranges = live_ranges();
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) overwrite_dying_inputs(static_cast<int>(s), ranges);
    std::map<int, int> buffer_of;
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      PlannedTensor& tensor = plan_.tensors[t];
      if (tensor.home != Home::arena && tensor.home != Home::host) continue;
      const int top = root(static_cast<int>(t));
      const Range range = ranges[static_cast<std::size_t>(top)];
      const auto [entry, fresh] = buffer_of.try_emplace(top, static_cast<int>(plan_.buffers.size()));
      if (fresh) {
        plan_.buffers.push_back(
            {{range.first, range.last, 0}, tensor.device, 0, at(top).label, tensor.home == Home::host, at(top).owner});
      }
      tensor.index = entry->second;
      Lifetime& lifetime = plan_.buffers[static_cast<std::size_t>(tensor.index)].lifetime;
      lifetime.bytes = std::max(lifetime.bytes, tensor.type.bytes());
    }
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      PlannedStep& step = plan_.steps[s];
      if (step.workspace_bytes == 0) continue;
      step.workspace = static_cast<int>(plan_.buffers.size());
      const int now = static_cast<int>(s);
      plan_.buffers.push_back(
          {{now, now, step.workspace_bytes}, step.device, 0, step.label + "/workspace", false, step.owner});
    }
    assign_offsets();
  }

  std::vector<Range> live_ranges() {
    std::vector<Range> ranges(plan_.tensors.size());
    const auto touch = [&](int tensor, int step) {
      Range& range = ranges[static_cast<std::size_t>(root(tensor))];
      range.first = std::min(range.first, step);
      range.last = std::max(range.last, step);
    };
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const PlannedStep& step = plan_.steps[s];
      // What another device reads must outlive the copy, whose end this device's stream does not see.
      const int last_read = step.work == Work::transfer ? forever : static_cast<int>(s);
      for (const int input : step.inputs) touch(input, last_read), touch(input, static_cast<int>(s));
      for (const int output : step.outputs) touch(output, static_cast<int>(s));
    }
    for (const int output : plan_.outputs) touch(output, forever);
    return ranges;
  }

  void overwrite_dying_inputs(int s, std::vector<Range>& ranges) {
    const PlannedStep& step = plan_.steps[static_cast<std::size_t>(s)];
    for (const Alias& alias : aliases_[static_cast<std::size_t>(s)]) {
      if (alias.kind != Alias::Kind::may_overwrite) continue;
      const int output = step.outputs[static_cast<std::size_t>(alias.output)];
      const int input = step.inputs[static_cast<std::size_t>(alias.input)];
      const int top = root(input);
      if (root(output) != output || at(output).home != Home::arena || at(input).home != Home::arena) continue;
      if (at(input).offset != 0) continue;  // the output's own views would begin there too
      // A stretched input may have as many bytes where the types differ in width.
      const bool as_large =
          at(output).type.bytes() == at(input).type.bytes() && at(output).type.elements() == at(input).type.elements();
      if (ranges[static_cast<std::size_t>(top)].last != s || !as_large) continue;
      const auto same_root = [&](int other) { return root(other) == top; };
      if (std::count_if(step.inputs.begin(), step.inputs.end(), same_root) != 1) continue;
      if (std::any_of(step.outputs.begin(), step.outputs.end(), same_root)) continue;
      ranges[static_cast<std::size_t>(top)].last = ranges[static_cast<std::size_t>(output)].last;
      root_[static_cast<std::size_t>(output)] = top;
    }
  }

  void assign_offsets() {
    for (std::size_t device = 0; device < plan_.devices.size(); ++device) {
      const MemoryPlan memory = assign_offsets(device, false);
      plan_.arena_bytes.push_back(memory.total);
      plan_.facts.arena_bytes += memory.total;
      plan_.facts.lower_bound += memory.lower_bound;
      plan_.host_bytes.push_back(assign_offsets(device, true).total);
    }
  }

  MemoryPlan assign_offsets(std::size_t device, bool on_host) {
    std::vector<Lifetime> lifetimes;
    std::vector<std::size_t> members;
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
      if (plan_.buffers[b].device != device || plan_.buffers[b].on_host != on_host) continue;
      lifetimes.push_back(plan_.buffers[b].lifetime);
      members.push_back(b);
    }
    MemoryPlan memory = plan_memory(lifetimes, MemoryPool::alignment);
    for (std::size_t m = 0; m < members.size(); ++m) plan_.buffers[members[m]].offset = memory.offsets[m];
    return memory;
  }

  int root(int tensor) {
    int& up = root_[static_cast<std::size_t>(tensor)];
    return up == tensor ? tensor : up = root(up);
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
  std::vector<bool> invariant_;  // by node
  Plan plan_;
  std::vector<std::vector<int>> tensors_of_;  // by node and output
  std::vector<int> root_;                     // by tensor: whose memory it shares
  std::vector<std::vector<Alias>> aliases_;   // by step
};

}  // namespace

Plan make_plan(const Program& program, const Devices& devices) {
  return Planner(program, devices).run();
}

}  // namespace gpubench
