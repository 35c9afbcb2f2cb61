#include "core/exec/executor.h"

#include <fmt/format.h>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/exec/eager_executor.h"
#include "core/exec/run/graph_executor.h"
#include "core/graph/exchange_ops.h"

namespace gpubench {
namespace {

constexpr EnumNames<Execution, 2> executions{"unknown execution", {"graph", "eager"}};

PassDevices pass_devices(const Devices& devices) {
  const auto fuses = [&devices](const DeviceId& id, const Op& op, std::span<const TensorType> inputs) {
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
