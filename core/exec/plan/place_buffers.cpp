#include "core/exec/plan/place_buffers.h"

#include <algorithm>
#include <limits>
#include <map>

namespace gpubench {
namespace {

constexpr int end_of_run = std::numeric_limits<int>::max() - 1;

/// Where steps that share no memory run side by side, a tensor up to this size keeps its memory for so many further
/// steps: about as many as run side by side with the last that reads it. Small beside the memory of any GPU.
constexpr std::size_t small_bytes = std::size_t{64} << 10;
constexpr int steps_kept = 8;

class BufferPlacing {
 public:
  BufferPlacing(Plan& plan, SharedMemory& shared, const std::vector<std::vector<Alias>>& aliases)
      : plan_(plan), shared_(shared), aliases_(aliases) {}

  void run(const std::vector<bool>& side_by_side) {
    find_lifetimes();
    for (std::size_t device = 0; device < side_by_side.size(); ++device) {
      if (side_by_side[device]) keep_small_ones(device);
    }
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) overwrite_dying_inputs(static_cast<int>(s));
    add_buffers();
    add_workspaces();
    for (std::size_t device = 0; device < plan_.devices.size(); ++device) {
      const MemoryPlan memory = assign_offsets(device, false);
      plan_.arena_bytes.push_back(memory.total);
      plan_.facts.arena_bytes += memory.total;
      plan_.facts.lower_bound += memory.lower_bound;
      plan_.host_bytes.push_back(assign_offsets(device, true).total);
    }
  }

 private:
  struct Range {
    int first = end_of_run;
    int last = -1;
  };

  void touch(int tensor, int step) {
    Range& range = range_of(tensor);
    range.first = std::min(range.first, step);
    range.last = std::max(range.last, step);
  }

  void find_lifetimes() {
    ranges_.resize(plan_.tensors.size());
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const PlannedStep& step = plan_.steps[s];
      const int now = static_cast<int>(s);
      workspaces_.push_back({now, now});
      // A tensor that another device reads must outlive the copy, whose end this device's stream does not see.
      const bool for_another_device = step.work == Work::copy && step.timing == Timing::in_order;
      for (const int input : step.inputs) touch(input, for_another_device ? end_of_run : now), touch(input, now);
      for (const int output : step.outputs) touch(output, now);
    }
    for (const int output : plan_.outputs) touch(output, end_of_run);
  }

  /// The memory of small tensors and workspaces is not used again at once.
  void keep_small_ones(std::size_t device) {
    std::map<int, std::size_t> bytes;  // by root
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      const PlannedTensor& tensor = plan_.tensors[t];
      if (tensor.home != Home::arena || tensor.device != device) continue;
      std::size_t& largest = bytes[shared_.root(static_cast<int>(t))];
      largest = std::max(largest, tensor.type.bytes());
    }
    for (const auto& [root, size] : bytes) keep_if_small(range_of(root), size);
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      if (plan_.steps[s].device == device) keep_if_small(workspaces_[s], plan_.steps[s].workspace_bytes);
    }
  }
  static void keep_if_small(Range& range, std::size_t bytes) {
    if (bytes <= small_bytes && range.last < end_of_run) range.last += steps_kept;
  }

  /// Merges outputs into inputs whose last use is this step.
  void overwrite_dying_inputs(int s) {
    const PlannedStep& step = plan_.steps[static_cast<std::size_t>(s)];
    for (const Alias& alias : aliases_[static_cast<std::size_t>(s)]) {
      if (alias.kind != Alias::Kind::may_overwrite) continue;
      const int output = step.outputs[static_cast<std::size_t>(alias.output)];
      const int input = step.inputs[static_cast<std::size_t>(alias.input)];
      const int root = shared_.root(input);
      if (shared_.root(output) != output || at(output).home != Home::arena || at(input).home != Home::arena) continue;
      if (at(input).offset != 0) continue;  // otherwise the output's own views would begin at that offset too
      // A broadcast input may have as many bytes if the types differ in width.
      const bool as_large =
          at(output).type.bytes() == at(input).type.bytes() && at(output).type.elements() == at(input).type.elements();
      if (range_of(input).last != s || !as_large) continue;
      const auto same_root = [&](int other) { return shared_.root(other) == root; };
      if (std::ranges::count_if(step.inputs, same_root) != 1) continue;
      if (std::ranges::any_of(step.outputs, same_root)) continue;
      range_of(input).last = range_of(output).last;
      shared_.join(output, input);
    }
  }

  void add_buffers() {
    std::map<int, int> buffer_of;  // by root
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      PlannedTensor& tensor = plan_.tensors[t];
      if (tensor.home != Home::arena && tensor.home != Home::host) continue;
      const int root = shared_.root(static_cast<int>(t));
      const auto [entry, fresh] = buffer_of.try_emplace(root, static_cast<int>(plan_.buffers.size()));
      if (fresh) {
        const Range range = range_of(root);
        plan_.buffers.push_back({{range.first, range.last, 0},
                                 tensor.device,
                                 0,
                                 at(root).label,
                                 tensor.home == Home::host,
                                 at(root).owner});
      }
      tensor.index = entry->second;
      Lifetime& lifetime = plan_.buffers[static_cast<std::size_t>(tensor.index)].lifetime;
      lifetime.bytes = std::max(lifetime.bytes, tensor.type.bytes());
    }
  }

  void add_workspaces() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      PlannedStep& step = plan_.steps[s];
      if (step.workspace_bytes == 0) continue;
      step.workspace = static_cast<int>(plan_.buffers.size());
      const auto [first, last] = workspaces_[s];
      plan_.buffers.push_back(
          {{first, last, step.workspace_bytes}, step.device, 0, step.label + "/workspace", false, step.owner});
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

  PlannedTensor& at(int tensor) { return plan_.tensors[static_cast<std::size_t>(tensor)]; }
  Range& range_of(int tensor) { return ranges_[static_cast<std::size_t>(shared_.root(tensor))]; }

  Plan& plan_;
  SharedMemory& shared_;
  const std::vector<std::vector<Alias>>& aliases_;  // by step
  std::vector<Range> ranges_;                       // by root
  std::vector<Range> workspaces_;                   // by step
};

}  // namespace

void place_buffers(Plan& plan, SharedMemory& shared, const std::vector<std::vector<Alias>>& aliases,
                   const std::vector<bool>& side_by_side) {
  BufferPlacing(plan, shared, aliases).run(side_by_side);
}

}  // namespace gpubench
