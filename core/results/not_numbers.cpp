#include "core/results/not_numbers.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpubench {

bool is_not_number(const Cell& cell) {
  const auto* const value = std::get_if<double>(&cell);
  return value != nullptr && !std::isfinite(*value);
}

std::string not_numbers_in(const Record& row) {
  std::vector<std::string> texts;
  for (const auto& [column, cell] : row.cells()) {
    if (!is_not_number(cell)) continue;
    const double value = std::get<double>(cell);
    texts.push_back(fmt::format("{} is {}", column,
                                std::isnan(value)     ? "NaN"
                                : std::signbit(value) ? "-infinite"
                                                      : "infinite"));
  }
  std::ranges::sort(texts);
  return fmt::to_string(fmt::join(texts, ", "));
}

void note_not_numbers(Record& row) {
  const std::string text = not_numbers_in(row), detail = to_text(row.get("detail"));
  if (text.empty() || detail.find(text) != std::string::npos) return;
  row.set("detail", detail.empty() ? text : text + "; " + detail);
}

}  // namespace gpubench
