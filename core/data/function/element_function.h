// The function of a map or filter, as the pipeline sees it: describe, plan, run. Traced graphs, decoders, parsers of
// records and calls of Lua implement this interface; the pipeline does not distinguish them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor/tensor_type.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

/// Consecutive elements as a function takes them.
struct ElementBlock {
  /// Belongs to the first element and no other of any epoch; the others follow, `stride` apart. Random ops draw by it.
  std::int64_t number = 0;
  /// Examples in an element: the rows of a batch, else 1.
  std::int64_t stride = 1;
  std::int64_t count = 1;
  /// One per tensor, of the type of one element; those of the others follow it without gaps.
  std::span<const TensorView> inputs;
  /// For runners that take scattered elements: the tensors of each, `count` times as many as `inputs`; else nothing.
  std::span<const TensorView> scattered{};
};

/// Where a function puts its results.
class ElementOutputs {
 public:
  virtual ~ElementOutputs() = default;
  /// Memory for output `index` of all elements of the block, one after the other, where `type` is that of one. It does
  /// not overlap the inputs. Asked once an output. Throws Error when the consumer cannot take that type.
  virtual std::byte* place(std::size_t index, const TensorType& type) = 0;
};

/// A function prepared for fixed input types; used by one thread at a time.
class ElementRunner {
 public:
  virtual ~ElementRunner() = default;
  /// The most elements that run() takes at a time.
  virtual std::int64_t block() const { return 1; }
  /// Whether the elements of a block may lie anywhere and have extents of their own; else they are alike and lie side
  /// by side.
  virtual bool takes_scattered() const { return false; }
  /// Every output has been placed and is complete when the call returns.
  virtual void run(const ElementBlock& elements, ElementOutputs& outputs) = 0;
};

/// Immutable; any thread may plan.
class ElementFunction {
 public:
  virtual ~ElementFunction() = default;
  /// Throws Error when the function cannot take such elements. Extents of the outputs may be `varying`: they are known
  /// only from an element's values, or where the input's extents vary.
  virtual std::vector<TensorType> output_types(std::span<const TensorType> inputs) const = 0;
  /// Whether one runner takes inputs of all extents, as a decoder does; otherwise each set of types has a plan.
  virtual bool takes_any_extents() const { return false; }
  /// For inputs of which no extent is `varying`.
  virtual std::unique_ptr<ElementRunner> plan(std::span<const TensorType> inputs) const = 0;
};

}  // namespace gpubench
