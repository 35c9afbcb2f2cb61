// Splits a large matrix product into parts that oneDNN computes one after another. oneDNN's blocking suits results of
// about 2048 rows and columns; with larger ones it touches distant parts of rows, and an accumulated result is fetched
// from memory late.
#pragma once
#include <cstdint>
#include <vector>

#include "core/backend/cpu/small_matmul.h"
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
Panels matmul_panels(const MatmulAttributes& options, std::int64_t rows, std::int64_t columns, Onto onto, int threads);

}  // namespace gpubench::cpu
