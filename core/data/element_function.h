// What a map applies to elements, seen from the pipeline: describe, plan, run. lua/api makes one from a traced
// function; the pipeline does not know of graphs or executors.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor/tensor_type.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

/// A function prepared for fixed input types; used by one thread at a time.
class ElementRunner {
 public:
  virtual ~ElementRunner() = default;
  /// `number` belongs to this element and no other of any epoch: random ops draw by it. `outputs` is memory of the
  /// types that ElementFunction::output_types told, not overlapping the inputs; complete when the call returns.
  virtual void run(std::int64_t number, std::span<const TensorView> inputs, std::span<const TensorView> outputs) = 0;
};

/// Immutable; any thread may plan.
class ElementFunction {
 public:
  virtual ~ElementFunction() = default;
  /// Throws Error when the function cannot take such elements. All extents are given, none is `varying`.
  virtual std::vector<TensorType> output_types(std::span<const TensorType> inputs) const = 0;
  virtual std::unique_ptr<ElementRunner> plan(std::span<const TensorType> inputs) const = 0;
};

}  // namespace gpubench
