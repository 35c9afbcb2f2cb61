#include "core/diagnose/fixed_work.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/results/column.h"

namespace gpubench {
namespace {

constexpr std::string_view fixed_column = "fixed_flops_per_step", batch_column = "batch_size";

struct Work {
  double batch, flops;
};

std::optional<Work> work_of(const Record& row) {
  const auto batch = number_in(row.get(batch_column)), flops = number_in(row.get("flops_per_step"));
  return batch && flops && *batch > 0 && *flops > 0 ? std::optional(Work{*batch, *flops}) : std::nullopt;
}

bool differ_in_batch_only(const Record& a, const Record& b, std::span<const std::string> axes) {
  const auto same = [&](std::string_view column) { return to_text(a.get(column)) == to_text(b.get(column)); };
  constexpr std::array<std::string_view, 5> fixed = {"process", "device", "execution", "precision", "replicas"};
  return std::ranges::all_of(fixed, same) &&
         std::ranges::all_of(axes, [&](const std::string& axis) { return axis == batch_column || same(axis); });
}

}  // namespace

std::vector<Record> with_fixed_work(std::vector<Record> rows, std::span<const std::string> axes) {
  for (Record& row : rows) {
    const std::optional<Work> own = work_of(row);
    if (!own || row.has(fixed_column)) continue;
    for (const Record& other : rows) {
      const std::optional<Work> more = work_of(other);
      if (!more || more->batch == own->batch || !differ_in_batch_only(row, other, axes)) continue;
      const double of_example = (more->flops - own->flops) / (more->batch - own->batch);
      const double fixed = own->flops - own->batch * of_example;
      // A step that pads its batch, say, needs no amount of its own for each example.
      if (fixed >= 0 && fixed <= own->flops) row.set(fixed_column, fixed);
      break;
    }
  }
  return rows;
}

}  // namespace gpubench
