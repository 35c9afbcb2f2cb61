#include "core/exec/executor.h"

#include <fmt/format.h>
#include <utility>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/exec/eager.h"
#include "core/exec/run/graph_executor.h"
#include "core/exec/step_fence.h"
#include "core/graph/exchange_ops.h"
#include "core/graph/leaf_ops.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

// Interprets a graph node by node with the eager kernels: the same ops as the graph executor, at eager cost per op.
// Intermediate tensors return to the pool after their last reader.

class EagerExecutor final : public Executor {
 public:
  /// `communicator` carries out the program's exchanges; nullptr if it has none.
  EagerExecutor(Runtime& runtime, Program program, bool inputs_on_device, Communicator* communicator = nullptr);

  void run(std::span<const TensorView> inputs) override;
  void run_again() override;
  void wait_for_inputs() override { fence_.wait(); }
  TensorView result(int index) const override;
  HostTensor read(int index) override;
  int inputs_in_flight() const override { return fence_.empty() ? 0 : StepFence::steps_in_flight; }
  PlanFacts facts() const override { return facts_; }

 private:
  /// `ready`: an input or a constant.
  enum class Kind : std::uint8_t { ready, variable, exchange, op };

  void run_nodes();
  void name_nodes();
  Eager::Part part(std::size_t index) const;
  void run_node(std::size_t index);
  /// All-reduces copies of the node's inputs, because other nodes may read the inputs too.
  std::vector<Tensor> all_reduce(std::size_t index);

  Eager eager_;
  Program program_;
  PlanFacts facts_;
  std::vector<Kind> kinds_;  // by node: to find it out by casts takes a quarter of a small op's time
  std::vector<std::pair<std::size_t, std::size_t>> inputs_;  // nodes of the inputs, and which each is
  std::vector<std::vector<Tensor>> values_;                  // by node
  std::vector<std::vector<std::size_t>> dies_;               // by node: the nodes whose values no later node reads
  std::vector<Tensor> gathered_;
  std::vector<Tensor> results_;
  std::vector<NodeId>
      traced_;  // by node: its number in the trace that began when the runtime had traced_in_ recordings
  std::uint64_t traced_in_ = 0;
  std::vector<Tensor> ready_;  // by node: the constants and the latest run's inputs, empty for other nodes
  StepFence fence_;            // for the devices to which inputs are copied
  bool inputs_on_device_;
  Communicator* communicator_;
};

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

constexpr EnumNames<Execution, 2> executions{"unknown execution", {"graph", "eager"}};

PassDevices pass_devices(const Devices& devices) {
  const auto fuses = [&devices](const DeviceId& id, const Op& op, TensorTypes inputs) {
    Device& device = devices.device(id);
    device.bind_to_thread();
    const std::vector<TensorType> outputs = checked_outputs(op, inputs);
    return devices.backend(id).fuses(op, {inputs, outputs}, device);
  };
  // CPU streams copy synchronously in the calling thread, so nothing overlaps.
  const auto overlaps = [&devices](const DeviceId& id) { return !devices.device(id).shares_host_memory(); };
  return {fuses, overlaps};
}

InputFeed feed_of(const ExecutorOptions& options) {
  return {.on_device = options.inputs_on_device, .in_place = options.inputs_in_place, .slots = options.input_slots};
}

void require_communicator(const Graph& graph, const ExecutorOptions& options) {
  if (options.communicator != nullptr) return;
  for (const Node& node : graph.nodes()) {
    if (dynamic_cast<const ExchangeOp*>(node.op.get()) == nullptr) continue;
    throw Error(
        fmt::format("all_reduce: '{}' adds up over replicas, and runs for none; run it in strategy:run", node.label));
  }
}

}  // namespace

std::string_view to_string(Execution execution) {
  return executions[execution];
}

Execution parse_execution(std::string_view name) {
  return executions.parse(name);
}

PlannedProgram plan_program(const Devices& devices, Graph graph, std::vector<Value> outputs,
                            const ExecutorOptions& options) {
  if (options.execution == Execution::eager) {
    throw Error("eager execution plans no memory: it takes what each op needs when it runs");
  }
  const Program program = apply_passes({std::move(graph), std::move(outputs)}, options.passes, pass_devices(devices));
  return {make_plan(program, devices), feed_of(options)};
}

std::unique_ptr<Executor> make_executor(Runtime& runtime, Graph graph, std::vector<Value> outputs,
                                        const ExecutorOptions& options) {
  const Computation computation;
  if (options.input_slots < 1 || options.input_slots > most_input_slots) {
    throw Error(fmt::format("an executor takes 1 or {} input slots, got {}", most_input_slots, options.input_slots));
  }
  Program program{std::move(graph), std::move(outputs)};
  require_communicator(program.graph, options);
  if (options.execution == Execution::eager && !options.passes.offload.layers.empty()) {
    throw Error("eager execution keeps every activation where it is; only a planned step can offload some to the host");
  }
  if (options.execution == Execution::eager) {
    return std::make_unique<EagerExecutor>(runtime, std::move(program), options.inputs_on_device, options.communicator);
  }
  program = apply_passes(std::move(program), options.passes, pass_devices(runtime.devices()));
  return std::make_unique<GraphExecutor>(runtime, program, feed_of(options), options.communicator);
}

}  // namespace gpubench
