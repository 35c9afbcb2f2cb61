#include "core/traces/trace_me.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/traces/event_kinds.h"

namespace gpubench {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// "$train.py:12 next_batch": "next_batch"; empty for names of no Python function.
std::string_view python_function(std::string_view name) {
  const std::size_t blank = name.rfind(' ');
  return name.starts_with('$') && blank != std::string_view::npos ? name.substr(blank + 1) : std::string_view();
}

/// Words of functions that make a batch, in the names that people give them.
bool makes_input(std::string_view function) {
  constexpr std::array<std::string_view, 10> words = {"batch",  "batches", "collate",  "preprocess", "augment",
                                                      "loader", "dataset", "prefetch", "minibatch",  "dataloader"};
  if (function == "__next__") return true;
  while (!function.empty()) {
    const std::size_t end = std::min(function.find('_'), function.size());
    if (std::ranges::find(words, function.substr(0, end)) != words.end()) return true;
    function.remove_prefix(std::min(end + 1, function.size()));
  }
  return false;
}

bool waits_for_device(std::string_view name, std::string_view function) {
  return function == "block_until_ready" || function == "_value" || function == "__float__" ||
         contains(name, "BlockHostUntilReady") || contains(name, "Await") || contains(name, "StreamSynchronize");
}

bool is_number_behind(std::string_view text, std::size_t dot) {
  return dot + 1 < text.size() && text.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
}

CopyPath path_of_hlo(std::string_view text) {
  constexpr std::string_view host_space = "S(5)";
  const std::size_t call = text.find("copy-done(");
  if (call == std::string_view::npos) return CopyPath::unknown;
  if (contains(text.substr(0, call), host_space)) return CopyPath::device_to_host;
  return contains(text.substr(call), host_space) ? CopyPath::host_to_device : CopyPath::within_device;
}

}  // namespace

HostWork work_of_trace_me(std::string_view name) {
  const std::string_view function = python_function(name);
  if (waits_for_device(name, function)) return HostWork::sync;
  if (!function.empty() && makes_input(function)) return HostWork::input;
  if (contains(name, "Launch") || contains(name, "MemcpyAsync")) return work_of_call(name);
  return work_of_range(name, function.empty() ? HostWork::op : HostWork::python);
}

std::string_view hlo_op(std::string_view name) {
  if (!name.starts_with('%')) return name;
  name = name.substr(1, std::min(name.find(' '), name.size()) - 1);
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos && is_number_behind(name, dot) ? name.substr(0, dot) : name;
}

std::uint32_t main_thread(const ForeignTrace& trace) {
  std::vector<std::int64_t> steps(trace.threads.size()), other(trace.threads.size());
  std::int64_t covered = 0;
  for (std::size_t i = 0; i < trace.host.size(); ++i) {
    const HostEvent& event = trace.host[i];
    if (i == 0 || event.thread != trace.host[i - 1].thread) covered = INT64_MIN;
    if (event.work == HostWork::step) steps[event.thread] += event.time.length();
    // Of nested events the outer one alone, which comes first.
    if (event.time.begin >= covered) {
      other[event.thread] += event.time.length();
      covered = event.time.end;
    }
  }
  const std::vector<std::int64_t>& most =
      std::ranges::any_of(steps, [](std::int64_t time) { return time > 0; }) ? steps : other;
  return most.empty() ? 0 : static_cast<std::uint32_t>(std::ranges::max_element(most) - most.begin());
}

TraceMeLanes::Lane TraceMeLanes::lane_of(const TraceThread& thread) {
  const std::string_view plane = thread.process, line = thread.name;
  if (plane.starts_with("/device:GPU:")) {
    return contains(line, "tream #") || contains(line, "tream ") ? Lane::stream : Lane::skipped;
  }
  if (plane.starts_with("/device:TPU:")) {
    if (line == "XLA Ops") return Lane::tpu_ops;
    return line == "Steps" || line == "XLA Modules" ? Lane::modules : Lane::skipped;
  }
  if (plane.starts_with("/device:") || plane.starts_with("/host:metadata")) return Lane::skipped;
  if (contains(line, "codegen")) return Lane::codegen;
  if (line.starts_with("tf_XLA") || line.starts_with("tf_Compute") || line.starts_with("tf_Eigen"))
    return Lane::compute_threads;
  return Lane::host;
}

void TraceMeLanes::add(const TraceMeEvent& event) {
  const auto [place, is_new] = lanes_.try_emplace(event.thread, Lane::host);
  if (is_new) place->second = lane_of(trace_.threads[event.thread]);
  switch (place->second) {
    case Lane::skipped:
      return;
    case Lane::stream:
    case Lane::tpu_ops:
    case Lane::compute_threads:
      return add_device(event, place->second);
    case Lane::host:
    case Lane::codegen:
    case Lane::modules:
      return add_host(event, place->second);
  }
}

std::uint16_t TraceMeLanes::device_of(std::string_view plane) {
  const auto known = devices_.find(plane);
  if (known != devices_.end()) return known->second;
  std::string name = "cpu:0";
  if (plane.starts_with("/device:GPU:")) name = "gpu:" + std::string(plane.substr(12));
  if (plane.starts_with("/device:TPU:")) name = "tpu:" + std::string(plane.substr(12));
  const auto same = std::ranges::find(trace_.devices, name, &ForeignDevice::name);
  const auto index = static_cast<std::uint16_t>(same - trace_.devices.begin());
  if (same == trace_.devices.end()) trace_.devices.push_back({.name = name, .description = {}});
  devices_.emplace(std::string(plane), index);
  return index;
}

void TraceMeLanes::add_device(const TraceMeEvent& event, Lane lane) {
  const std::string name = trace_.names.text(event.name);
  DeviceEvent device{.time = event.time, .name = event.name};
  device.stream = static_cast<std::int32_t>(event.thread);
  device.correlation = event.correlation;
  if (lane == Lane::compute_threads) {
    // What belongs to the executor, to input or to Python is no work of the model.
    for (const char* other : {"Executor", "Iterator", "Threadpool", "PyFunc", "Prefetch"})
      if (name.starts_with(other) && !name.starts_with("ThunkExecutor")) return add_host(event, Lane::host);
    device.device = device_of("/host:CPU");
  } else {
    device.device = device_of(trace_.threads[event.thread].process);
  }
  if (lane == Lane::tpu_ops) device.name = trace_.names.id(hlo_op(name));
  if (name.starts_with("Memcpy") || path_of_copy(name) != CopyPath::unknown) {
    device.work = DeviceWork::copy;
    device.path = path_of_copy(name);
  } else if (name.starts_with("Memset")) {
    device.work = DeviceWork::memset;
  } else {
    device.work = work_of_kernel(trace_.names.text(device.name), {});
    if (device.work == DeviceWork::copy) device.path = path_of_copy(name);
    if (lane == Lane::tpu_ops && hlo_op(name) == "copy-done") {
      device.work = DeviceWork::copy;
      device.path = path_of_hlo(name);
    }
  }
  trace_.device.push_back(device);
}

void TraceMeLanes::add_host(const TraceMeEvent& event, Lane lane) {
  const auto [place, is_new] = works_.try_emplace(event.name, HostWork::op);
  const std::string& name = trace_.names.text(event.name);
  if (is_new) place->second = work_of_trace_me(name);
  HostWork work = place->second;
  if (event.is_step) work = HostWork::step;
  if (lane == Lane::codegen) work = HostWork::compile;
  if (lane == Lane::modules) work = HostWork::annotation;
  if (lane == Lane::host && name.starts_with("ThunkExecutor::Execute")) {  // on the thread that calls it
    DeviceEvent device{.time = event.time, .name = event.name};
    device.device = device_of("/host:CPU");
    device.stream = static_cast<std::int32_t>(event.thread);
    trace_.device.push_back(device);
    return;
  }
  if (name.starts_with('$'))
    ++trace_.report.python_events;
  else
    ++trace_.report.op_events;
  if (trace_.framework != Framework::jax && (name.starts_with("PjitFunction") || contains(name, "pxla.py")))
    trace_.framework = Framework::jax;
  if (trace_.framework == Framework::unknown && (name.starts_with("EagerExecute") || name.starts_with("FunctionRun") ||
                                                 name.starts_with("TFE_Py") || name.starts_with("Iterator")))
    trace_.framework = Framework::tensorflow;
  trace_.host.push_back({event.time, event.name, event.thread, event.correlation, work});
}

void TraceMeLanes::finish() {
  std::ranges::stable_sort(trace_.host, {}, [](const HostEvent& event) {
    return std::tuple(event.thread, event.time.begin, -event.time.end);
  });
  const std::uint32_t main = main_thread(trace_);
  for (HostEvent& event : trace_.host)
    if (event.work == HostWork::input && trace_.text(event).starts_with("IteratorGetNext")) event.thread = main;
  trace_.has_stacks = trace_.report.python_events > 0;
}

}  // namespace gpubench
