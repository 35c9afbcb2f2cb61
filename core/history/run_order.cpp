#include "core/history/run_order.h"

#include <algorithm>
#include <string>
#include <utility>

namespace gpubench {
namespace {

struct PlacedRun {
  std::int64_t id = 0;
  std::string started;
};

/// The order inside each list always holds.
std::vector<PlacedRun> joined(std::vector<PlacedRun> one, std::vector<PlacedRun> other) {
  std::vector<PlacedRun> all;
  all.reserve(one.size() + other.size());
  auto left = one.begin();
  auto right = other.begin();
  while (left != one.end() || right != other.end()) {
    const bool take_left = right == other.end() || (left != one.end() && left->started <= right->started);
    all.push_back(std::move(take_left ? *left++ : *right++));
  }
  return all;
}

}  // namespace

std::int64_t last_run_id(const Database& database) {
  Statement last = database.prepare("SELECT coalesce(max(id), 0) FROM runs");
  return last.step() ? last.integer(0) : 0;
}

void put_in_one_order(const RunHistory& history, const std::vector<std::int64_t>& lasts) {
  std::vector<std::vector<PlacedRun>> lists(lasts.size() + 1);
  for (HistoryRun& run : history.runs()) {
    const auto list = std::ranges::lower_bound(lasts, run.id) - lasts.begin();
    lists[static_cast<std::size_t>(list)].push_back({run.id, std::move(run.started)});
  }
  std::vector<PlacedRun> all = std::move(lists.front());
  for (std::size_t i = 1; i < lists.size(); ++i) all = joined(std::move(all), std::move(lists[i]));
  Statement set = history.database().prepare("UPDATE runs SET sequence = ? WHERE id = ?");
  std::int64_t sequence = 0;
  for (const PlacedRun& run : all) set.bind(1, ++sequence).bind(2, run.id).run();
}

}  // namespace gpubench
