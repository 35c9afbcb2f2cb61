// Applies a map's function to blocks of elements: plans it for the types of the elements and passes as many elements
// per call as the plan accepts. Contiguous elements are read in place; others are first gathered in memory small enough
// for the cache.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/element/input_block.h"
#include "core/data/function/element_function.h"
#include "core/data/function/element_plans.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

/// Receives the results of a block.
class BlockOutputs : public ElementOutputs {
 public:
  /// The next outputs belong to `count` elements from position `first` of the block. After a failure, begin() may be
  /// called again for the same elements.
  virtual void begin(std::int64_t first, std::int64_t count) = 0;
};

/// The numbers of an epoch's elements, from which random ops draw.
struct ElementNumbers {
  std::int64_t base = 0;
  std::int64_t stride = 1;
  std::int64_t of(std::int64_t index) const { return base + index * stride; }
};
/// Numbers start at 0 in epoch 0, as in a script that draws with its own step numbers; in other epochs they start at
/// random numbers. An element of a shard keeps its number in the whole dataset.
ElementNumbers element_numbers(std::uint64_t epoch, const Dataset& inputs);

/// Not thread-safe.
class BlockFunction {
 public:
  BlockFunction(std::shared_ptr<const ElementFunction> function, const Rows* rows);

  /// Starts a new block; its first element is number `index` of the epoch.
  void start(const InputBlock& block, std::int64_t index);
  /// The next element to compute; after advance() throws, the element that failed.
  std::int64_t position() const { return position_; }
  bool done() const { return position_ == block_->count; }
  /// Computes the next elements, as many as the function takes at a time. Rethrows the function's error for the element
  /// at position(), with its place added, after all elements before it are done. Returns false when several elements
  /// failed together, to be tried again one by one.
  bool advance(const ElementNumbers& numbers, BlockOutputs& outputs);
  /// Skips the element at position().
  void pass_over() { ++position_; }

 private:
  bool run(const ElementNumbers& numbers, BlockOutputs& outputs);
  void view(std::int64_t position);
  std::int64_t alike(std::int64_t most);
  bool consecutive(std::int64_t count) const;
  void gather(std::int64_t count);
  void scatter(std::int64_t count);

  ElementPlans plans_;
  const Rows* rows_;
  const InputBlock* block_ = nullptr;
  std::int64_t index_ = 0;
  std::int64_t position_ = 0;
  std::int64_t singly_until_ = 0;
  std::vector<TensorView> views_;
  std::vector<TensorView> scattered_;  // of all elements that are computed together
  std::vector<HostTensor> gathered_;
  std::vector<std::byte*> destinations_;
};

/// Call in a catch handler, for element `index` (from 0) of the epoch: rethrows the Error with " (element 778 of the
/// epoch, 'fold/a/x.jpg')" appended. The path is the first input that is a byte string naming a file, unless the text
/// names it already. Other exceptions, also subclasses of Error, pass unchanged: their cause is the machine, not the
/// element.
[[noreturn]] void rethrow_with_place(std::int64_t index, std::span<const TensorView> inputs);

}  // namespace gpubench
