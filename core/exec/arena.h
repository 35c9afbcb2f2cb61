// One block of a pool's memory that all plans of a replica share, as large as the largest of them: they never run at
// the same time. It exists while a plan does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "core/device/memory_pool.h"

namespace gpubench {

class Arena : public std::enable_shared_from_this<Arena> {
 public:
  explicit Arena(MemoryPool& memory) : memory_(memory) {}

  /// Bytes that it takes of the pool now.
  std::size_t bytes() const { return buffer_.bytes(); }

  /// A plan's claim; the arena is at least `bytes` large while the claim lives.
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
    /// Changes whenever the memory has moved and views must be made anew.
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

}  // namespace gpubench
