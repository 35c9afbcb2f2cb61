#include "core/data/element/rows.h"

#include <algorithm>
#include <cstring>

namespace gpubench {
namespace {

constexpr std::size_t cache_line = 64;
/// Rows are read in random order, which hardware prefetchers cannot predict: prefetch the start of the row after the
/// next one while this one is copied. The hardware continues from there.
constexpr std::size_t lookahead = 2;
constexpr std::size_t prefetched_bytes = 8 * cache_line;

void prefetch_row(const std::byte* row, std::size_t bytes) {
  for (std::size_t offset = 0; offset < std::min(bytes, prefetched_bytes); offset += cache_line) {
    __builtin_prefetch(row + offset);
  }
}

void gather_rows(const std::byte* table, std::size_t bytes, std::span<const std::int64_t> rows, std::byte* to) {
  const auto row_at = [&](std::size_t i) { return table + static_cast<std::size_t>(rows[i]) * bytes; };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + lookahead < rows.size()) prefetch_row(row_at(i + lookahead), bytes);
    std::memcpy(to + i * bytes, row_at(i), bytes);
  }
}

}  // namespace

Rows::Rows(std::span<const HostTensor> tables) : tables_(tables.begin(), tables.end()) {
  for (const HostTensor& table : tables_) {
    TensorType& type = row_types_.emplace_back(table.type());
    type.shape.erase(type.shape.begin());
    row_bytes_.push_back(type.bytes());
  }
}

void Rows::view(std::int64_t row, Element& element) const {
  element.resize(tables_.size());
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::byte* const start = tables_[i].data() + static_cast<std::size_t>(row) * row_bytes_[i];
    element[i].assign(row_types_[i], std::shared_ptr<std::byte>(tables_[i].memory(), start));
  }
}

void Rows::view(std::int64_t row, std::span<TensorView> views) const {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    views[i] = {&row_types_[i], tables_[i].data() + static_cast<std::size_t>(row) * row_bytes_[i]};
  }
}

void Rows::gather(std::span<const std::int64_t> rows, std::span<std::byte* const> destinations) const {
  for (std::size_t i = 0; i < tables_.size(); ++i) gather_rows(tables_[i].data(), row_bytes_[i], rows, destinations[i]);
}

}  // namespace gpubench
