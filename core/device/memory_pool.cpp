#include "core/device/memory_pool.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <utility>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/base/units.h"

namespace gpubench {
namespace {

constexpr std::size_t labels_in_message = 5;

std::size_t round_up(std::size_t bytes) {
  return std::max(MemoryPool::alignment, align_up(bytes, MemoryPool::alignment));
}

std::string text_of(std::size_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

}  // namespace

MemoryPool::MemoryPool(std::string name, std::unique_ptr<MemorySource> source, PoolOptions options)
    : name_(std::move(name)), source_(std::move(source)), options_(options) {}

MemoryPool::~MemoryPool() {
  assert(live_.empty() && "a Buffer outlived its pool");
  for (const Block& block : blocks_) {
    if (block.memory != nullptr) source_->release(block.memory, block.bytes);
  }
}

Buffer MemoryPool::allocate(std::size_t bytes, std::string_view label) {
  const std::size_t rounded = round_up(bytes);
  if (under_pressure(rounded)) relieve();
  Buffer buffer = try_allocate(rounded, label);
  if (buffer.data() == nullptr && relieve_) {
    relieve();
    buffer = try_allocate(rounded, label);
  }
  if (buffer.data() == nullptr) {
    const std::lock_guard lock(mutex_);
    throw OutOfMemory(out_of_memory_message(bytes, label));
  }
  return buffer;
}

bool MemoryPool::under_pressure(std::size_t rounded) {
  if (!relieve_) return false;
  const std::lock_guard lock(mutex_);
  return in_use_ + rounded > relieve_at_;
}

void MemoryPool::relieve() {
  relieve_();
  const std::lock_guard lock(mutex_);
  relieve_at_ = std::max(pressure_floor, 2 * in_use_);
}

Buffer MemoryPool::try_allocate(std::size_t rounded, std::string_view label) {
  const std::lock_guard lock(mutex_);
  auto range = best_fit(rounded);
  if (range == free_.end()) {
    if (!grow(rounded)) return {};
    range = best_fit(rounded);
  }

  std::byte* const data = range->first;
  const Range taken = range->second;
  free_.erase(range);
  if (taken.bytes > rounded) free_[data + rounded] = {taken.bytes - rounded, taken.block};
  live_.emplace(data, Live{rounded, taken.block, std::string(label)});
  in_use_ += rounded;
  peak_ = std::max(peak_, in_use_);

  Buffer buffer;
  buffer.pool_ = this;
  buffer.data_ = data;
  buffer.bytes_ = rounded;
  return buffer;
}

void MemoryPool::release(std::byte* data) noexcept {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(data);
  assert(live != live_.end());
  Range range{live->second.bytes, live->second.block};
  live_.erase(live);
  in_use_ -= range.bytes;

  auto next = free_.lower_bound(data);
  if (next != free_.end() && next->second.block == range.block && data + range.bytes == next->first) {
    range.bytes += next->second.bytes;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->second.block == range.block && previous->first + previous->second.bytes == data) {
      previous->second.bytes += range.bytes;
      return;
    }
  }
  free_.emplace_hint(next, data, range);
}

std::map<std::byte*, MemoryPool::Range>::iterator MemoryPool::best_fit(std::size_t bytes) {
  auto best = free_.end();
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second.bytes < bytes) continue;
    if (best == free_.end() || range->second.bytes < best->second.bytes) best = range;
  }
  return best;
}

std::size_t MemoryPool::next_block_bytes(std::size_t bytes) const {
  if (options_.growth) {
    const std::size_t wanted = std::max(bytes, growth_block);
    if (options_.limit == 0) return wanted;
    const std::size_t left = options_.limit > reserved_ ? options_.limit - reserved_ : 0;
    return std::min(wanted, left);
  }
  if (reserved_ != 0) return 0;  // preallocated: the pool never grows after its first use
  return options_.limit != 0 ? options_.limit : std::max(source_->preallocation(), bytes);
}

bool MemoryPool::grow(std::size_t bytes) {
  if (options_.limit != 0 && options_.growth && reserved_ + bytes > options_.limit) trim_locked();
  const std::size_t block_bytes = next_block_bytes(bytes) / alignment * alignment;
  if (block_bytes < bytes) return false;
  std::byte* memory = source_->allocate(block_bytes);
  if (memory == nullptr) {
    trim_locked();
    memory = source_->allocate(block_bytes);
  }
  if (memory == nullptr) return false;
  blocks_.push_back({memory, block_bytes});
  free_[memory] = {block_bytes, blocks_.size() - 1};
  reserved_ += block_bytes;
  return true;
}

MemoryUse MemoryPool::use() const {
  const std::lock_guard lock(mutex_);
  MemoryUse use{in_use_, peak_, reserved_, 0, options_.limit};
  for (const auto& [data, range] : free_) use.largest_free = std::max(use.largest_free, range.bytes);
  return use;
}

void MemoryPool::reset_peak() {
  const std::lock_guard lock(mutex_);
  peak_ = in_use_;
}

void MemoryPool::trim() {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void MemoryPool::trim_locked() {
  for (auto range = free_.begin(); range != free_.end();) {
    Block& block = blocks_[range->second.block];
    if (range->second.bytes != block.bytes) {
      ++range;
      continue;
    }
    source_->release(block.memory, block.bytes);
    reserved_ -= block.bytes;
    block = {};
    range = free_.erase(range);
  }
}

std::string MemoryPool::out_of_memory_message(std::size_t bytes, std::string_view label) const {
  std::vector<const Live*> largest;
  for (const auto& [data, live] : live_) largest.push_back(&live);
  const std::size_t shown = std::min(labels_in_message, largest.size());
  std::partial_sort(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(shown), largest.end(),
                    [](const Live* a, const Live* b) { return a->bytes > b->bytes; });

  std::string text =
      fmt::format("{}: out of memory: {} asked for '{}', {} in use", name_, text_of(bytes), label, text_of(in_use_));
  if (options_.limit != 0) text += fmt::format(" of a limit of {}", text_of(options_.limit));
  std::size_t free = 0, largest_piece = 0;
  for (const auto& [data, range] : free_) {
    free += range.bytes;
    largest_piece = std::max(largest_piece, range.bytes);
  }
  if (free > 0) {
    text += fmt::format("; {} free in {}", text_of(free),
                        largest_piece == free ? "one piece" : "pieces of at most " + text_of(largest_piece));
  }
  if (options_.limit > reserved_ && free > 0)
    text += fmt::format(", {} not taken from the device yet", text_of(options_.limit - reserved_));
  if (options_.limit == 0 || reserved_ + bytes <= options_.limit) text += source_->limit();
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{} {} {}", i == 0 ? "; largest:" : ",", largest[i]->label, text_of(largest[i]->bytes));
  }
  return text;
}

}  // namespace gpubench
