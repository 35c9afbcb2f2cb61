#include "core/fleet/siblings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/base/enum_names.h"
#include "core/fleet/usual.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

constexpr EnumNames<StandOutSign, stand_out_signs> sign_names{
    "unknown sign", {"broad", "extreme", "lasting", "frequent", "wide", "recurring"}};

constexpr float not_judged = std::numeric_limits<float>::quiet_NaN();

// In units of the usual distance between machines. Tails of Student's t(4) reach 4 in 0.6 % and 30 in 0.0002 % of the
// cells: one figure that is far says nothing about its machine.
constexpr double far_deviations = 4, extreme_deviations = 30, lasting_deviations = 5.5, wide_deviations = 6;
constexpr double extreme_share = 0.10;

// Rows that are far by chance: at least this share is expected, and as many as are improbable at this level stand out.
constexpr double expected_far = 0.01, broad_level = 2e-5;
constexpr std::size_t fewest_rows = 3;
/// Of the machines with the most far rows, this share does not tell what is usual.
constexpr double trimmed_machines = 0.1;

// The level of a machine is the median of its last nights.
constexpr std::size_t level_nights = 9, fewest_level_nights = 5;

// Far in some of the last nights: improbable at this level, not all in a row, and not over yet.
constexpr std::size_t frequent_nights = 20, fewest_frequent_nights = 9, over_after = 6, fewest_episodes = 2;
constexpr double frequent_level = 2e-6;
// Nights in which many rows were far.
constexpr std::size_t recurring_nights = 9;

// The interval of a run, as a share: it stands out where it is several times as wide, and not narrow.
constexpr double wide_ratio = 3, wide_share = 0.01, width_floor = 0.2;

double log_share(double share) {
  return std::log1p(share);
}

float middle(std::vector<float>& values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

/// The first of at most `count` nights that end with `night`.
std::size_t first_of(std::size_t night, std::size_t count) {
  return night + 1 - std::min(night + 1, count);
}

}  // namespace

std::string_view to_string(StandOutSign sign) {
  return sign_names[sign];
}

double binomial_tail(std::size_t count, std::size_t of, double p) {
  double tail = 0, term = std::pow(1 - p, static_cast<double>(of));
  for (std::size_t i = 0; i <= of; ++i) {
    if (i >= count) tail += term;
    term *= static_cast<double>(of - i) / static_cast<double>(i + 1) * p / (1 - p);
  }
  return tail;
}

StandOuts::StandOuts(const Siblings& siblings)
    : machines_(siblings.machines),
      nights_(siblings.nights),
      least_(log_share(siblings.least_share)),
      figures_(siblings.figures.size()),
      judged_(machines_ * nights_, 0),
      signs_(machines_ * nights_) {
  const std::size_t cells = machines_ * nights_;
  for (Figure& figure : figures_) {
    figure.worse.assign(cells, not_judged);
    figure.deviations.assign(cells, not_judged);
    figure.level.assign(cells, not_judged);
    figure.usual.assign(nights_, not_judged);
    figure.spread.assign(nights_, not_judged);
    figure.far_from.assign(nights_, not_judged);
    figure.far.assign(cells, 0);
    figure.signs.resize(cells);
  }
  for (std::size_t night = 0; night < nights_; ++night) {
    measure(siblings, night);
    look_at_levels(night);
  }
  for (std::size_t figure = 0; figure < figures_.size(); ++figure) {
    look_at_widths(siblings, figure);
    look_at_frequency(figure);
  }
  for (std::size_t night = 0; night < nights_; ++night) look_at_rows(siblings, night);
  look_at_recurrence();
}

namespace {

/// Of all figures together.
OtherFigures figures_together(const std::vector<UsualValues>& figures) {
  std::vector<double> spreads;
  for (const UsualValues& one : figures)
    if (one.count() > fewest_siblings) spreads.push_back(one.spread());
  const std::size_t count = spreads.size();
  return {count, count == 0 ? 0 : median_in_place(spreads)};
}

/// The median of a machine's last values up to `night`; NaN of too few.
template <class Value>
double level_of(std::size_t night, std::vector<double>& room, Value value) {
  room.clear();
  for (std::size_t i = first_of(night, level_nights); i <= night; ++i)
    if (const double one = value(i); !std::isnan(one)) room.push_back(one);
  return room.size() < fewest_level_nights ? not_judged : median_in_place(room);
}

}  // namespace

void StandOuts::add(std::size_t figure, std::size_t cell, StandOutSign sign) {
  figures_[figure].signs[cell].add(sign);
  signs_[cell].add(sign);
}

/// All figures of a night: how far each machine is from its siblings.
void StandOuts::measure(const Siblings& siblings, std::size_t night) {
  std::vector<UsualValues> usual;
  usual.reserve(figures_.size());
  for (const SiblingFigure& figure : siblings.figures)
    usual.emplace_back(std::span(figure.values).subspan(at(night, 0), machines_), figure.lower_is_better);
  const OtherFigures together = figures_together(usual);
  for (std::size_t f = 0; f < figures_.size(); ++f) {
    Figure& figure = figures_[f];
    if (usual[f].count() <= fewest_siblings) continue;
    figure.usual[night] = usual[f].center();
    figure.spread[night] = std::expm1(usual[f].spread());
    figure.far_from[night] = std::expm1(std::max(least_, far_deviations * usual[f].unit()));
    for (std::size_t machine = 0; machine < machines_; ++machine) {
      const Distance distance = usual[f].distance(machine, together);
      if (std::isnan(distance.worse)) continue;
      const std::size_t cell = at(night, machine);
      judged_[cell] = 1;
      figure.worse[cell] = static_cast<float>(distance.worse);
      figure.deviations[cell] = static_cast<float>(distance.deviations);
      figure.far[cell] = distance.deviations > far_deviations && distance.worse > least_;
      if (distance.alone > extreme_deviations && distance.worse > std::max(least_, log_share(extreme_share)))
        add(f, cell, StandOutSign::extreme);
    }
  }
}

/// All figures of a night: the same of the machines' last nights.
void StandOuts::look_at_levels(std::size_t night) {
  if (night + 1 < fewest_level_nights) return;
  std::vector<UsualValues> usual;
  usual.reserve(figures_.size());
  std::vector<double> levels(machines_), room;
  for (const Figure& figure : figures_) {
    for (std::size_t machine = 0; machine < machines_; ++machine)
      levels[machine] = level_of(night, room, [&](std::size_t i) { return figure.worse[at(i, machine)]; });
    usual.emplace_back(levels);
  }
  const OtherFigures together = figures_together(usual);
  for (std::size_t f = 0; f < figures_.size(); ++f) {
    if (usual[f].count() <= fewest_siblings) continue;
    for (std::size_t machine = 0; machine < machines_; ++machine) {
      const std::size_t cell = at(night, machine);
      const Distance distance = usual[f].distance(machine, together);
      figures_[f].level[cell] = static_cast<float>(distance.worse);
      // Without a value tonight, or with one that is normal again, it is over.
      if (distance.worse > least_ && distance.alone > lasting_deviations &&
          figures_[f].worse[cell] > distance.worse / 2)
        add(f, cell, StandOutSign::lasting);
    }
  }
}

void StandOuts::look_at_widths(const Siblings& siblings, std::size_t f) {
  const std::vector<float>& widths = siblings.figures[f].widths;
  if (widths.empty()) return;
  std::vector<double> levels(machines_), room;
  for (std::size_t night = fewest_level_nights - 1; night < nights_; ++night) {
    for (std::size_t machine = 0; machine < machines_; ++machine)
      levels[machine] = level_of(night, room, [&](std::size_t i) {
        const float width = widths[at(i, machine)];
        return width > 0 ? std::log(width) : not_judged;
      });
    const UsualValues usual(levels, width_floor);
    if (usual.count() <= fewest_siblings) continue;
    for (std::size_t machine = 0; machine < machines_; ++machine) {
      const Distance distance = usual.distance(machine, {});
      if (distance.worse > std::log(wide_ratio) && distance.alone > wide_deviations &&
          levels[machine] > std::log(wide_share) && widths[at(night, machine)] > 0)
        add(f, at(night, machine), StandOutSign::wide);
    }
  }
}

std::size_t StandOuts::far_nights(std::size_t f, std::size_t night, std::size_t machine) const {
  std::size_t count = 0;
  for (std::size_t i = first_of(night, frequent_nights); i <= night; ++i) count += figures_[f].far[at(i, machine)];
  return count;
}

void StandOuts::look_at_frequency(std::size_t f) {
  Figure& figure = figures_[f];
  std::vector<std::size_t> far(machines_, 0), all(machines_, 0);
  std::size_t far_of_all = 0, of_all = 0;
  const auto count = [&](std::size_t night, bool add) {
    for (std::size_t machine = 0; machine < machines_; ++machine) {
      const std::size_t cell = at(night, machine);
      if (std::isnan(figure.worse[cell])) continue;
      const auto step = [&](std::size_t& number, std::size_t by) { number = add ? number + by : number - by; };
      step(far[machine], figure.far[cell]);
      step(far_of_all, figure.far[cell]);
      step(all[machine], 1);
      step(of_all, 1);
    }
  };
  const auto look = [&](std::size_t night, std::size_t machine) {
    if (far[machine] <= 2 || all[machine] < fewest_frequent_nights || std::isnan(figure.worse[at(night, machine)]))
      return;
    const double others =
        static_cast<double>(far_of_all - far[machine]) / std::max(1.0, static_cast<double>(of_all - all[machine]));
    if (binomial_tail(far[machine], all[machine], std::max(expected_far, others)) >= frequent_level) return;
    // One episode is a level that has changed, and that may be repaired by now.
    std::size_t episodes = 0, last = 0;
    bool before = false;
    std::vector<float> values, far_values;
    for (std::size_t i = first_of(night, frequent_nights); i <= night; ++i) {
      const std::size_t cell = at(i, machine);
      if (std::isnan(figure.worse[cell])) continue;
      const bool is_far = figure.far[cell] != 0;
      values.push_back(figure.worse[cell]);
      if (is_far) far_values.push_back(figure.worse[cell]);
      episodes += is_far && !before;
      if (is_far) last = i;
      before = is_far;
    }
    if (episodes < fewest_episodes || night - last >= over_after) return;
    // A level that is near to what is far crosses it now and then.
    if (middle(values) > middle(far_values) / 2) return;
    add(f, at(night, machine), StandOutSign::frequent);
  };
  for (std::size_t night = 0; night < nights_; ++night) {
    count(night, true);
    if (night >= frequent_nights) count(night - frequent_nights, false);
    for (std::size_t machine = 0; machine < machines_; ++machine) look(night, machine);
  }
}

void StandOuts::look_at_rows(const Siblings& siblings, std::size_t night) {
  std::size_t rows = 0;
  for (const SiblingFigure& figure : siblings.figures) rows = std::max(rows, figure.row + 1);
  struct Votes {
    std::size_t far = 0, all = 0;
    double share() const { return all == 0 ? 0 : static_cast<double>(far) / static_cast<double>(all); }
  };
  std::vector<Votes> votes(machines_);
  std::vector<std::uint8_t> of_row(rows);
  for (std::size_t machine = 0; machine < machines_; ++machine) {
    std::ranges::fill(of_row, 0);
    for (std::size_t f = 0; f < figures_.size(); ++f) {
      if (std::isnan(figures_[f].worse[at(night, machine)])) continue;
      std::uint8_t& row = of_row[siblings.figures[f].row];
      row = std::max<std::uint8_t>(row, figures_[f].far[at(night, machine)] != 0 ? 2 : 1);
    }
    votes[machine] = {static_cast<std::size_t>(std::ranges::count(of_row, 2)),
                      static_cast<std::size_t>(std::ranges::count_if(of_row, [](auto one) { return one > 0; }))};
  }
  std::vector<double> shares;
  for (const Votes& one : votes)
    if (one.all > 0) shares.push_back(one.share());
  if (shares.empty()) return;
  std::ranges::sort(shares);
  shares.resize(shares.size() -
                static_cast<std::size_t>(std::ceil(trimmed_machines * static_cast<double>(shares.size()))));
  const double usual =
      shares.empty() ? 0 : std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  for (std::size_t machine = 0; machine < machines_; ++machine) {
    const auto [far, all] = votes[machine];
    if (far < fewest_rows || binomial_tail(far, all, std::max(expected_far, usual)) >= broad_level) continue;
    const std::size_t cell = at(night, machine);
    signs_[cell].add(StandOutSign::broad);
    for (Figure& figure : figures_)
      if (figure.far[cell] != 0) figure.signs[cell].add(StandOutSign::broad);
  }
}

void StandOuts::look_at_recurrence() {
  const std::vector<SignSet> tonight = signs_;
  for (std::size_t machine = 0; machine < machines_; ++machine) {
    for (std::size_t night = 0; night < nights_; ++night) {
      if (judged_[at(night, machine)] == 0 || tonight[at(night, machine)].any()) continue;
      std::size_t episodes = 0, last = 0;
      bool before = false;
      for (std::size_t i = first_of(night, recurring_nights); i <= night; ++i) {
        if (judged_[at(i, machine)] == 0) continue;
        const bool broad = tonight[at(i, machine)].has(StandOutSign::broad);
        episodes += broad && !before;
        if (broad) last = i;
        before = broad;
      }
      if (episodes >= fewest_episodes && night - last < over_after)
        signs_[at(night, machine)].add(StandOutSign::recurring);
    }
  }
}

/// The first of the nights that made a figure stand out in `night`.
std::size_t StandOuts::onset(std::size_t night, std::size_t machine) const {
  std::size_t first = night;
  for (const Figure& figure : figures_) {
    const SignSet own = figure.signs[at(night, machine)];
    if (own.has(StandOutSign::frequent)) {
      for (std::size_t i = first_of(night, frequent_nights); i < first; ++i)
        if (figure.far[at(i, machine)] != 0) first = i;
    }
    if (!own.has(StandOutSign::lasting)) continue;
    const float half = figure.level[at(night, machine)] / 2;
    for (std::size_t i = night + 1; i-- > first_of(night, level_nights);) {
      const float one = figure.worse[at(i, machine)];
      if (std::isnan(one)) continue;
      if (one < half) break;
      first = std::min(first, i);
    }
  }
  return first;
}

std::size_t StandOuts::since(std::size_t night, std::size_t machine) const {
  std::size_t first = night;
  for (std::size_t i = night + 1; i-- > 0;) {
    const SignSet signs = signs_[at(i, machine)];
    if (judged_[at(i, machine)] == 0 || i > first) continue;
    if (!signs.any()) break;
    first = i;
    if (!signs.has(StandOutSign::recurring)) continue;
    for (std::size_t before = first_of(i, recurring_nights); before < first; ++before)
      if (signs_[at(before, machine)].has(StandOutSign::broad)) first = before;
  }
  return signs_[at(first, machine)].has(StandOutSign::broad) ? first : onset(first, machine);
}

}  // namespace gpubench
