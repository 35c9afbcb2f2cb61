// The state of one replica: its devices, variables and arenas. Only one host thread at a time may use a Runtime; others
// (a pipeline's worker) create their own over the same Devices.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "core/backend/registry/devices.h"
#include "core/device/memory_pool.h"
#include "core/exec/variable_store.h"
#include "core/trace/host_spans.h"

namespace gpubench {

/// One block of a pool's memory that all plans of a replica share, because they never run at the same time; as large as
/// the largest plan needs. It exists while a plan does.
class Arena : public std::enable_shared_from_this<Arena> {
 public:
  explicit Arena(MemoryPool& memory) : memory_(memory) {}

  /// Bytes that it currently takes from the pool.
  std::size_t bytes() const { return buffer_.bytes(); }

  /// A plan's claim: while it lives, the arena has at least `bytes`.
  class Claim {
   public:
    Claim() = default;
    Claim(std::shared_ptr<Arena> arena, std::size_t bytes, std::string_view label);
    Claim(Claim&& other) noexcept { std::swap(arena_, other.arena_), std::swap(bytes_, other.bytes_); }
    Claim& operator=(Claim&& other) noexcept {
      std::swap(arena_, other.arena_), std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Claim();
    std::byte* data() const { return arena_ == nullptr ? nullptr : arena_->buffer_.data(); }
    std::size_t bytes() const { return bytes_; }
    /// Changes when the memory has moved and views must be created again.
    std::uint64_t generation() const { return arena_ == nullptr ? 0 : arena_->generation_; }

   private:
    std::shared_ptr<Arena> arena_;
    std::size_t bytes_ = 0;
  };

 private:
  MemoryPool& memory_;
  std::multiset<std::size_t> claims_;
  Buffer buffer_;
  std::uint64_t generation_ = 1;
};

class Runtime {
 public:
  explicit Runtime(const Devices& devices) : devices_(devices), variables_(devices) {}

  const Devices& devices() const { return devices_; }
  VariableStore& variables() { return variables_; }
  Stream& stream(const DeviceId& device);
  Arena::Claim claim_arena(const DeviceId& device, std::size_t bytes, std::string_view label);
  /// Size of the arena shared by all plans on `device`; 0 if there is none.
  std::size_t arena_bytes(const DeviceId& device) const;
  /// Host memory for offloaded tensors of `device` (Devices::host_side).
  Arena::Claim claim_host_arena(const DeviceId& device, std::size_t bytes, std::string_view label);
  /// Makes executors record their segments again at their next run, because a tracer only sees work that was recorded
  /// while it was active.
  void renew_recordings() { ++recordings_; }
  std::uint64_t recordings() const { return recordings_; }
  /// While set, executors and eager ops of this runtime add their spans; nullptr ends that. Recordings are new before
  /// and after: those made while a tracer was attached would keep its instructions.
  /// Without `records`, segments are launched op by op, so that each launch shows its node.
  void set_spans(HostSpans* spans, bool records = true) {
    renew_recordings();
    spans_ = spans;
    records_ = records;
  }
  HostSpans* spans() const { return spans_; }
  /// spans() if copies of this device's streams run in the calling thread, else nullptr: a tracer shows them.
  HostSpans* copy_spans(const DeviceId& device) const;
  bool records() const { return records_; }
  /// Blocks until all work queued on the devices is done.
  void synchronize();
  /// synchronize() for destructors: ignores devices that have failed.
  void drain() noexcept;

 private:
  const Devices& devices_;
  VariableStore variables_;
  std::map<DeviceId, std::shared_ptr<Arena>> arenas_, host_arenas_;
  std::uint64_t recordings_ = 0;
  HostSpans* spans_ = nullptr;
  bool records_ = true;
};

}  // namespace gpubench
