// How often the rule for fleets is wrong, and how soon it is right, by simulation. tests/truth/decide fleet asks for
// five seeds.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>

#include "core/fleet/siblings.h"

namespace gpubench {
namespace {

enum class Tail { normal, student };

struct SimulatedFleet {
  std::size_t machines = 200, figures = 50, nights = 100;
  Tail tail = Tail::normal;
  /// Standard deviation of the machines' own levels; half of its variance is common to all figures of a machine.
  double apart = 0.005;
  double least_noise = 0.003, most_noise = 0.02;
  /// The part of the noise that all figures of a machine have in common in a night.
  double together = 0;
};

class Noise {
 public:
  Noise(Tail tail, std::uint64_t seed) : tail_(tail), engine_(seed) {}
  /// With standard deviation 1.
  double operator()() { return tail_ == Tail::normal ? normal_(engine_) : student_(engine_) / std::sqrt(2.0); }
  double normal() { return normal_(engine_); }

 private:
  Tail tail_;
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{4};
};

/// Values of sound machines.
Siblings simulated(const SimulatedFleet& fleet, std::uint64_t seed) {
  Noise noise(fleet.tail, seed);
  Siblings all{.machines = fleet.machines, .nights = fleet.nights};
  std::vector<double> common(fleet.machines);
  for (double& one : common) one = fleet.apart * std::sqrt(0.5) * noise.normal();
  std::vector<double> of_night(fleet.machines * fleet.nights);
  for (double& one : of_night) one = fleet.together * noise();
  for (std::size_t f = 0; f < fleet.figures; ++f) {
    SiblingFigure figure{.lower_is_better = f % 2 == 0, .row = f};
    figure.values.resize(fleet.machines * fleet.nights);
    const double spread = fleet.least_noise + (fleet.most_noise - fleet.least_noise) * static_cast<double>(f) /
                                                  static_cast<double>(fleet.figures - 1);
    for (std::size_t machine = 0; machine < fleet.machines; ++machine) {
      const double own = common[machine] + fleet.apart * std::sqrt(0.5) * noise.normal();
      for (std::size_t night = 0; night < fleet.nights; ++night)
        figure.values[all.at(night, machine)] = std::exp(own + of_night[all.at(night, machine)] + spread * noise());
    }
    all.figures.push_back(std::move(figure));
  }
  return all;
}

struct Slow {
  double share = 0;
  std::size_t from = 0, until = 1000;
  std::size_t figures = 1000;  ///< the first ones
  std::size_t every = 1;
};

void slow(Siblings& all, std::size_t machine, const Slow& how) {
  for (std::size_t f = 0; f < std::min(how.figures, all.figures.size()); ++f) {
    SiblingFigure& figure = all.figures[f];
    for (std::size_t night = how.from; night < std::min(how.until, all.nights); night += how.every)
      figure.values[all.at(night, machine)] *= figure.lower_is_better ? 1 + how.share : 1 / (1 + how.share);
  }
}

struct Wrong {
  std::size_t cells = 0, all_cells = 0, machine_nights = 0, all_machine_nights = 0;

  double share_of_cells() const { return static_cast<double>(cells) / static_cast<double>(all_cells); }
};

bool every_machine(std::size_t, std::size_t) {
  return true;
}

template <class Sound>
void count_wrong(const Siblings& all, const StandOuts& found, Sound is_sound, Wrong& wrong) {
  for (std::size_t night = 0; night < all.nights; ++night) {
    for (std::size_t machine = 0; machine < all.machines; ++machine) {
      if (!is_sound(night, machine)) continue;
      ++wrong.all_machine_nights;
      wrong.machine_nights += found.signs(night, machine).any();
      for (std::size_t f = 0; f < all.figures.size(); ++f) {
        ++wrong.all_cells;
        wrong.cells += found.signs(f, night, machine).any();
      }
    }
  }
}

/// tests/truth/decide fleet gives 5.
int seeds() {
  const char* const count = std::getenv("SIMULATED_FLEETS");
  return count == nullptr ? 1 : std::atoi(count);
}

TEST(FleetSimulation, TwoSlowMachinesOf200AreFoundOnTheirFirstNightAndHardlyAnyOther) {
  constexpr std::size_t always = 42, later = 17, from = 75;
  for (const Tail tail : {Tail::normal, Tail::student}) {
    for (int seed = 1; seed <= seeds(); ++seed) {
      const std::string what = (tail == Tail::normal ? "normal, seed " : "Student, seed ") + std::to_string(seed);
      Siblings all = simulated({.tail = tail}, static_cast<std::uint64_t>(seed));
      slow(all, always, {.share = 0.08});
      slow(all, later, {.share = 0.05, .from = from});
      const StandOuts found(all);
      const std::size_t tonight = all.nights - 1;
      EXPECT_TRUE(found.signs(0, always).has(StandOutSign::broad)) << what;
      EXPECT_TRUE(found.signs(from, later).has(StandOutSign::broad)) << what;
      ASSERT_TRUE(found.signs(tonight, always).any() && found.signs(tonight, later).any()) << what;
      EXPECT_EQ(found.since(tonight, always), 0u) << what;
      EXPECT_EQ(found.since(tonight, later), from) << what;
      Wrong wrong;
      count_wrong(
          all, found,
          [&](std::size_t night, std::size_t machine) {
            return machine != always && (machine != later || night < from);
          },
          wrong);
      EXPECT_LE(wrong.share_of_cells(), 1e-5) << what << ": " << wrong.cells << " of " << wrong.all_cells;
      EXPECT_LE(wrong.machine_nights, 5u) << what << ": of " << wrong.all_machine_nights;
    }
  }
}

// Where few machines are four times as far apart, chance puts some of them near each other.
TEST(FleetSimulation, SmallFleetsNameHardlyAnySoundMachine) {
  const int fleets = 8 * seeds();
  for (const double apart : {0.005, 0.02}) {
    for (const Tail tail : {Tail::normal, Tail::student}) {
      Wrong wrong;
      for (const std::size_t machines : {4, 5, 6, 8, 12, 20, 40}) {
        for (int seed = 1; seed <= fleets; ++seed) {
          const Siblings all = simulated({.machines = machines, .nights = 12, .tail = tail, .apart = apart},
                                         static_cast<std::uint64_t>(seed));
          count_wrong(all, StandOuts(all), every_machine, wrong);
        }
      }
      EXPECT_LE(wrong.share_of_cells(), 1e-5) << apart << ": " << wrong.cells << " of " << wrong.all_cells;
    }
  }
}

// All figures of a machine are a little slower in one night and a little faster in the next.
TEST(FleetSimulation, FiguresThatMoveTogetherDeceiveNobody) {
  Wrong wrong;
  for (int seed = 1; seed <= seeds(); ++seed) {
    const Siblings all =
        simulated({.machines = 100, .nights = 50, .together = 0.005}, static_cast<std::uint64_t>(seed));
    count_wrong(all, StandOuts(all), every_machine, wrong);
  }
  EXPECT_LE(wrong.share_of_cells(), 1e-5) << wrong.cells << " of " << wrong.all_cells;
}

// docs/fleet.md has the shares of fleets in which they are found.
TEST(FleetSimulation, AFewMachinesSufficeForOneThatIsSlowInAllFigures) {
  for (const auto& [machines, share] :
       {std::pair{6, 0.12}, std::pair{8, 0.08}, std::pair{12, 0.05}, std::pair{20, 0.05}}) {
    const auto count = static_cast<std::size_t>(machines);
    Siblings all = simulated({.machines = count, .nights = 21, .tail = Tail::student}, count);
    slow(all, 1, {.share = share, .from = 20});
    EXPECT_TRUE(StandOuts(all).signs(20, 1).has(StandOutSign::broad)) << machines;
  }
}

TEST(FleetSimulation, FourMachinesNeedMore) {
  Siblings all = simulated({.machines = 4, .nights = 1}, 4);
  slow(all, 1, {.share = 0.30});
  EXPECT_TRUE(StandOuts(all).signs(0, 1).has(StandOutSign::broad));
}

TEST(FleetSimulation, OneSlowFigureIsFoundWithinNineNights) {
  Siblings all = simulated({.machines = 40, .nights = 40, .tail = Tail::student}, 3);
  slow(all, 7, {.share = 0.08, .from = 20, .figures = 1});
  const StandOuts found(all);
  const SignSet signs = found.signs(0, 28, 7);
  EXPECT_TRUE(signs.has(StandOutSign::lasting));
  EXPECT_FALSE(signs.has(StandOutSign::broad));
  EXPECT_EQ(found.since(39, 7), 20u);
  EXPECT_NEAR(found.lasting_worse(0, 39, 7), std::log(1.08), 0.02);
}

TEST(FleetSimulation, HalfTheSpeedInOneFigureIsFoundAtOnce) {
  Siblings all = simulated({.machines = 40, .nights = 3, .tail = Tail::student}, 4);
  slow(all, 7, {.share = 1, .from = 2, .figures = 1});
  EXPECT_TRUE(StandOuts(all).signs(2, 7).has(StandOutSign::extreme));
}

TEST(FleetSimulation, OneThatIsSlowEachThirdNightHasANormalLevelAndStandsOut) {
  Siblings all = simulated({.machines = 20, .nights = 40, .tail = Tail::student}, 5);
  slow(all, 7, {.share = 0.20, .from = 20, .figures = 1, .every = 3});
  slow(all, 3, {.share = 0.20});  // hides no other
  const StandOuts found(all);
  EXPECT_FALSE(found.signs(25, 7).any());
  EXPECT_TRUE(found.signs(0, 36, 7).has(StandOutSign::frequent)) << "a night in which it is normal too";
  EXPECT_FALSE(found.signs(36, 7).has(StandOutSign::lasting));
  EXPECT_EQ(found.since(39, 7), 20u);
  EXPECT_GE(found.far_nights(0, 36, 7), 5u);
}

TEST(FleetSimulation, OneThatIsSlowInAllFiguresNowAndThenStandsOutOnGoodNightsToo) {
  Siblings all = simulated({.machines = 20, .nights = 16}, 6);
  slow(all, 7, {.share = 0.10, .from = 10, .every = 3});
  const StandOuts found(all);
  EXPECT_TRUE(found.signs(13, 7).has(StandOutSign::broad));
  EXPECT_TRUE(found.signs(14, 7).has(StandOutSign::recurring));
  EXPECT_EQ(found.since(15, 7), 10u);
}

TEST(FleetSimulation, WhatWasRepairedStandsOutNoMore) {
  Siblings all = simulated({.machines = 20, .nights = 40, .tail = Tail::student}, 7);
  slow(all, 7, {.share = 0.20, .from = 20, .until = 30});
  const StandOuts found(all);
  EXPECT_TRUE(found.signs(29, 7).any());
  for (std::size_t night = 30; night < all.nights; ++night) EXPECT_FALSE(found.signs(night, 7).any()) << night;
}

TEST(FleetSimulation, WideIntervalsOfItsRunsAreASpreadToo) {
  Siblings all = simulated({.machines = 20, .nights = 9}, 8);
  std::mt19937_64 engine(8);
  std::lognormal_distribution<float> width(std::log(0.004F), 0.3F);
  SiblingFigure& figure = all.figures[0];
  for (std::size_t i = 0; i < figure.values.size(); ++i) figure.widths.push_back(width(engine));
  for (std::size_t night = 0; night < all.nights; ++night) figure.widths[all.at(night, 7)] *= 12;
  const StandOuts found(all);
  for (std::size_t machine = 0; machine < all.machines; ++machine)
    EXPECT_EQ(found.signs(8, machine).has(StandOutSign::wide), machine == 7) << machine;
}

}  // namespace
}  // namespace gpubench
