// Applies a map's function to blocks of elements: plans it for the types of the elements and passes as many elements at
// a time as the plan takes. Elements that lie side by side are read where they lie, others are gathered first, in
// memory small enough for the cache.
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

/// Where a block's results go.
class BlockOutputs : public ElementOutputs {
 public:
  /// The next outputs are those of `count` elements from position `first` of the block on. A failed attempt is followed
  /// by another for the same elements.
  virtual void begin(std::int64_t first, std::int64_t count) = 0;
};

/// The numbers of an epoch's elements, by which random ops draw.
struct ElementNumbers {
  std::int64_t base = 0;
  std::int64_t stride = 1;
  std::int64_t of(std::int64_t index) const { return base + index * stride; }
};
/// In epoch 0 numbers start at 0, as in a script that draws by its own step numbers; in other epochs they start at
/// random numbers. An element of a shard has the number that it has in the whole dataset.
ElementNumbers element_numbers(std::uint64_t epoch, const Dataset& inputs);

/// Used by one thread at a time.
class BlockFunction {
 public:
  BlockFunction(std::shared_ptr<const ElementFunction> function, const Rows* rows);

  /// A new block; its first element is the epoch's number `index`.
  void start(const InputBlock& block, std::int64_t index);
  /// The next element to compute; where advance() throws, the one that failed.
  std::int64_t position() const { return position_; }
  bool done() const { return position_ == block_->count; }
  /// Computes what comes next, as much as the function takes at a time; throws what it throws for the element at
  /// position(), with the element's place, after all before it. False when several failed together, to be tried again
  /// one by one.
  bool advance(const ElementNumbers& numbers, BlockOutputs& outputs);
  /// Leaves out the element at position().
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

/// In a handler, for the epoch's element number `index` from 0: throws the Error anew with its text and
/// " (element 778 of the epoch, 'fold/a/x.jpg')". The path is that of the first input that is a byte string naming a
/// file, unless the text names it already. Exceptions of other types pass unchanged, subclasses of Error
/// too: their cause is the machine, not the element.
[[noreturn]] void rethrow_with_place(std::int64_t index, std::span<const TensorView> inputs);

}  // namespace gpubench
