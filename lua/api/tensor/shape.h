// Shapes for scripts. A function traced for elements of varying size sees trial extents. Reads of extents are recorded,
// so that a decision based on them is detected when another trace reads different ones.
#pragma once
#include <cstdint>
#include <lua.hpp>
#include <vector>

#include "lua/api/tensor/tensor.h"

namespace gpubench::lua {

/// Records, while it lives, the extents of traced tensors that the script reads, in order. Another one within it
/// records alone until its end.
class ReadExtents {
 public:
  explicit ReadExtents(lua_State* L);
  ~ReadExtents();
  ReadExtents(const ReadExtents&) = delete;
  ReadExtents& operator=(const ReadExtents&) = delete;

  std::vector<std::int64_t> values;

 private:
  lua_State* L_;
  ReadExtents* outer_;
};

/// Reads one extent of a tensor for the script.
std::int64_t read_extent(lua_State* L, const Tensor& x, std::size_t axis);

/// x.shape of the tensor at stack position 1: a table, which records reads of its extents if recording is active.
int push_shape(lua_State* L);

/// The shape for a reshape that changes no extent above 1. Replaces its largest extent by -1 if possible, so that the
/// op fits tensors in which that extent varies.
Shape with_open_extent(Shape shape);

}  // namespace gpubench::lua
