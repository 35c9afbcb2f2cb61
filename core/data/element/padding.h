// Stacks elements of different extents: each is padded at its end to the largest extents of its batch, or to given
// ones.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/data/element/block_pool.h"
#include "core/data/types.h"

namespace gpubench {

/// One value of padding in its stored form.
using Padding = std::array<std::byte, 8>;

/// One for each of `types`; zeros if there are no values. Throws Error naming `stage` if their count is another or a
/// type cannot hold its value.
std::vector<Padding> paddings(std::string_view stage, std::span<const double> values, TensorTypes types);

/// Not thread-safe.
class PaddedStack {
 public:
  /// `rows`: types of one row, `varying` where the largest of a batch decides. `stage` must outlive it.
  PaddedStack(std::string_view stage, TensorTypes rows, std::span<const Padding> padding)
      : stage_(stage), padded_(rows.begin(), rows.end()), padding_(padding.begin(), padding.end()) {}

  /// First axes whose extent varies are padded to at least `length`. Throws Error naming the stage if an element is
  /// larger than its row.
  void stack(std::span<const Element> rows, BlockPool& pool, Element& batch, std::int64_t length = 0);

 private:
  void widen(const Element& row);

  std::string_view stage_;
  std::vector<TensorType> padded_;
  std::vector<Padding> padding_;
  std::vector<TensorType> row_types_;
  std::vector<TensorType> batch_types_;
};

}  // namespace gpubench
