// A function of elements that is applied to one element at a time, for stages whose next call depends on the last one's
// results.
#pragma once
#include <initializer_list>
#include <memory>
#include <vector>

#include "core/data/element/block_pool.h"
#include "core/data/function/block_function.h"

namespace gpubench {

/// Not thread-safe.
class SingleFunction {
 public:
  /// Results lie in `memory`, or on the heap.
  explicit SingleFunction(std::shared_ptr<const ElementFunction> function, MemoryPool* memory = nullptr)
      : plans_(std::move(function)), pool_(memory) {}

  /// The inputs are the tensors of all `parts`; results are new tensors. The element is number `index` of the epoch,
  /// which an Error names.
  void run(std::initializer_list<const Element*> parts, std::int64_t index, const ElementNumbers& numbers,
           Element& results) {
    views_.clear();
    for (const Element* part : parts) {
      for (const HostTensor& tensor : *part) views_.push_back(tensor.view());
    }
    release(results);
    NewTensors outputs(pool_, results);
    try {
      plans_.for_inputs(views_).run({.number = numbers.of(index), .inputs = views_}, outputs);
    } catch (...) {
      rethrow_with_place(index, views_);
    }
  }

 private:
  class NewTensors final : public ElementOutputs {
   public:
    NewTensors(BlockPool& pool, Element& to) : pool_(pool), to_(to) {}
    std::byte* place(std::size_t index, const TensorType& type) override {
      if (to_.size() <= index) to_.resize(index + 1);
      pool_.allocate(type, to_[index]);
      return to_[index].data();
    }

   private:
    BlockPool& pool_;
    Element& to_;
  };

  ElementPlans plans_;
  BlockPool pool_;
  std::vector<TensorView> views_;
};

}  // namespace gpubench
