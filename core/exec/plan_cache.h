// Executors by the types of their inputs, or by more than that: one plan per batch size, made when it is first met.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "core/exec/executor.h"

namespace gpubench {

template <class Planned, class Key = std::vector<TensorType>>
class PlanCache {
 public:
  /// The plan for `key`; `make(key)` returns a new unique_ptr<Planned> when there is none yet.
  template <class Make>
  Planned& get(const Key& key, Make&& make) {
    for (auto& [known, planned] : plans_) {
      if (known == key) return *planned;
    }
    plans_.emplace_back(key, std::forward<Make>(make)(key));
    return *plans_.back().second;
  }
  /// All plans, in the order in which their types were met.
  const auto& plans() const { return plans_; }
  void clear() { plans_.clear(); }
  std::size_t size() const { return plans_.size(); }

 private:
  std::vector<std::pair<Key, std::unique_ptr<Planned>>> plans_;  // a handful: a scan beats a hash
};

}  // namespace gpubench
