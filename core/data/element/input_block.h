// Consecutive elements of a source, the inputs of a function: row numbers where the source's elements are rows of
// tensors, eight bytes each; copies side by side of small elements; else the elements themselves.
#pragma once
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "core/data/cursor.h"
#include "core/data/element/packed_elements.h"
#include "core/data/element/rows.h"

namespace gpubench {

struct InputBlock {
  std::int64_t count = 0;
  std::vector<std::int64_t> rows;
  PackedElements packed;
  std::vector<Element> elements;  ///< may be more than `count`: they keep their bookkeeping
  /// What the source threw after these.
  std::exception_ptr error;
};

/// Takes blocks from a source; used by one thread at a time.
class InputReader {
 public:
  /// Elements of `types` may be packed; without them, they are handed over as they are.
  explicit InputReader(Cursor& source, std::span<const TensorType> types = {});

  /// The next elements, at most `most`; none at the end. Throws nothing: the block holds the source's error, and the
  /// next call goes on behind it.
  void read(std::int64_t most, InputBlock& block);
  std::int64_t skip(std::int64_t count);
  /// Of which the source's elements are rows; nullptr where they are not.
  const Rows* rows() const { return rows_ ? &*rows_ : nullptr; }

 private:
  void read_rows(std::int64_t most, InputBlock& block);
  void read_packed(std::int64_t most, InputBlock& block);
  void read_elements(std::int64_t most, InputBlock& block);

  Cursor& source_;
  std::optional<Rows> rows_;
  std::vector<TensorType> packed_types_;  // none: elements are not packed
  std::vector<TensorView> slots_;
  bool ended_ = false;
};

}  // namespace gpubench
