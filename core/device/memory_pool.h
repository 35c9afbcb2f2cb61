// Allocates blocks of one device's memory. The pool is the same for all devices; only the source of raw memory (a
// MemorySource) differs. Thread-safe.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpubench {

/// Raw memory of a device: aligned_alloc on the host, cudaMalloc on a GPU.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// nullptr if the device has no such block left. Aligned to MemoryPool::alignment.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* memory, std::size_t bytes) = 0;
  /// What limits it, for the error after allocate() has given nothing: "; ..."; empty where all of it is used.
  virtual std::string limit() const { return {}; }
  /// Bytes that a pool without growth and without a limit takes at first use.
  virtual std::size_t preallocation() { return 0; }
};

struct MemoryUse {
  std::size_t in_use = 0;
  std::size_t peak = 0;          ///< highest in_use since the last reset_peak()
  std::size_t reserved = 0;      ///< taken from the device, in use or not
  std::size_t largest_free = 0;  ///< largest block available without asking the device
  std::size_t limit = 0;         ///< 0: none
};

struct PoolOptions {
  /// true: take memory from the device in blocks on demand. false: take `limit`, or without one
  /// MemorySource::preallocation(), at first use.
  bool growth = true;
  std::size_t limit = 0;  ///< bytes, 0: none
};

class MemoryPool;

/// Owns one block and returns it when destroyed.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// The pool it came from; nullptr when empty.
  const MemoryPool* pool() const { return pool_; }

 private:
  friend class MemoryPool;
  void swap(Buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  MemoryPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class MemoryPool {
 public:
  static constexpr std::size_t alignment = 256;
  /// A growing pool takes at least this much from the device at a time, so that small tensors share a block.
  static constexpr std::size_t growth_block = std::size_t{2} << 20;
  /// The pressure handler is not called while less than this is in use.
  static constexpr std::size_t pressure_floor = std::size_t{16} << 20;

  /// `name` appears in messages ("cpu:0").
  MemoryPool(std::string name, std::unique_ptr<MemorySource> source, PoolOptions options);
  ~MemoryPool();

  /// Throws OutOfMemory with the requested size, the limit, and the labels of the largest blocks in use.
  Buffer allocate(std::size_t bytes, std::string_view label);
  /// `relieve` releases unused buffers (it runs a garbage collection). It is called in the allocating thread, without
  /// the lock: before the memory in use exceeds twice its value after the previous call, and once before OutOfMemory is
  /// thrown. Set it before several threads use the pool.
  void set_pressure_handler(std::function<void()> relieve) { relieve_ = std::move(relieve); }
  MemoryUse use() const;
  void reset_peak();
  /// Returns unused blocks to the device.
  void trim();
  const PoolOptions& options() const { return options_; }

 private:
  friend class Buffer;
  struct Range {
    std::size_t bytes = 0;
    std::size_t block = 0;  // index of its block; adjacent free ranges of one block are merged
  };
  struct Block {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };
  struct Live {
    std::size_t bytes = 0;
    std::size_t block = 0;
    std::string label;
  };

  Buffer try_allocate(std::size_t rounded, std::string_view label);
  bool under_pressure(std::size_t rounded);
  void relieve();
  void release(std::byte* data) noexcept;
  std::map<std::byte*, Range>::iterator best_fit(std::size_t bytes);
  bool grow(std::size_t bytes);
  std::size_t next_block_bytes(std::size_t bytes) const;
  std::string out_of_memory_message(std::size_t bytes, std::string_view label) const;
  void trim_locked();

  std::string name_;
  std::unique_ptr<MemorySource> source_;
  PoolOptions options_;
  mutable std::mutex mutex_;
  std::vector<Block> blocks_;  // released blocks stay as empty entries, so that indices stay valid
  std::map<std::byte*, Range> free_;
  std::unordered_map<std::byte*, Live> live_;
  std::size_t in_use_ = 0, peak_ = 0, reserved_ = 0;
  std::function<void()> relieve_;
  std::size_t relieve_at_ = pressure_floor;  // bytes in use at which `relieve_` is called next
};

inline Buffer::~Buffer() {
  if (pool_ != nullptr) pool_->release(data_);
}

}  // namespace gpubench
