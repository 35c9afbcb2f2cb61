#include "core/exec/variable_store.h"

#include <deque>
#include <fmt/format.h>
#include <mutex>

#include "core/base/error.h"
#include "core/device/bound_thread.h"
#include "core/device/device.h"

namespace gpubench {

/// Shared with the handles' deleters, so that a handle may outlive the store.
struct VariableStore::Slots {
  std::mutex mutex;
  std::vector<Buffer> buffers;
  std::deque<std::atomic<std::uint64_t>> writes;  // by slot; continues when a slot is reused
  std::vector<std::int32_t> vacant;
};

VariableStore::VariableStore(const Devices& devices) : devices_(devices), slots_(std::make_shared<Slots>()) {}

VariablePtr VariableStore::create(std::string name, const HostTensor& initial, const DeviceId& device, bool trainable,
                                  OwnerPtr owner) {
  // The first write to memory decides on which NUMA node it is.
  const BoundThread bound(devices_.device(device).memory_node());
  Buffer buffer = devices_.device(device).memory().allocate(initial.bytes(), name);
  auto variable = std::make_unique<Variable>(Variable{.index = -1,
                                                      .name = std::move(name),
                                                      .type = initial.type(),
                                                      .device = device,
                                                      .trainable = trainable,
                                                      .owner = std::move(owner)});
  {
    const std::lock_guard lock(slots_->mutex);
    if (slots_->vacant.empty()) {
      slots_->vacant.push_back(static_cast<std::int32_t>(slots_->buffers.size()));
      slots_->buffers.emplace_back();
      slots_->writes.emplace_back(0);
    }
    variable->index = slots_->vacant.back();
    slots_->vacant.pop_back();
    slots_->buffers[static_cast<std::size_t>(variable->index)] = std::move(buffer);
  }
  VariablePtr handle(variable.release(), [slots = slots_](const Variable* gone) {
    {
      const std::lock_guard lock(slots->mutex);
      slots->buffers[static_cast<std::size_t>(gone->index)] = {};
      slots->vacant.push_back(gone->index);
    }
    delete gone;
  });
  write(*handle, initial);
  return handle;
}

TensorView VariableStore::view(const Variable& variable) const {
  const std::lock_guard lock(slots_->mutex);
  return {&variable.type, slots_->buffers[static_cast<std::size_t>(variable.index)].data()};
}

HostTensor VariableStore::read(const Variable& variable) const {
  HostTensor value(variable.type);
  Stream& stream = devices_.device(variable.device).stream();
  stream.copy(value.data(), view(variable).data, value.bytes());
  stream.synchronize();
  return value;
}

void VariableStore::write(const Variable& variable, const HostTensor& value) {
  if (value.type() != variable.type) {
    throw Error(fmt::format("variable {} is {}; it cannot be set to {}", variable.name, to_string(variable.type),
                            to_string(value.type())));
  }
  Stream& stream = devices_.device(variable.device).stream();
  stream.copy(view(variable).data, value.data(), value.bytes());
  stream.synchronize();
  ++writes(variable);
}

std::atomic<std::uint64_t>& VariableStore::writes(const Variable& variable) const {
  const std::lock_guard lock(slots_->mutex);
  return slots_->writes[static_cast<std::size_t>(variable.index)];
}

}  // namespace gpubench
