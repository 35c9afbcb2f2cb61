// Tensors as a table of elements, with all offsets for reading a row precomputed.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/data/element.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

class Rows {
 public:
  /// Shares the tables' memory; all have the same number of rows.
  explicit Rows(std::span<const HostTensor> tables);

  const std::vector<HostTensor>& tables() const { return tables_; }
  /// Types of one row of each table.
  const std::vector<TensorType>& row_types() const { return row_types_; }
  std::int64_t count() const { return tables_.front().shape()[0]; }

  /// Makes `element` views of row `row`; shares memory.
  void view(std::int64_t row, Element& element) const;
  /// The same without ownership: one view per table, valid while this object lives.
  void view(std::int64_t row, std::span<TensorView> views) const;
  /// Copies rows, one after the other, into `destinations`, one per table.
  void gather(std::span<const std::int64_t> rows, std::span<std::byte* const> destinations) const;

 private:
  std::vector<HostTensor> tables_;
  std::vector<TensorType> row_types_;
  std::vector<std::size_t> row_bytes_;
};

}  // namespace gpubench
