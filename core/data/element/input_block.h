// Consecutive elements of a source, as inputs of a function: row numbers (eight bytes each) if the elements are rows of
// tensors, contiguous copies of small elements, else the elements themselves.
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
  std::vector<Element> elements;  ///< may be longer than `count`: unused ones keep their vectors
  /// The source's exception after these elements.
  std::exception_ptr error;
};

/// Reads blocks from a source. Not thread-safe.
class InputReader {
 public:
  /// Elements of `types` may be packed; if empty, elements are passed on unchanged.
  explicit InputReader(Cursor& source, TensorTypes types = {});

  /// Reads the next elements, at most `most`; none at the end. Does not throw: the block holds the source's error, and
  /// the next call continues after it.
  void read(std::int64_t most, InputBlock& block);
  std::int64_t skip(std::int64_t count);
  /// The tables whose rows are the elements; nullptr if there are none.
  const Rows* rows() const { return rows_ ? &*rows_ : nullptr; }

 private:
  void read_rows(std::int64_t most, InputBlock& block);
  void read_packed(std::int64_t most, InputBlock& block);
  void read_elements(std::int64_t most, InputBlock& block);

  Cursor& source_;
  std::optional<Rows> rows_;
  std::vector<TensorType> packed_types_;  // empty: elements are not packed
  std::vector<TensorView> slots_;
  bool ended_ = false;
};

}  // namespace gpubench
