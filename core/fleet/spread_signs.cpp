// The signs of a machine whose level is normal: what is far in some nights, and what varies within a run.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/fleet/last_nights.h"
#include "core/fleet/siblings.h"
#include "core/fleet/usual.h"
#include "core/measure/stats/binomial.h"

namespace gpubench {
namespace {

// Far in some of the last nights: improbable at this level, not all in a row, which would be a level, and not over yet.
constexpr std::size_t frequent_nights = 20, fewest_nights = 9, fewest_far = 3, over_after = 6, fewest_episodes = 2;
constexpr double frequent_level = 2e-6;
// Nights in which many rows were far.
constexpr std::size_t recurring_nights = 9;
// The interval of a run, as a share: it stands out where it is several times as wide, and not narrow.
constexpr double wide_ratio = 3, wide_share = 0.01, width_floor = 0.2, wide_deviations = 6;

float middle(std::vector<float>& values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

/// Nights in which something is, as runs of neighbouring ones.
struct Episodes {
  std::size_t count = 0, last = 0;
  bool inside = false;

  void add(std::size_t night, bool is) {
    count += is && !inside;
    if (is) last = night;
    inside = is;
  }
  bool are_several_until(std::size_t night) const { return count >= fewest_episodes && night - last < over_after; }
};

/// How many of a machine's last nights are far in one figure.
struct FarNights {
  std::size_t far = 0, all = 0;
  double share() const { return all == 0 ? 0 : static_cast<double>(far) / static_cast<double>(all); }
};

/// Of all machines.
double usual_share_of(const std::vector<FarNights>& machines) {
  std::vector<double> shares;
  for (const FarNights& one : machines)
    if (one.all > 0) shares.push_back(one.share());
  return usual_share(std::move(shares));
}

}  // namespace

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
  const Figure& figure = figures_[f];
  std::vector<FarNights> counts(machines_);
  for (std::size_t night = 0; night < nights_; ++night) {
    bool has_many = false;
    for (std::size_t machine = 0; machine < machines_; ++machine) {
      FarNights& own = counts[machine];
      const auto count = [&](std::size_t cell, std::size_t by) {
        if (std::isnan(figure.worse[cell])) return;
        own.far += by * figure.far[cell];
        own.all += by;
      };
      count(at(night, machine), 1);
      if (night >= frequent_nights) count(at(night - frequent_nights, machine), static_cast<std::size_t>(-1));
      has_many = has_many || own.far >= fewest_far;
    }
    if (!has_many) continue;
    const double usual = usual_share_of(counts);
    for (std::size_t machine = 0; machine < machines_; ++machine) {
      const FarNights& own = counts[machine];
      if (own.far >= fewest_far && own.all >= fewest_nights &&
          binomial_tail(own.far, own.all, usual) < frequent_level && is_frequent(f, night, machine))
        add(f, at(night, machine), StandOutSign::frequent);
    }
  }
}

/// Whether the far nights are several episodes of a machine whose level is normal.
bool StandOuts::is_frequent(std::size_t f, std::size_t night, std::size_t machine) const {
  const Figure& figure = figures_[f];
  if (std::isnan(figure.worse[at(night, machine)])) return false;
  // One episode is a level that has changed, and that may be repaired by now.
  Episodes episodes;
  std::vector<float> values, far;
  for (std::size_t i = first_of(night, frequent_nights); i <= night; ++i) {
    const std::size_t cell = at(i, machine);
    if (std::isnan(figure.worse[cell])) continue;
    episodes.add(i, figure.far[cell] != 0);
    values.push_back(figure.worse[cell]);
    if (figure.far[cell] != 0) far.push_back(figure.worse[cell]);
  }
  // A level that is near to what is far crosses it now and then.
  return episodes.are_several_until(night) && middle(values) <= middle(far) / 2;
}

void StandOuts::look_at_recurrence() {
  const std::vector<SignSet> tonight = signs_;
  for (std::size_t machine = 0; machine < machines_; ++machine) {
    for (std::size_t night = 0; night < nights_; ++night) {
      if (judged_[at(night, machine)] == 0 || tonight[at(night, machine)].any()) continue;
      Episodes episodes;
      for (std::size_t i = first_of(night, recurring_nights); i <= night; ++i)
        if (judged_[at(i, machine)] != 0) episodes.add(i, tonight[at(i, machine)].has(StandOutSign::broad));
      if (episodes.are_several_until(night)) signs_[at(night, machine)].add(StandOutSign::recurring);
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
