#include "core/data/device/upload.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/device/device.h"

namespace gpubench {
namespace {

/// Device memory for elements, filled on its own stream beside the kernels. A slot is refilled only after the work that
/// read it, marked by an event in the kernels' stream, so neither side waits on the host.
class DeviceSlots {
 public:
  /// The device must outlive the elements.
  explicit DeviceSlots(Device& device);
  /// Waits for the copies.
  ~DeviceSlots();
  DeviceSlots(const DeviceSlots&) = delete;
  DeviceSlots& operator=(const DeviceSlots&) = delete;

  /// Starts copying `host`, which must stay unchanged until the next call or finish(); `element` becomes the element on
  /// the device. For one thread at a time, the producer.
  void upload(const Element& host, Element& element);
  /// Waits for the latest copy.
  void finish();

  /// Consumer: call it before requesting an element, when all work that reads released elements is queued.
  void recycle();
  /// Consumer: call it when an element arrives; work queued afterwards waits for its copy.
  void arrive(const Element& element);

  /// Device time of the copies.
  Seconds copy_time() const { return Seconds(copying_.get()); }
  Device& device() const { return device_; }

 private:
  struct Slot {
    Buffer memory;
    std::unique_ptr<Event> begun, filled;  // of the copy
    std::unique_ptr<Event> drained;        // end of the work that read the slot, in the kernels' stream
    bool free = true;
  };

  std::shared_ptr<Slot> take(std::size_t bytes);
  std::shared_ptr<Slot> free_slot(std::size_t bytes);

  Device& device_;
  const std::unique_ptr<Stream> copies_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Slot>> slots_;  // a slot is unused if this vector is its only owner
  std::shared_ptr<Slot> latest_;
  Tally<double> copying_;
};

DeviceSlots::DeviceSlots(Device& device) : device_(device), copies_(device.new_stream()) {}

DeviceSlots::~DeviceSlots() {
  try {
    copies_->synchronize();  // the pool reuses the memory in the order of the kernels' stream
  } catch (const DeviceError&) {
    return;  // a device that has failed cannot be waited for
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
    std::shared_ptr<Slot>(slot).reset();  // releasing a share orders this thread after the last owner's release
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
    slot = std::make_shared<Slot>(
        Slot{{}, device_.new_timed_event(), device_.new_timed_event(), device_.new_event(), false});
  }
  slot->filled->wait();
  Buffer memory = device_.memory().allocate(std::max(bytes, MemoryPool::alignment), "element");
  const std::lock_guard lock(mutex_);
  slot->memory = std::move(memory);
  device_.stream().record(*slot->drained);  // end of the work on the memory's earlier content
  if (!known) slots_.push_back(slot);
  return slot;
}

/// Starts the copies.
class UploadCursor final : public Cursor {
 public:
  UploadCursor(std::unique_ptr<Cursor> source, std::shared_ptr<DeviceSlots> slots)
      : slots_(std::move(slots)), source_(std::move(source)) {}
  ~UploadCursor() override {
    try {
      slots_->finish();  // the copies read host memory of the source
    } catch (const DeviceError&) {
      return;
    }
  }

  bool next(Element& element) override {
    release(element);
    Element& host = host_[turn_];
    turn_ = 1 - turn_;
    if (!source_->next(host)) return false;
    slots_->upload(host, element);
    release(host_[turn_]);  // its copy is complete
    return true;
  }
  std::int64_t skip(std::int64_t count) override { return source_->skip(count); }
  std::vector<StageStatistics> statistics() const override { return source_->statistics(); }

 private:
  const std::shared_ptr<DeviceSlots> slots_;
  const std::unique_ptr<Cursor> source_;
  std::array<Element, 2> host_;  // one is copied while the source produces the next
  std::size_t turn_ = 0;
};

/// Orders the consumer's work on the device after the copies.
class ArrivalCursor : public Cursor {
 public:
  ArrivalCursor(std::unique_ptr<Cursor> uploads, std::shared_ptr<DeviceSlots> slots)
      : slots_(std::move(slots)), uploads_(std::move(uploads)) {}

  bool next(Element& element) override {
    release(element);
    slots_->recycle();
    if (!uploads_->next(element)) return false;
    slots_->arrive(element);
    return true;
  }
  std::int64_t skip(std::int64_t count) override { return uploads_->skip(count); }
  std::vector<StageStatistics> statistics() const override { return uploads_->statistics(); }

 protected:
  const DeviceSlots& slots() const { return *slots_; }

 private:
  const std::shared_ptr<DeviceSlots> slots_;
  const std::unique_ptr<Cursor> uploads_;
};

/// Has its own row in the statistics: the thread's own work is the copies.
class AheadCursor final : public ArrivalCursor {
 public:
  using ArrivalCursor::ArrivalCursor;
  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = ArrivalCursor::statistics();
    stages.back().busy = slots().copy_time();
    return stages;
  }
};

/// A source whose epochs upload into given slots.
class Uploads final : public Transformation {
 public:
  Uploads(DatasetPtr source, std::shared_ptr<DeviceSlots> slots)
      : Transformation(std::move(source)), slots_(std::move(slots)) {}
  std::string_view stage() const override { return "upload"; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    CursorOptions asked = options.for_sources();
    asked.memory = slots_->device().host_memory();
    return std::make_unique<UploadCursor>(source().open(epoch, asked), slots_);
  }

 private:
  const std::shared_ptr<DeviceSlots> slots_;
};

}  // namespace

std::unique_ptr<Cursor> open_uploaded(const DatasetPtr& source, const DevicePlace& place, std::uint64_t epoch,
                                      const CursorOptions& options) {
  const auto slots = std::make_shared<DeviceSlots>(place.device());
  return std::make_unique<ArrivalCursor>(Uploads(source, slots).open(epoch, options), slots);
}

std::unique_ptr<Cursor> open_uploaded_ahead(const DatasetPtr& source, const DevicePlace& place,
                                            const OpenUploads& open) {
  const auto slots = std::make_shared<DeviceSlots>(place.device());
  return std::make_unique<AheadCursor>(open(Uploads(source, slots)), slots);
}

}  // namespace gpubench
