// Parts of a large product that oneDNN computes one after another. Its blocks suit results of some 2048 rows and
// columns; of larger ones it reads and writes parts of rows that lie far apart, and a sum that it adds to comes from
// memory late.
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

/// Each panel of rows is multiplied with each panel of columns.
struct Panels {
  std::vector<Panel> rows, columns;
};

/// Of a result [rows, columns]; one panel each where parts would not be faster, as with small results.
Panels matmul_panels(const MatmulAttributes& options, std::int64_t rows, std::int64_t columns, Onto onto, int threads);

}  // namespace gpubench::cpu
