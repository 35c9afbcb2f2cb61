// What went on while a few steps were traced, in memory reserved before.
#pragma once
#include <atomic>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/telemetry/span.h"

namespace gpubench {

class Timeline {
 public:
  explicit Timeline(std::size_t capacity) : spans_(capacity) {}

  /// The same number for the same text. Allocates for a text it has not seen, so the hot path asks before. Thread-safe.
  NameId name(std::string_view text);
  std::string_view text(NameId name) const;

  /// Allocates nothing; a span that finds no room is counted instead. Thread-safe.
  void add(const Span& span) {
    const std::size_t slot = next_.fetch_add(1, std::memory_order_relaxed);
    if (slot < spans_.size()) spans_[slot] = span;
  }
  /// Of threads that no longer add any.
  std::span<const Span> spans() const;
  std::size_t dropped() const;
  /// Forgets the spans, not the names.
  void clear() { next_ = 0; }

 private:
  std::vector<Span> spans_;
  std::atomic<std::size_t> next_{0};
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;  // never moved: the map's keys look into them
  std::unordered_map<std::string_view, NameId> names_;
};

}  // namespace gpubench
