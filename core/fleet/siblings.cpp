#include "core/fleet/siblings.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/base/enum_names.h"
#include "core/fleet/last_nights.h"
#include "core/fleet/usual.h"
#include "core/measure/stats/binomial.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

constexpr EnumNames<StandOutSign, stand_out_signs> sign_names{
    "unknown sign", {"broad", "extreme", "lasting", "frequent", "wide", "recurring"}};

// In units of the usual distance between machines. Tails of Student's t(4) reach 4 in 0.6 % and 30 in 0.0002 % of the
// cells: one figure that is far says nothing about its machine.
constexpr double far_deviations = 4, extreme_deviations = 30, lasting_deviations = 5.5;
constexpr double extreme_share = 0.10;

// As many far rows as are improbable at this level, and at least so many.
constexpr double broad_level = 2e-5;
constexpr std::size_t fewest_rows = 3;

double log_share(double share) {
  return std::log1p(share);
}

}  // namespace

std::string_view to_string(StandOutSign sign) {
  return sign_names[sign];
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
  const double usual = usual_share(std::move(shares));
  for (std::size_t machine = 0; machine < machines_; ++machine) {
    const auto [far, all] = votes[machine];
    if (far < fewest_rows || binomial_tail(far, all, usual) >= broad_level) continue;
    const std::size_t cell = at(night, machine);
    signs_[cell].add(StandOutSign::broad);
    for (Figure& figure : figures_)
      if (figure.far[cell] != 0) figure.signs[cell].add(StandOutSign::broad);
  }
}

}  // namespace gpubench
