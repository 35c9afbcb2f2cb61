// The two places for an element that a cursor makes: memory of its own, or the slots of a batch.
#pragma once
#include <span>

#include "core/data/element/block_pool.h"
#include "core/data/function/element_function.h"
#include "core/data/types.h"

namespace gpubench {

class PooledElement final : public ElementOutputs {
 public:
  PooledElement(BlockPool& pool, Element& element) : pool_(pool), element_(element) { release(element_); }
  std::byte* place(std::size_t index, const TensorType& type) override {
    if (element_.size() <= index) element_.resize(index + 1);
    pool_.allocate(type, element_[index]);
    return element_[index].data();
  }

 private:
  BlockPool& pool_;
  Element& element_;
};

class ElementSlots final : public ElementOutputs {
 public:
  explicit ElementSlots(std::span<const TensorView> slots) : slots_(slots) {}
  std::byte* place(std::size_t index, const TensorType& type) override {
    if (type == *slots_[index].type) return slots_[index].data;
    throw unequal_shapes(type, *slots_[index].type);
  }

 private:
  std::span<const TensorView> slots_;
};

}  // namespace gpubench
