// Shapes as scripts see them. A function that is traced for elements of varying size sees extents that stand for any:
// what it reads of them is kept, so that a decision by them is noticed when another trace reads others.
#pragma once
#include <cstdint>
#include <lua.hpp>
#include <vector>

#include "lua/api/tensor.h"

namespace gpubench::lua {

/// Keeps, while it lives, the extents of traced tensors that the script reads, in order. One at a time.
class ReadExtents {
 public:
  explicit ReadExtents(lua_State* L);
  ~ReadExtents();
  ReadExtents(const ReadExtents&) = delete;
  ReadExtents& operator=(const ReadExtents&) = delete;

  std::vector<std::int64_t> values;

 private:
  lua_State* L_;
};

/// One extent of a tensor, on behalf of the script.
std::int64_t read_extent(lua_State* L, const Tensor& x, std::size_t axis);

/// x.shape of the tensor at stack position 1: a table, which reads an extent when it is asked for it where such are
/// kept.
int push_shape(lua_State* L);

/// The shape for a reshape that changes no extent above 1: its largest extent is left open (-1) where that is possible,
/// so that the op fits tensors of which it varies.
Shape with_open_extent(Shape shape);

}  // namespace gpubench::lua
