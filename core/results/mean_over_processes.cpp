#include "core/results/mean_over_processes.h"

#include <map>
#include <optional>
#include <string>

#include "core/results/doubt.h"

namespace gpubench {
namespace {

constexpr std::string_view quality = "quality";
const Cell reliable = std::string("ok");

struct Sum {
  double value = 0;
  int cells = 0;
  bool is_figure = false;
};

/// The rows of all processes that belong to one of process 0.
using Counterparts = std::vector<const Record*>;

/// A figure is one that is no whole number in any of the processes.
Record mean_of(const Counterparts& rows) {
  std::map<std::string, Sum> sums;
  for (const Record* const row : rows) {
    for (const auto& [column, cell] : row->cells()) {
      const std::optional<double> value = number_in(cell);
      if (!value) continue;
      Sum& sum = sums[column];
      sum = {sum.value + *value, sum.cells + 1, sum.is_figure || std::holds_alternative<double>(cell)};
    }
  }
  Record mean = *rows.front();
  for (const auto& [column, sum] : sums) {
    if (sum.is_figure) mean.set(column, sum.value / sum.cells);
  }
  for (const Record* const row : rows) {
    if (mean.get(quality) != reliable || !row->has(quality)) continue;
    mean.set(quality, row->get(quality));
    if (row->has("doubt")) mean.set("doubt", row->get("doubt"));
  }
  return mean;
}

}  // namespace

std::vector<Record> mean_over_processes(std::span<const Record> records) {
  // By process: the point of its latest row, and how many earlier rows that point has.
  std::map<std::string, std::pair<std::string, int>> places;
  std::map<std::pair<std::string, int>, std::size_t> index;
  std::vector<Counterparts> rows;
  for (const bool first : {true, false}) {
    for (const Record& record : records) {
      const Cell& process = record.get("process");
      if ((process == Cell(std::int64_t{0})) != first) continue;
      auto& [point, count] = places[to_text(process)];
      const std::string own = to_text(record.get("point"));
      count = own == point ? count + 1 : 0;
      point = own;
      if (first) {
        index[{point, count}] = rows.size();
        rows.push_back({&record});
      } else if (const auto found = index.find({point, count}); found != index.end()) {
        rows[found->second].push_back(&record);
      }
    }
  }
  std::vector<Record> means;
  for (const Counterparts& one : rows) means.push_back(mean_of(one));
  return means;
}

}  // namespace gpubench
