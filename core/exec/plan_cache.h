// Caches executors by the types of their inputs (or a larger key): one plan per batch size, made at its first use.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "core/exec/executor.h"

namespace gpubench {

template <class Planned, class Key = std::vector<TensorType>>
class PlanCache {
 public:
  /// The plan for `key`; if there is none yet, `make(key)` creates it as a unique_ptr<Planned>.
  template <class Make>
  Planned& get(const Key& key, Make&& make) {
    for (auto& [known, planned] : plans_) {
      if (known == key) return *planned;
    }
    plans_.emplace_back(key, std::forward<Make>(make)(key));
    return *plans_.back().second;
  }
  /// All plans, in the order of their creation.
  const auto& plans() const { return plans_; }
  void clear() { plans_.clear(); }
  std::size_t size() const { return plans_.size(); }

 private:
  std::vector<std::pair<Key, std::unique_ptr<Planned>>> plans_;  // only a few, so a linear scan beats a hash
};

}  // namespace gpubench
