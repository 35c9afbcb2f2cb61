// The plans that were used last, by the types of their inputs (or a larger key): one per batch size, made at its first
// use. Data of many sizes would otherwise fill the memory with plans of which each was used once.
#pragma once
#include <cstddef>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "core/tensor/tensor_type.h"

namespace gpubench {

/// Not thread-safe.
template <class Planned, class Key = std::vector<TensorType>>
class PlanCache {
 public:
  /// A small plan takes some 0.5 MB of host memory, that of a network of 50 layers 2 MB; all share their devices'
  /// arenas.
  static constexpr std::size_t usual_most = 64;

  explicit PlanCache(std::size_t most = usual_most) : most_(most) {}

  /// The plan for `key`; if there is none, `make(key)` creates it as a unique_ptr<Planned>. The reference is valid
  /// until the next call; a copy of it holds the plan for longer.
  template <class Make>
  const std::shared_ptr<Planned>& get(const Key& key, Make&& make) {
    return get_if([&](const Key& known) { return known == key; }, [&] { return key; }, std::forward<Make>(make));
  }
  /// The same for a key that is only made for a new plan: `fits(known key)` tells whether a plan can be used.
  template <class Fits, class MakeKey, class Make>
  const std::shared_ptr<Planned>& get_if(Fits&& fits, MakeKey&& make_key, Make&& make) {
    for (auto plan = plans_.begin(); plan != plans_.end(); ++plan) {
      if (!fits(plan->first)) continue;
      if (plan != plans_.begin()) plans_.splice(plans_.begin(), plans_, plan);
      return plan->second;
    }
    Key key = make_key();
    std::shared_ptr<Planned> planned = std::forward<Make>(make)(key);
    plans_.emplace_front(std::move(key), std::move(planned));
    if (plans_.size() > most_) plans_.pop_back();
    return plans_.front().second;
  }
  /// Those that are kept, most recently used first.
  const auto& plans() const { return plans_; }
  void clear() { plans_.clear(); }
  std::size_t size() const { return plans_.size(); }
  std::size_t most() const { return most_; }

 private:
  std::size_t most_;
  std::list<std::pair<Key, std::shared_ptr<Planned>>> plans_;
};

}  // namespace gpubench
