// An accelerator that computes nothing: its memory is address space that no access reaches, and its streams are clocks.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "core/backend/emulated/address_map.h"
#include "core/backend/emulated/emulated_stream.h"
#include "core/backend/emulated/engine.h"
#include "core/backend/emulated/profile.h"
#include "core/backend/emulated/span_log.h"
#include "core/device/device.h"

namespace gpubench {

class EmulatedDevice final : public Device {
 public:
  /// `tracer_index`: its number in traces. Throws Error when the memory limit exceeds the profile's memory.
  EmulatedDevice(DeviceId id, int tracer_index, Profile profile, PoolOptions memory, std::shared_ptr<AddressMap> map,
                 std::shared_ptr<SpanLog> log);

  const DeviceId& id() const override { return id_; }
  std::string description() const override;
  std::optional<int> tracer_index() const override { return tracer_index_; }
  MemoryPool& memory() override { return memory_; }
  MemoryPool* host_memory() override { return &host_memory_; }
  Stream& stream() override { return *stream_; }
  std::unique_ptr<Stream> new_stream() override;
  std::unique_ptr<Event> new_event() override { return std::make_unique<EmulatedEvent>(*this); }
  std::unique_ptr<Recording> record(std::span<const RecordedWork> work) override;
  void bind_to_thread() override {}
  bool shares_host_memory() const override { return false; }
  std::string emulation() const override;
  std::map<std::string, double> peaks() const override;
  std::optional<Seconds> known_copy_time(const void* destination, const void* source, std::size_t bytes) override;

  const Profile& profile() const { return profile_; }
  SpanLog& log() const { return *log_; }
  Engine& kernels() { return kernels_; }
  Engine& links() { return links_; }
  /// The time of a copy on this device's engines, and which of them it takes. Copies that are not from or to
  /// page-locked memory keep the host busy: `blocks_host`.
  BookedWork work_of_copy(const void* destination, const void* source, std::size_t bytes, bool& blocks_host);
  /// Whether a copy to `destination` leaves it as it is.
  bool keeps_content(const void* destination, std::size_t bytes) const;
  /// Counts a kernel for emulation().
  void count_kernel(double seconds);

 private:
  DeviceId id_;
  int tracer_index_;
  Profile profile_;
  std::shared_ptr<AddressMap> map_;
  std::shared_ptr<SpanLog> log_;
  MemoryPool memory_, host_memory_;
  Engine kernels_, to_device_, from_device_, links_;
  std::atomic<int> streams_{0};
  std::atomic<double> kernel_s_{0}, short_kernel_s_{0};
  std::unique_ptr<EmulatedStream> stream_, recorder_;
  std::mutex recording_;
};

/// The device as what it is; for callers that have checked the kind.
EmulatedDevice& emulated_device(Device& device);
EmulatedStream& emulated_stream(Stream& stream);

/// Rounded to the clock's nanoseconds.
Clock::duration to_clock(double seconds);

}  // namespace gpubench
