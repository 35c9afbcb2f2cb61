// How oneDNN computes a large matrix product. Its first choice touches distant parts of rows where a matrix is wide: in
// 16 bits, parts of the product one after another are faster; in float32, its other implementation is, which packs both
// matrices first.
#pragma once
#include <cstdint>
#include <vector>

#include "core/ops/matmul.h"

namespace gpubench::cpu {

/// Rows or columns [first, first + count) of a result.
struct Panel {
  std::int64_t first = 0, count = 0;
  bool operator==(const Panel&) const = default;
};

/// Each row panel is multiplied with each column panel.
struct Panels {
  std::vector<Panel> rows, columns;
};

/// Panels of a result [rows, columns]; a single one each where splitting does not help, as with small results.
Panels matmul_panels(const MatmulAttributes& options, std::int64_t rows, std::int64_t columns, int threads);

/// Whether the implementation that packs is faster for a float32 product of two matrices, a result [rows, columns] of
/// sums over `terms`.
bool packing_is_faster(const MatmulAttributes& options, std::int64_t rows, std::int64_t columns, std::int64_t terms);

}  // namespace gpubench::cpu
