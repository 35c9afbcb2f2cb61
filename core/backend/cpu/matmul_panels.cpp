#include "core/backend/cpu/matmul_panels.h"

#include <algorithm>
#include <bit>

namespace gpubench::cpu {
namespace {

// Measured with oneDNN 2.6 on Zen 5, one thread and two, squares of 2048 to 4096, 128 and 512 terms or rows, bfloat16
// against the whole: x w, halves of the columns, and x^T dy, halves of the rows, +3 to +14 %. x w^T, which oneDNN
// packs, loses by it. Below 2048 the whole is as fast.
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

Panels matmul_panels(const MatmulAttributes& options, std::int64_t rows, std::int64_t columns, int threads) {
  Panels whole{{{0, rows}}, {{0, columns}}}, parts = whole;
  if (options.transpose_a && !options.transpose_b && rows >= wide) parts.rows = cut(rows, wide);
  if (!options.transpose_a && !options.transpose_b && columns >= wide) parts.columns = cut(columns, wide);
  const bool enough = parts.rows[0].count * parts.columns[0].count >= threads * least_results_per_thread;
  return enough ? parts : whole;
}

// Measured with oneDNN 2.6 on Sapphire Rapids, one thread and two, 8 to 1024 examples, against its first choice, which
// reads the right matrix where it lies. x w: 768 x 3072 weights 1.3 to 2.4 times as fast up to 74 examples, 3072 x 768
// 1.1 to 1.9, 768 x 768 1.05 to 1.3; weights of 512 x 512 lose 5 % from 256 examples on. Rows of 1024 or 2048 lie in
// few sets of the cache, and are packed slowly: 0.8 to 0.95 from 16 to 74 examples. x^T dy: 768 x 3072 results 1.1
// to 3.8 times as fast, 1024 x 1024 1.0 to 1.5; 512 x 512 and 768 x 768 as fast. x w^T loses up to half.
bool packing_is_faster(const MatmulAttributes& options, std::int64_t rows, std::int64_t columns, std::int64_t terms) {
  constexpr std::int64_t many = std::int64_t{1} << 19, wide_results = 1024, few_rows = 128;
  if (options.transpose_b) return false;
  if (options.transpose_a) return rows * columns >= many && std::max(rows, columns) >= wide_results;
  return terms * columns >= many && (rows >= few_rows || !std::has_single_bit(static_cast<std::uint64_t>(columns)));
}

}  // namespace gpubench::cpu
