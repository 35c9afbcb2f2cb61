#include "core/data/device_slots.h"

#include <algorithm>
#include <utility>

#include "core/base/align.h"
#include "core/base/error.h"

namespace gpubench {
namespace {}  // namespace

DeviceSlots::DeviceSlots(Device& device) : device_(device), copies_(device.new_stream()) {}

DeviceSlots::~DeviceSlots() {
  try {
    copies_->synchronize();  // the memory goes back to the pool, whose order is the kernels'
  } catch (const DeviceError&) {
    return;  // a device that fails has nothing left to wait for
  }
}

void DeviceSlots::upload(const Element& host, Element& element) {
  finish();
  release(element);
  std::size_t bytes = 0;
  for (const HostTensor& tensor : host) bytes += align_up(tensor.bytes(), MemoryPool::alignment);
  device_.bind_to_thread();
  const std::shared_ptr<Slot> slot = take(bytes);
  copies_->wait_for(*slot->drained);
  copies_->record(*slot->begun);
  element.resize(host.size());
  element.device = &device_.id();
  std::byte* memory = slot->memory.data();
  for (std::size_t i = 0; i < host.size(); ++i) {
    copies_->copy(memory, host[i].data(), host[i].bytes());
    element[i].assign(host[i].type(), std::shared_ptr<std::byte>(slot, memory));
    memory += align_up(host[i].bytes(), MemoryPool::alignment);
  }
  copies_->record(*slot->filled);
  latest_ = slot;
}

void DeviceSlots::finish() {
  const std::shared_ptr<Slot> slot = std::exchange(latest_, nullptr);
  if (slot == nullptr) return;
  slot->filled->wait();
  copying_.add(slot->filled->since(*slot->begun).count());
}

void DeviceSlots::recycle() {
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Slot>& slot : slots_) {
    if (slot->free || slot.use_count() > 1) continue;
    std::shared_ptr<Slot>(slot).reset();  // giving back a share orders what follows after what the last owner did
    device_.stream().record(*slot->drained);
    slot->free = true;
  }
}

void DeviceSlots::arrive(const Element& element) {
  const std::lock_guard lock(mutex_);
  const auto holds = [&](const std::shared_ptr<Slot>& slot) { return slot->memory.data() == element.front().data(); };
  device_.stream().wait_for(*(*std::ranges::find_if(slots_, holds))->filled);
}

std::shared_ptr<DeviceSlots::Slot> DeviceSlots::free_slot(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Slot> chosen;
  for (const std::shared_ptr<Slot>& slot : slots_) {
    if (!slot->free) continue;
    chosen = slot;
    if (slot->memory.bytes() >= bytes) break;
  }
  if (chosen != nullptr) chosen->free = false;
  return chosen;
}

std::shared_ptr<DeviceSlots::Slot> DeviceSlots::take(std::size_t bytes) {
  std::shared_ptr<Slot> slot = free_slot(bytes);
  const bool known = slot != nullptr;
  if (known && slot->memory.bytes() >= bytes) return slot;
  if (!known) {
    slot = std::make_shared<Slot>(Slot{{}, device_.new_event(), device_.new_event(), device_.new_event(), false});
  }
  slot->filled->wait();
  Buffer memory = device_.memory().allocate(std::max(bytes, MemoryPool::alignment), "element");
  const std::lock_guard lock(mutex_);
  slot->memory = std::move(memory);
  device_.stream().record(*slot->drained);  // of what the memory belonged to before
  if (!known) slots_.push_back(slot);
  return slot;
}

}  // namespace gpubench
