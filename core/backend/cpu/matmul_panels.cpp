#include "core/backend/cpu/matmul_panels.h"

#include <algorithm>

namespace gpubench::cpu {
namespace {

// Measured with oneDNN 2.6 on Zen 5, one thread and two, squares of 2048 to 4096, 128 and 512 terms or rows, float32
// against the whole: x w, halves of the columns +8 to +28 %; x^T dy, halves of the rows +7 to +25 %; the latter added
// to a sum, 1024 rows each +35 to +65 %. bfloat16: +3 to +14 %. x w^T, which oneDNN packs, loses by it. Below 2048
// (1024 with a sum) the whole is as fast.
constexpr std::int64_t wide = 2048;
constexpr std::int64_t least_results_per_thread = std::int64_t{1} << 16;
constexpr std::int64_t granularity = 64;  // whole vectors of every type, and rows of the library's own blocks

/// [0, extent) in at least two parts of at most `most`.
std::vector<Panel> cut(std::int64_t extent, std::int64_t most) {
  const std::int64_t parts = std::max<std::int64_t>(2, (extent + most - 1) / most);
  const std::int64_t size = ((extent + parts - 1) / parts + granularity - 1) / granularity * granularity;
  std::vector<Panel> panels;
  for (std::int64_t first = 0; first < extent; first += size) panels.push_back({first, std::min(size, extent - first)});
  return panels;
}

}  // namespace

Panels matmul_panels(const MatmulAttributes& options, std::int64_t rows, std::int64_t columns, Onto onto, int threads) {
  Panels whole{{{0, rows}}, {{0, columns}}}, parts = whole;
  const std::int64_t tall = onto == Onto::result ? wide / 2 : wide;
  if (options.transpose_a && !options.transpose_b && rows >= tall) parts.rows = cut(rows, tall);
  if (!options.transpose_a && !options.transpose_b && columns >= wide) parts.columns = cut(columns, wide);
  const bool enough = parts.rows[0].count * parts.columns[0].count >= threads * least_results_per_thread;
  return enough ? parts : whole;
}

}  // namespace gpubench::cpu
