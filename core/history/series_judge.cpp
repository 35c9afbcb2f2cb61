#include "core/history/series_judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/compare/changes/find_changes.h"
#include "core/compare/fingerprint.h"
#include "core/measure/stats/quantile.h"
#include "core/results/info.h"

namespace gpubench {
namespace {

Facts facts_of(std::string_view environment) {
  Facts facts;
  const Info info = parse_json(environment, "history: environment");
  if (!info.fields()) return facts;
  for (const auto& [name, value] : *info.fields()) facts.emplace(name, info.text(name));
  return facts;
}

// A later night may find a change this many values away from where it was reported: it is the same one.
constexpr std::size_t same_within = 5;
/// Runs on either side of a change among which its cause is looked for: its place may be that far off.
constexpr std::size_t cause_reach = 3;
/// As many values in a row on the other side of the middle end a regression.
constexpr std::size_t repaired_count = 3;
/// A figure without noise, such as a count, may change by less for good: nobody is woken for it.
constexpr double least_share = 0.001;

}  // namespace

std::string cause_between(std::string_view before, std::string_view after) {
  const std::array sides{facts_of(before), facts_of(after)};
  return cause_text(differences_between(std::span<const Facts>(sides)), 1, CauseDetail::values);
}

SeriesJudge::SeriesJudge(HistorySeries series, std::vector<const HistoryRun*> runs, std::vector<double> values,
                         std::vector<ReportedChange> known, std::function<std::string(std::int64_t)> environment,
                         std::optional<double> threshold)
    : series_(std::move(series)),
      runs_(std::move(runs)),
      values_(std::move(values)),
      environment_(std::move(environment)),
      threshold_(threshold) {
  for (ReportedChange& change : known) {
    const auto place = index_of(change.run);
    if (place) places_.push_back({*place, changes_.size()});
    changes_.push_back(std::move(change));
  }
  std::ranges::sort(places_);
  known_ = changes_.size();
}

void SeriesJudge::look(std::int64_t judged, const std::map<std::string, std::vector<double>>& again) {
  const Changes found = find_changes(values_);
  std::size_t next = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    for (; next < found.changes.size() && found.alarms[next] == i; ++next)
      if (is_new(i, judged)) report_lasting(next == 0 ? 0 : found.changes[next - 1], found.changes[next], i);
    if (!is_new(i, judged)) continue;
    if (const auto looked = again.find(runs_[i]->night); looked != again.end()) use_second_look(i, looked->second);
    look_for_repair(i);
    look_for_frequent(i);
  }
}

std::optional<Suspect> SeriesJudge::suspect() const {
  if (values_.size() < 2) return std::nullopt;
  const std::size_t last = values_.size() - 1;
  const std::optional<Level> level = level_before(last);
  if (!level || !level->is_far(values_[last])) return std::nullopt;
  const bool worse = is_worse(series_, level->center, values_[last]);
  const bool repair = !worse && std::ranges::any_of(changes_, [&](const ReportedChange& change) {
    return change.state == ChangeState::open && is_taken_back(change, values_[last]);
  });
  if (!worse && !repair) return std::nullopt;
  return Suspect{series_, runs_[last]->name, values_[last], level->center, repair};
}

std::vector<const ReportedChange*> SeriesJudge::closed() const {
  std::vector<const ReportedChange*> all;
  for (const std::size_t index : closed_)
    if (index < known_) all.push_back(&changes_[index]);
  return all;
}

std::optional<std::size_t> SeriesJudge::index_of(const std::string& run) const {
  const auto found = std::ranges::find(runs_, run, [](const HistoryRun* one) { return one->name; });
  if (found == runs_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - runs_.begin());
}

std::vector<std::size_t> SeriesJudge::places_until(std::size_t last) const {
  std::vector<std::size_t> places;
  for (const auto& [place, change] : places_)
    if (place <= last && (places.empty() || places.back() != place)) places.push_back(place);
  return places;
}

std::optional<Level> SeriesJudge::level_before(std::size_t i) const {
  const std::vector<std::size_t> places = places_until(i == 0 ? 0 : i - 1);
  std::optional<Level> level = level_of(std::span(values_).first(i), places);
  if (level) level->share = threshold_.value_or(far_share);
  return level;
}

/// The change that was reported nearby in the same direction, if nothing has taken it back since.
bool SeriesJudge::was_reported(std::size_t at, bool worse) const {
  const std::size_t from = at - std::min(at, same_within);
  bool reported = false;
  for (const auto& [place, index] : places_) {
    if (place < from || place > at + same_within) continue;
    if (place == at) return true;
    const ReportedChange& change = changes_[index];
    reported = is_worse(series_, change.before, change.after) == worse;
  }
  return reported;
}

void SeriesJudge::report_lasting(std::size_t level, std::size_t at, std::size_t alarm) {
  const std::span all(values_);
  const double before = median(all.subspan(level, at - level)), after = median(all.subspan(at, alarm + 1 - at));
  if (std::fabs(after - before) >= threshold_.value_or(least_share) * std::fabs(before))
    add(ChangeSign::lasting, at, alarm, before, after);
}

void SeriesJudge::add(ChangeSign sign, std::size_t at, std::size_t alarm, double before, double after) {
  const bool worse = is_worse(series_, before, after);
  if (was_reported(at, worse)) return;
  ReportedChange change{.series = series_.id,
                        .run = runs_[at]->name,
                        .started = runs_[at]->started,
                        .reported = runs_[alarm]->name,
                        .before = before,
                        .after = after,
                        .cause = cause_at(at),
                        .state = worse ? ChangeState::open : ChangeState::better,
                        .sign = sign};
  takes_back_.resize(changes_.size() + 1);
  if (!worse) {
    const std::optional<double> base = close(change);
    takes_back_.back() = base.has_value();
    // Better than it was, and still far from what it was before: what is left is a regression of its own.
    std::optional<Level> level = base ? level_before(at) : std::nullopt;
    if (level && is_worse(series_, *base, after)) {
      level->center = *base;
      if (level->is_far(after)) {
        takes_back_.back() = false;
        change.before = *base;
        change.state = ChangeState::open;
      }
    }
  }
  places_.push_back({at, changes_.size()});
  std::ranges::sort(places_);
  changes_.push_back(std::move(change));
}

/// The environments nearest to the place that differ.
std::string SeriesJudge::cause_at(std::size_t at) const {
  for (std::size_t distance = 0; distance <= cause_reach; ++distance) {
    for (const std::size_t i : {at + distance, at - std::min(at, distance)}) {
      if (i == 0 || i >= runs_.size() || runs_[i]->environment == runs_[i - 1]->environment) continue;
      std::string cause = cause_between(environment_(runs_[i - 1]->environment), environment_(runs_[i]->environment));
      if (!cause.empty()) return cause;
    }
  }
  return {};
}

bool SeriesJudge::is_taken_back(const ReportedChange& change, double value) const {
  return !is_worse(series_, (change.before + change.after) / 2, value);
}

std::optional<double> SeriesJudge::close(const ReportedChange& better) {
  std::optional<double> base;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    ReportedChange& change = changes_[i];
    if (change.state != ChangeState::open || !is_taken_back(change, better.after)) continue;
    change.state = ChangeState::recovered;
    change.closed = better.run;
    closed_.push_back(i);
    if (!base || is_worse(series_, change.before, *base)) base = change.before;
  }
  return base;
}

void SeriesJudge::use_second_look(std::size_t i, std::span<const double> again) {
  const std::optional<Level> level = level_before(i);
  if (!level || !is_confirmed(*level, again)) return;
  const double after = median(again);
  const bool worse = is_worse(series_, level->center, after);
  if (!worse && std::ranges::none_of(changes_, [&](const ReportedChange& change) {
        return change.state == ChangeState::open && is_taken_back(change, after);
      }))
    return;  // better than ever: it has time
  add(ChangeSign::sudden, i, i, level->center, after);
}

/// A repair is told as early as a fault: too soon for a change that lasts.
void SeriesJudge::look_for_repair(std::size_t i) {
  for (const auto& [place, index] : std::vector(places_)) {
    const ReportedChange change = changes_[index];
    const std::size_t wanted = change.sign == ChangeSign::frequent ? frequent_within : repaired_count;
    if (change.state != ChangeState::open || i + 1 < place + wanted) continue;
    const std::size_t first = i + 1 - wanted;
    const std::span latest = std::span(values_).subspan(first, wanted);
    const std::optional<Level> level = level_before(first);
    const bool back = std::ranges::all_of(latest, [&](double value) {
      return is_taken_back(change, value) && (change.sign == ChangeSign::frequent || (level && level->is_far(value)));
    });
    if (back) add(change.sign, first, i, change.after, median(latest));
  }
}

void SeriesJudge::look_for_frequent(std::size_t i) {
  const bool open =
      std::ranges::any_of(changes_, [](const ReportedChange& change) { return change.state == ChangeState::open; });
  if (open) return;
  const bool known =
      std::ranges::any_of(changes_, [](const ReportedChange& change) { return change.sign == ChangeSign::frequent; });
  const std::span all = std::span(values_).first(i + 1);
  const std::vector<std::size_t> places = places_until(i);
  const auto first =
      frequently_far(all, places, series_.column.better == Better::lower, known, threshold_.value_or(far_share));
  if (!first) return;
  std::vector<double> far;
  Level level = level_of(all, places).value();
  level.share = threshold_.value_or(far_share);
  for (const double value : all.subspan(*first))
    if (level.is_far(value)) far.push_back(value);
  const bool always = far.size() == all.size() - *first;
  add(always ? ChangeSign::lasting : ChangeSign::frequent, *first, i, level.center, median(far));
}

}  // namespace gpubench
