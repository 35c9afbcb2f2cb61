// The function of a map or filter: describe, plan, run. Traced graphs, decoders, record parsers and Lua functions
// implement this interface; the pipeline treats all of them alike.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor/tensor_type.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

/// Consecutive elements, as inputs of a function.
struct ElementBlock {
  /// Unique number of the first element over all epochs; the others follow at distance `stride`. Random ops draw by it.
  std::int64_t number = 0;
  /// Examples in an element: the rows of a batch, else 1.
  std::int64_t stride = 1;
  std::int64_t count = 1;
  /// One per tensor, for the first element; the other elements follow it in memory without gaps.
  std::span<const TensorView> inputs;
  /// For runners that accept scattered elements: the tensors of each, `count` times as many as `inputs`; else empty.
  std::span<const TensorView> scattered{};
};

/// Provides memory for a function's results.
class ElementOutputs {
 public:
  virtual ~ElementOutputs() = default;
  /// Memory for output `index` of all elements of the block, one after the other; `type` is the type of one. It never
  /// overlaps the inputs. Call it once per output. Throws Error if the consumer cannot accept that type.
  virtual std::byte* place(std::size_t index, const TensorType& type) = 0;
};

/// A function prepared for fixed input types. Not thread-safe.
class ElementRunner {
 public:
  virtual ~ElementRunner() = default;
  /// The largest number of elements per run().
  virtual std::int64_t block() const { return 1; }
  /// Whether the elements of a block may be scattered and differ in extents; otherwise they must have equal types and
  /// be contiguous.
  virtual bool takes_scattered() const { return false; }
  /// Computes the block; when it returns, every output has been placed and written.
  virtual void run(const ElementBlock& elements, ElementOutputs& outputs) = 0;
};

/// Immutable, so any thread may plan.
class ElementFunction {
 public:
  virtual ~ElementFunction() = default;
  /// Throws Error if the function does not accept such elements. An output's extents may be `varying`: known only from
  /// an element's values, or dependent on varying input extents.
  virtual std::vector<TensorType> output_types(TensorTypes inputs) const = 0;
  /// Whether one runner accepts inputs of all extents, as a decoder does; otherwise each set of types needs a plan.
  virtual bool takes_any_extents() const { return false; }
  /// Plans for inputs without `varying` extents.
  virtual std::unique_ptr<ElementRunner> plan(TensorTypes inputs) const = 0;
};

}  // namespace gpubench
