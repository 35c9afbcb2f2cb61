#include "core/backend/emulated/emulated_device.h"

#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <sys/mman.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/host_memory.h"
#include "core/base/units.h"
#include "core/trace/copy_path.h"

namespace gpubench {
namespace {

/// Address space without memory behind it; an access to it would end the program, as one to a GPU's memory does.
class ReservedAddresses final : public MemorySource {
 public:
  ReservedAddresses(std::shared_ptr<AddressMap> map, AddressMap::Owner owner, double capacity)
      : map_(std::move(map)), owner_(owner), left_(static_cast<std::size_t>(capacity)) {}

  std::byte* allocate(std::size_t bytes) override {
    if (bytes > left_) return nullptr;
    void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    left_ -= bytes;
    map_->add(static_cast<std::byte*>(memory), bytes, owner_);
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory, std::size_t bytes) override {
    map_->remove(memory);
    munmap(memory, bytes);
    left_ += bytes;
  }

 private:
  std::shared_ptr<AddressMap> map_;
  AddressMap::Owner owner_;
  std::size_t left_;
};

/// Ordinary memory of the host that counts as page-locked.
class PinnedAddresses final : public MemorySource {
 public:
  explicit PinnedAddresses(std::shared_ptr<AddressMap> map) : map_(std::move(map)) {}

  std::byte* allocate(std::size_t bytes) override {
    std::byte* const memory = allocate_host_memory(bytes, MemoryPool::alignment);
    if (memory != nullptr) map_->add(memory, bytes, AddressMap::pinned);
    return memory;
  }
  void release(std::byte* memory, std::size_t bytes) override {
    map_->remove(memory);
    free_host_memory(memory, bytes);
  }
  std::string limit() const override { return host_memory_limit(); }

 private:
  std::shared_ptr<AddressMap> map_;
};

/// The pool refuses what the accelerator would not have.
PoolOptions limited(const DeviceId& id, const Profile& profile, PoolOptions options) {
  const auto capacity = static_cast<std::size_t>(profile.memory_bytes);
  if (options.limit > capacity) {
    throw Error(fmt::format("{}: a memory limit of {} is more than the {} of {}", to_string(id),
                            format_bytes(static_cast<double>(options.limit)), format_bytes(profile.memory_bytes),
                            profile.product));
  }
  if (options.limit == 0) options.limit = capacity;
  return options;
}

std::shared_ptr<const std::string> name_of_copy(CopyPath path) {
  return std::make_shared<const std::string>(span_name(path));
}

/// Copies of offloaded tensors are larger; results that a script reads are mostly smaller.
constexpr std::size_t large_copy = std::size_t{1} << 20;

}  // namespace

EmulatedDevice::EmulatedDevice(DeviceId id, int tracer_index, Profile profile, PoolOptions memory,
                               std::shared_ptr<AddressMap> map, std::shared_ptr<SpanLog> log)
    : id_(std::move(id)),
      tracer_index_(tracer_index),
      profile_(std::move(profile)),
      map_(std::move(map)),
      log_(std::move(log)),
      memory_(to_string(id_), std::make_unique<ReservedAddresses>(map_, tracer_index_, profile_.memory_bytes),
              limited(id_, profile_, memory)),
      host_memory_(fmt::format("page-locked host memory of {}", to_string(id_)),
                   std::make_unique<PinnedAddresses>(map_), PoolOptions{}) {
  stream_ = std::make_unique<EmulatedStream>(*this, fmt::format("{} stream 0", to_string(id_)));
  recorder_ = std::make_unique<EmulatedStream>(*this, fmt::format("{} recorder", to_string(id_)));
}

std::string EmulatedDevice::description() const {
  return fmt::format("emulated {}, {}: times from a profile, nothing is computed", profile_.product,
                     format_bytes(profile_.memory_bytes));
}

std::string EmulatedDevice::emulation() const {
  const std::string start = fmt::format("emulated {}, not measured on one", profile_.product);
  if (profile_.checked.empty()) return start + "; its profile is not checked against a GPU";
  const double share = kernel_s_ > 0 ? short_kernel_s_ / kernel_s_ : 0;
  constexpr double mentioned = 0.005;  // less than one percent, rounded
  if (share < mentioned) return start;
  return fmt::format("{}; {:.0f} % of its kernel time is in kernels below {}, which are not checked against a GPU",
                     start, 100 * share, format_seconds(checked_from_s));
}

std::map<std::string, double> EmulatedDevice::peaks() const {
  return {{"memory_bytes_per_s", profile_.memory_bytes_per_s},
          {"float32_flops_per_s", profile_.float32_flops_per_s},
          {"float16_flops_per_s", profile_.float16_flops_per_s},
          {"bfloat16_flops_per_s", profile_.float16_flops_per_s}};
}

void EmulatedDevice::count_kernel(double seconds) {
  kernel_s_ += seconds;
  if (seconds < checked_from_s) short_kernel_s_ += seconds;
}

std::unique_ptr<Stream> EmulatedDevice::new_stream() {
  return std::make_unique<EmulatedStream>(*this, fmt::format("{} stream {}", to_string(id_), ++streams_));
}

std::unique_ptr<Recording> EmulatedDevice::record(std::span<const RecordedWork> work) {
  const std::lock_guard lock(recording_);
  return std::make_unique<EmulatedRecording>(*recorder_, work);
}

BookedWork EmulatedDevice::work_of_copy(const void* destination, const void* source, std::size_t bytes,
                                        bool& blocks_host) {
  static const auto pageable = name_of_copy(CopyPath::pageable_to_device),
                    pinned = name_of_copy(CopyPath::pinned_to_device), to_host = name_of_copy(CopyPath::device_to_host),
                    on_device = name_of_copy(CopyPath::within_device),
                    to_peer = name_of_copy(CopyPath::between_devices);
  const std::optional<AddressMap::Owner> to = map_->owner_of(destination), from = map_->owner_of(source);
  const auto is_device = [](const std::optional<AddressMap::Owner>& owner) {
    return owner && *owner != AddressMap::pinned;
  };
  const auto size = static_cast<double>(bytes);
  if (is_device(to) && is_device(from)) {
    if (*to != *from) {
      const double seconds = profile_.latency_s + size / profile_.peer_bytes_per_s;
      return {&links_, to_clock(seconds), SpanClass::copy, to_peer};
    }
    constexpr double read_and_written = 2;
    const double seconds = profile_.kernel_s + read_and_written * size / profile_.memory_bytes_per_s;
    return {&kernels_, to_clock(seconds), SpanClass::copy, on_device};
  }
  const bool arrives = is_device(to);
  blocks_host = !(arrives ? from : to);
  const double rate = blocks_host ? profile_.pageable_bytes_per_s : profile_.pinned_bytes_per_s;
  return {arrives ? &to_device_ : &from_device_, to_clock(profile_.latency_s + size / rate), SpanClass::copy,
          !arrives      ? to_host
          : blocks_host ? pageable
                        : pinned};
}

std::optional<Seconds> EmulatedDevice::known_copy_time(const void* destination, const void* source, std::size_t bytes) {
  bool blocks_host = false;
  return work_of_copy(destination, source, bytes, blocks_host).length;
}

bool EmulatedDevice::keeps_content(const void* destination, std::size_t bytes) const {
  const std::optional<AddressMap::Owner> owner = map_->owner_of(destination);
  return owner && (*owner != AddressMap::pinned || bytes >= large_copy);
}

EmulatedDevice& emulated_device(Device& device) {
  assert(device.id().kind == DeviceId::Kind::emulated);
  return static_cast<EmulatedDevice&>(device);
}

EmulatedStream& emulated_stream(Stream& stream) {
  return static_cast<EmulatedStream&>(stream);
}

Clock::duration to_clock(double seconds) {
  constexpr double longest = 1e9;  // 30 years, which the clock can hold
  return Clock::duration(std::llround(std::min(seconds, longest) * 1e9));
}

}  // namespace gpubench
