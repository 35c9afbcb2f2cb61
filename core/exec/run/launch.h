// A planned step bound to memory, ready to be queued.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <variant>

#include "core/backend/backend.h"
#include "core/comm/communicator.h"
#include "core/exec/device_copy.h"
#include "core/exec/run/bound_plan.h"
#include "core/trace/timeline.h"

namespace gpubench {

struct KernelLaunch {
  Kernel* kernel;
  BoundStep memory;
  void queue(Stream& stream) const { kernel->run(stream, memory.inputs, memory.outputs, memory.workspace); }
};

/// A copy to another device.
struct CopyLaunch {
  std::unique_ptr<DeviceCopy> copy;
  BoundStep memory;  // one input and one output, whose addresses may change from run to run
  void queue(Stream&) const {
    copy->queue(memory.outputs[0].data, memory.inputs[0].data, memory.inputs[0].type->bytes());
  }
};

/// A collective; the following kernels wait for it.
struct ExchangeLaunch {
  Communicator* communicator;
  Collective collective;
  void queue(Stream& stream) const { communicator->run(collective, stream); }
};

/// Begins work beside the kernels: a copy to or from the host, or a collective.
struct BeginLaunch {
  std::unique_ptr<SideWork> work;
  void queue(Stream& stream) const { work->begin(stream); }
};

/// Makes the following kernels wait for the work of a BeginLaunch.
struct EndLaunch {
  SideWork* work;
  void queue(Stream& stream) const { work->end(stream); }
};

/// Replaces the EndLaunch of work for which an earlier segment has already waited.
struct NoLaunch {
  void queue(Stream&) const {}
};

struct Launch {
  std::variant<KernelLaunch, CopyLaunch, ExchangeLaunch, BeginLaunch, EndLaunch, NoLaunch> action = NoLaunch{};
  std::size_t step = 0;  ///< index in the plan
  std::size_t device = 0;
  bool reads_input = false;
  bool by_host = false;    ///< the host takes part, so it cannot be recorded
  bool exchanges = false;  ///< runs or begins a collective
  double exchanged = 0;    ///< bytes of that collective
  /// Of the time that the call of queue() takes: the work itself, if it runs in the calling thread. Communicators add
  /// the spans of their collectives themselves.
  SpanClass span_class = SpanClass::launch;
  NodeId node = NodeId::none;

  /// `stream` must belong to the launch's device.
  void queue(Stream& stream) const {
    std::visit([&stream](const auto& launch) { launch.queue(stream); }, action);
  }
};

}  // namespace gpubench
