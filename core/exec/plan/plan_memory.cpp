#include "core/exec/plan/plan_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/align.h"
#include "core/device/device.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, memory_kinds> names = {"variables", "optimizer", "gradients", "activations",
                                                              "workspace", "inputs",    "constants"};

/// Rounds up as a pool does.
std::size_t rounded(std::size_t bytes) {
  return std::max(MemoryPool::alignment, align_up(bytes, MemoryPool::alignment));
}

/// A value without an owner, such as an input, is listed under its label.
const std::string& holder_of(const OwnerPtr& owner, const std::string& label) {
  return owner != nullptr ? owner->name : label;
}

class Analysis {
 public:
  Analysis(const Plan& plan, const Devices& devices, InputFeed feed, std::span<const VariablePtr> optimizer_state)
      : plan_(plan),
        devices_(devices),
        feed_(feed),
        gradients_(plan.buffers.size(), false),
        workspaces_(plan.buffers.size(), false) {
    for (const VariablePtr& variable : optimizer_state) optimizer_state_.insert(variable.get());
    for (const PlannedStep& step : plan.steps) {
      if (step.workspace >= 0) workspaces_[static_cast<std::size_t>(step.workspace)] = true;
    }
    find_gradients();
  }

  DeviceMemory of(std::size_t device) {
    DeviceMemory memory;
    memory.device = plan_.devices[device];
    memory.arena = round_up(plan_.arena_bytes[device]);
    memory.offloaded = round_up(plan_.host_bytes[device]);
    holders_.clear();
    add_lasting(device);
    const std::size_t peak = follow(device, memory);
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
      const PlannedBuffer& buffer = plan_.buffers[b];
      if (buffer.device != device || buffer.on_host || !alive(buffer, peak)) continue;
      add(holder_of(buffer.owner, buffer.label), kind_of(b), round_up(buffer.lifetime.bytes));
    }
    for (const auto& [holder, bytes] : holders_) memory.at_peak.push_back({holder.first, holder.second, bytes});
    std::ranges::stable_sort(memory.at_peak, std::greater{}, &MemoryHolder::bytes);
    return memory;
  }

 private:
  static std::size_t round_up(std::size_t bytes) { return bytes == 0 ? 0 : rounded(bytes); }
  static bool alive(const PlannedBuffer& buffer, std::size_t step) {
    const int now = static_cast<int>(step);
    return buffer.lifetime.first <= now && now <= buffer.lifetime.last;
  }
  const PlannedTensor& tensor(int index) const { return plan_.tensors[static_cast<std::size_t>(index)]; }

  void add(const std::string& layer, MemoryKind kind, std::size_t bytes) {
    if (bytes != 0) holders_[{layer, kind}] += bytes;
  }

  MemoryKind kind_of(std::size_t buffer) const {
    if (workspaces_[buffer]) return MemoryKind::workspace;
    return gradients_[buffer] ? MemoryKind::gradients : MemoryKind::activations;
  }

  /// Walks backwards, so that sums are known before their terms.
  void find_gradients() {
    for (std::size_t s = plan_.steps.size(); s-- > 0;) {
      const PlannedStep& step = plan_.steps[s];
      for (const int output : step.outputs) {
        const PlannedTensor& result = tensor(output);
        const bool update =
            result.home == Home::variable && plan_.variables[static_cast<std::size_t>(result.index)]->trainable;
        const bool sum =
            step.adds_inputs && result.home == Home::arena && gradients_[static_cast<std::size_t>(result.index)];
        if (update || sum) mark(step, result.type);
      }
    }
  }

  void mark(const PlannedStep& step, const TensorType& type) {
    for (const int input : step.inputs) {
      const PlannedTensor& read = tensor(input);
      if (read.home == Home::arena && read.type == type) gradients_[static_cast<std::size_t>(read.index)] = true;
    }
  }

  /// Adds memory that outlives a run.
  void add_lasting(std::size_t device) {
    std::set<int> constants;
    for (const PlannedTensor& lasting : plan_.tensors) {
      const bool kept = lasting.home == Home::constant || lasting.home == Home::kept;
      if (lasting.device != device || !kept || !constants.insert(lasting.index).second) continue;
      add(holder_of(lasting.owner, lasting.label), MemoryKind::constants, rounded(lasting.type.bytes()));
    }
    for (const VariablePtr& variable : plan_.variables) {
      if (variable->device != plan_.devices[device]) continue;
      const bool state = optimizer_state_.contains(variable.get());
      add(holder_of(variable->owner, variable->name), state ? MemoryKind::optimizer : MemoryKind::variables,
          rounded(variable->type.bytes()));
    }
    if (devices_.device(plan_.devices[device]).shares_host_memory() || feed_.in_place) return;
    for (const int input : plan_.inputs) {
      if (input < 0 || tensor(input).device != device) continue;
      add(holder_of(tensor(input).owner, tensor(input).label), MemoryKind::inputs,
          static_cast<std::size_t>(feed_.slots) * rounded(tensor(input).type.bytes()));
    }
  }

  /// Fills the timeline; returns the step at which most is alive, including steps that run only once.
  std::size_t follow(std::size_t device, DeviceMemory& memory) {
    std::size_t peak = 0;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      std::size_t bytes = 0, activations = 0;
      for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
        const PlannedBuffer& buffer = plan_.buffers[b];
        if (buffer.device != device || buffer.on_host || !alive(buffer, s)) continue;
        bytes += round_up(buffer.lifetime.bytes);
        if (kind_of(b) == MemoryKind::activations) activations += round_up(buffer.lifetime.bytes);
      }
      memory.peak_activations = std::max(memory.peak_activations, activations);
      const PlannedStep& step = plan_.steps[s];
      const bool launched = step.due == Due::every_run && step.device == device &&
                            !(step.work == Work::copy && step.timing == Timing::end);
      if (bytes > memory.lower_bound) {
        memory.lower_bound = bytes;
        peak = s;
        memory.peak_launch = memory.timeline.size();
      }
      if (launched) memory.timeline.push_back({step.label, step.op, bytes});
    }
    return peak;
  }

  const Plan& plan_;
  const Devices& devices_;
  InputFeed feed_;
  std::set<const Variable*> optimizer_state_;
  std::vector<bool> gradients_, workspaces_;  // by buffer
  std::map<std::pair<std::string, MemoryKind>, std::size_t> holders_;
};

}  // namespace

std::string_view to_string(MemoryKind kind) {
  return names[static_cast<std::size_t>(kind)];
}

std::size_t DeviceMemory::bytes_of(MemoryKind kind) const {
  std::size_t bytes = 0;
  for (const MemoryHolder& holder : at_peak) bytes += holder.kind == kind ? holder.bytes : 0;
  return bytes;
}

std::size_t DeviceMemory::total() const {
  using enum MemoryKind;
  return bytes_of(variables) + bytes_of(optimizer) + bytes_of(inputs) + bytes_of(constants) + arena;
}

std::vector<DeviceMemory> memory_of(const Plan& plan, const Devices& devices, InputFeed feed,
                                    std::span<const VariablePtr> optimizer_state) {
  Analysis analysis(plan, devices, feed, optimizer_state);
  std::vector<DeviceMemory> result;
  for (std::size_t device = 0; device < plan.devices.size(); ++device) result.push_back(analysis.of(device));
  return result;
}

std::size_t total(std::span<const DeviceMemory> memory) {
  std::size_t bytes = 0;
  for (const DeviceMemory& device : memory) bytes += device.total();
  return bytes;
}

}  // namespace gpubench
