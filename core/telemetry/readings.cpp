#include "core/telemetry/readings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace gpubench {
namespace {

constexpr double unknown_value = std::numeric_limits<double>::quiet_NaN();

double ratio(double sum, double weight) {
  return weight > 0 ? sum / weight : unknown_value;
}

}  // namespace

Readings::Readings(std::span<const std::string_view> columns, std::size_t capacity) : columns_(columns) {
  times_.reserve(capacity);
  values_.reserve(capacity * columns_.size());
}

std::span<double> Readings::add(Clock::time_point time) {
  times_.push_back(time);
  values_.resize(values_.size() + columns_.size(), unknown_value);
  return std::span(values_).last(columns_.size());
}

Seconds Readings::duration() const {
  return times_.empty() ? Seconds(0) : Seconds(times_.back() - times_.front());
}

bool Readings::has(std::string_view column) const {
  return place(column) < columns_.size();
}

std::size_t Readings::place(std::string_view column) const {
  return static_cast<std::size_t>(std::ranges::find(columns_, column) - columns_.begin());
}

double Readings::at(std::size_t row, std::size_t column) const {
  return column < columns_.size() ? values_[row * columns_.size() + column] : unknown_value;
}

double Readings::seconds_between(std::size_t first, std::size_t last) const {
  return Seconds(times_[last] - times_[first]).count();
}

template <class Take>
void Readings::for_each_known(std::string_view column, const Take& take) const {
  const std::size_t index = place(column);
  for (std::size_t row = 0; row < size(); ++row) {
    if (const double value = at(row, index); !std::isnan(value)) take(row, value);
  }
}

double Readings::integral(std::string_view column) const {
  double sum = unknown_value;
  std::optional<std::pair<std::size_t, double>> before;
  for_each_known(column, [&](std::size_t row, double value) {
    if (before) {
      const double area = seconds_between(before->first, row) * (before->second + value) / 2;
      sum = std::isnan(sum) ? area : sum + area;
    }
    before = {row, value};
  });
  return sum;
}

double Readings::mean(std::string_view column) const {
  std::optional<std::size_t> first, last;
  double only = unknown_value;
  for_each_known(column, [&](std::size_t row, double value) {
    if (!first) first = row;
    last = row;
    only = value;
  });
  if (!first || *first == *last) return only;
  return ratio(integral(column), seconds_between(*first, *last));
}

double Readings::mean_of_intervals(std::string_view column) const {
  double sum = 0, weight = 0;
  std::size_t before = 0;
  for_each_known(column, [&](std::size_t row, double value) {
    if (row == 0) return;
    const double seconds = seconds_between(before, row);
    sum += value * seconds;
    weight += seconds;
    before = row;
  });
  return ratio(sum, weight);
}

double Readings::total(std::string_view column) const {
  const std::size_t index = place(column);
  double sum = size() > 1 ? 0 : unknown_value;
  for (std::size_t row = 1; row < size(); ++row) sum += at(row, index);
  return sum;
}

double Readings::highest(std::string_view column) const {
  double result = unknown_value;
  for_each_known(column, [&](std::size_t, double value) { result = std::fmax(result, value); });
  return result;
}

double Readings::lowest(std::string_view column) const {
  double result = unknown_value;
  for_each_known(column, [&](std::size_t, double value) { result = std::fmin(result, value); });
  return result;
}

std::uint64_t Readings::any_bit(std::string_view column) const {
  std::uint64_t bits = 0;
  for_each_known(column, [&](std::size_t, double value) { bits |= static_cast<std::uint64_t>(value); });
  return bits;
}

}  // namespace gpubench
