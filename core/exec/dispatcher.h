// Where ops on tensors go: into the graph being traced, or directly to the eager kernels, where active tapes record
// them. The functional API, model calls, maps, tapes and compiled functions all use this dispatcher.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/eager.h"
#include "core/exec/executor.h"
#include "core/exec/tensor.h"

namespace gpubench {

/// Records the ops that are applied while it is active, and differentiates them.
class Tape {
 public:
  virtual ~Tape() = default;
  virtual void record(const OpPtr& op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                      const DeviceId& device, const std::string& label) = 0;
};

class Dispatcher {
 public:
  explicit Dispatcher(Runtime& runtime);

  /// The outputs of `op`: symbolic during a trace, else concrete.
  std::vector<Tensor> apply(const OpPtr& op, std::span<const Tensor> inputs);
  /// The first output.
  Tensor apply_one(const OpPtr& op, std::span<const Tensor> inputs) { return apply(op, inputs).front(); }
  /// The outputs of `op`, computed at once on `device`; tapes record it.
  std::vector<Tensor> apply_on(const DeviceId& device, const OpPtr& op, std::span<const Tensor> inputs,
                               const std::string& label) {
    return apply_eagerly(op, inputs, device, label);
  }
  /// Applies every node of `graph`, with `inputs` in place of its inputs, and returns `outputs`. Layers are called on
  /// tensors this way, eagerly or inside a trace.
  std::vector<Tensor> apply(const Graph& graph, std::span<const Tensor> inputs, Values outputs);

  /// The element type that ops see: of a variable, the one to which the current trace casts it.
  Dtype dtype_of(const Tensor& tensor) const;
  /// The variable as a tensor of the current mode.
  Tensor variable(const VariablePtr& variable);
  /// A host value as a tensor of the current mode.
  Tensor constant(const HostTensor& value);

  /// Starts a trace: ops go into it until end_trace(). Traces do not nest. `replica`: the replica whose step is traced;
  /// it must live until end_trace().
  std::shared_ptr<Trace> begin_trace(const TracedReplica* replica = nullptr);
  void end_trace() noexcept;
  const std::shared_ptr<Trace>& trace() const { return trace_; }
  /// `tensor` as a value of the current trace: variables by reference, other concrete tensors as constants.
  Value symbol(const Tensor& tensor);

  /// Active tapes record every op that is applied eagerly.
  void add_tape(Tape* tape) { tapes_.push_back(tape); }
  void remove_tape(Tape* tape) noexcept { std::erase(tapes_, tape); }

  /// Whether tapes record.
  bool recording() const { return !tapes_.empty(); }

  /// Sets the device of later ops and begins its use. Throws Error if it does not exist, UnusableDevice if it cannot be
  /// used.
  void set_device(const DeviceId& device);
  /// Devices::default_device() until one is set.
  const DeviceId& device();

  Eager& eager() { return eager_; }
  Runtime& runtime() { return eager_.runtime(); }

 private:
  friend class DeviceScope;
  friend class GraphTrace;
  friend class TracePause;
  /// The type to which the current trace casts a variable of type `dtype`.
  Dtype cast_for(Dtype dtype) const;
  /// The variable in the current trace.
  Value read(const VariablePtr& variable);
  std::vector<Tensor> apply_eagerly(const OpPtr& op, std::span<const Tensor> inputs, const DeviceId& device,
                                    const std::string& label, const Eager::Part& part = {});

  Eager eager_;
  std::optional<DeviceId> device_;
  std::shared_ptr<Trace> trace_;
  std::vector<Tape*> tapes_;
};

/// While it lives, ops are placed on `device`. Throws as Dispatcher::set_device.
class DeviceScope {
 public:
  DeviceScope(Dispatcher& dispatcher, const DeviceId& device) : dispatcher_(dispatcher), before_(dispatcher.device_) {
    dispatcher.set_device(device);
  }
  ~DeviceScope() { dispatcher_.device_ = std::move(before_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Dispatcher& dispatcher_;
  std::optional<DeviceId> before_;
};

/// While it lives, ops go into `graph`, with its current owner and on its current device. It may begin during another
/// trace, which goes on afterwards. `variables_as`: see Trace.
class GraphTrace {
 public:
  GraphTrace(Dispatcher& dispatcher, Graph& graph, std::optional<Dtype> variables_as = {});
  ~GraphTrace();
  GraphTrace(const GraphTrace&) = delete;
  GraphTrace& operator=(const GraphTrace&) = delete;

  /// A value of the graph. During the trace the graph itself is elsewhere: use the trace's.
  Tensor tensor(Value value) const { return {trace_, value}; }

 private:
  Dispatcher& dispatcher_;
  Graph& graph_;
  std::shared_ptr<Trace> trace_, outer_;
  DeviceScope device_;
};

/// While it lives, ops are computed eagerly, also inside a trace.
class TracePause {
 public:
  explicit TracePause(Dispatcher& dispatcher)
      : dispatcher_(dispatcher), paused_(std::exchange(dispatcher.trace_, nullptr)) {}
  ~TracePause() { dispatcher_.trace_ = std::move(paused_); }
  TracePause(const TracePause&) = delete;
  TracePause& operator=(const TracePause&) = delete;

 private:
  Dispatcher& dispatcher_;
  std::shared_ptr<Trace> paused_;
};

}  // namespace gpubench
