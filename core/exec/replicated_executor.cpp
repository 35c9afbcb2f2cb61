#include "core/exec/replicated_executor.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "core/base/interrupt.h"
#include "core/device/device.h"
#include "core/graph/copy.h"

namespace gpubench {
namespace {

/// Waits as long as a slow device would take, without using a core; spins at the end, to be exact.
void delay(Seconds time) {
  constexpr Seconds late_waking{100e-6};
  const auto begin = Clock::now();
  if (time > late_waking) std::this_thread::sleep_for(time - late_waking);
  while (Clock::now() - begin < time) {
  }
}

}  // namespace

ReplicatedExecutor::ReplicatedExecutor(ReplicasPtr replicas, std::vector<ReplicaGraph> graphs,
                                       std::vector<BatchShare> rows, const ExecutorOptions& options)
    : replicas_(std::move(replicas)),
      rows_(std::move(rows)),
      executors_(graphs.size()),
      types_(graphs.size()),
      views_(graphs.size()),
      aligned_(graphs.size()) {
  std::vector<Graph> mirrors;
  for (int replica = 0; replica < replicas_->size(); ++replica) {
    const auto own = [&](const VariablePtr& variable) {
      const MirroredVariablePtr mirrored = replicas_->mirrored(variable);
      if (std::ranges::find(variables_, mirrored) == variables_.end()) variables_.push_back(mirrored);
      return mirrored->mirrors[static_cast<std::size_t>(replica)];
    };
    const Graph& graph = graphs[static_cast<std::size_t>(replica)].graph;
    mirrors.push_back(copy_for_replica(graph, replicas_->device(0), replicas_->device(replica), own));
  }
  replicas_->each([&](int replica) {
    const auto at = static_cast<std::size_t>(replica);
    ExecutorOptions own = options;
    own.communicator = &replicas_->communicator(replica);
    executors_[at] = make_executor(replicas_->runtime(replica), std::move(mirrors[at]), graphs[at].outputs, own);
  });
}

ReplicatedExecutor::~ReplicatedExecutor() = default;

template <class Run>
void ReplicatedExecutor::step(Run&& run) {
  for (const MirroredVariablePtr& variable : variables_) replicas_->refresh(*variable);
  const std::vector<Seconds>& delays = replicas_->options().delays;
  replicas_->step([&](int replica) {
    const auto at = static_cast<std::size_t>(replica);
    if (!delays.empty()) delay(delays[at] * static_cast<double>(rows_[at].rows));
    run(replica);
  });
  for (const MirroredVariablePtr& variable : variables_)
    variable->seen = variable->writes->load(std::memory_order_relaxed);
}

void ReplicatedExecutor::run(std::span<const TensorView> inputs) {
  const Computation computation;
  for (std::size_t replica = 0; replica < executors_.size(); ++replica) {
    std::vector<TensorView>& views = views_[replica];
    const BatchShare& own = rows_[replica];
    if (own.rows == 0) continue;
    if (types_[replica].empty()) {
      for (const TensorView& input : inputs) {
        types_[replica].push_back(*input.type);
        types_[replica].back().shape[0] = own.rows;
      }
      views.resize(inputs.size());
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::size_t row = types_[replica][i].bytes() / static_cast<std::size_t>(own.rows);
      views[i] = {&types_[replica][i], inputs[i].data + row * static_cast<std::size_t>(own.first - rows_[0].first)};
    }
  }
  run_each(views_);
}

void ReplicatedExecutor::run_each(const std::vector<std::vector<TensorView>>& inputs) {
  step([&](int replica) {
    const auto at = static_cast<std::size_t>(replica);
    executors_[at]->run(aligned(replica, inputs[at]));
  });
}

std::span<const TensorView> ReplicatedExecutor::aligned(int replica, const std::vector<TensorView>& inputs) {
  const auto is_aligned = [](const TensorView& view) {
    return reinterpret_cast<std::uintptr_t>(view.data) % HostTensor::alignment == 0;
  };
  Runtime& runtime = replicas_->runtime(replica);
  // Other devices copy the inputs to their own memory anyway.
  if (!runtime.devices().device(replicas_->device(replica)).shares_host_memory()) return inputs;
  if (std::ranges::all_of(inputs, is_aligned)) return inputs;
  Aligned& own = aligned_[static_cast<std::size_t>(replica)];
  own.views = inputs;
  own.copies.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_aligned(inputs[i])) continue;
    if (own.copies[i].empty()) own.copies[i] = HostTensor(*inputs[i].type);
    const SpanScope copying(runtime.spans(), CopyPath::host_to_device);
    std::memcpy(own.copies[i].data(), inputs[i].data, own.copies[i].bytes());
    own.views[i].data = own.copies[i].data();
  }
  return own.views;
}

void ReplicatedExecutor::run_again() {
  const Computation computation;
  step([&](int replica) { executors_[static_cast<std::size_t>(replica)]->run_again(); });
}

int ReplicatedExecutor::inputs_in_flight() const {
  int most = 0;
  for (const auto& executor : executors_) most = std::max(most, executor->inputs_in_flight());
  return most;
}

void ReplicatedExecutor::wait_for_inputs() {
  for (const auto& executor : executors_) executor->wait_for_inputs();
}

HostTensor ReplicatedExecutor::read(int index) {
  std::vector<HostTensor> parts;
  std::int64_t rows = 0;
  for (std::size_t replica = 0; replica < executors_.size(); ++replica) {
    if (rows_[replica].rows == 0) continue;
    parts.push_back(executors_[replica]->read(index));
    rows += parts.back().shape()[0];
  }
  if (parts.size() == 1) return std::move(parts[0]);
  TensorType type = parts.at(0).type();
  type.shape[0] = rows;
  HostTensor joined(type);
  std::byte* to = joined.data();
  for (const HostTensor& part : parts) {
    std::memcpy(to, part.data(), part.bytes());
    to += part.bytes();
  }
  return joined;
}

PlanFacts ReplicatedExecutor::facts() const {
  PlanFacts sum;
  for (const auto& executor : executors_) sum += executor->facts();
  return sum;
}

}  // namespace gpubench
