// How often the three ways to an alarm err together, and how soon they see a fault, by simulation of the very rule that
// nights use: SeriesJudge, night by night, with a second look at what is far from its level. SIMULATED_SERIES=1000 is
// what docs/nightly.md rests on; without it there are fewer.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "core/history/series_judge.h"

namespace gpubench {
namespace {

int series_count(int usual) {
  const char* const text = std::getenv("SIMULATED_SERIES");
  return text == nullptr ? usual : std::atoi(text);
}

/// The share of nights' noise that all processes of a night have in common: what a second look cannot tell from a
/// fault. The rest differs from process to process.
constexpr double common_share = 0.8;

/// One figure of one machine over its nights; its level and its noise are relative to `level`.
class Machine {
 public:
  Machine(std::uint64_t seed, double noise, double rho) : engine_(seed), noise_(noise), rho_(rho) {
    for (int i = 0; i < 1000; ++i) {
      HistoryRun run;
      run.id = i + 1;
      run.name = std::to_string(i);
      run.night = run.name;
      runs_.push_back(run);
    }
    series_.column = column_of("step_time_s");
    series_.watched = true;
    state_ = normal_(engine_);
  }

  /// Measures a night, judges it, and returns what is new.
  std::vector<ReportedChange> night(double level) {
    state_ = rho_ * state_ + std::sqrt(1 - rho_ * rho_) * normal_(engine_);
    values_.push_back(process(level));
    std::vector<const HistoryRun*> runs;
    for (std::size_t i = 0; i < values_.size(); ++i) runs.push_back(&runs_[i]);
    SeriesJudge judge(series_, runs, values_, known_, [](std::int64_t) { return std::string("{}"); });
    std::vector<double> again;
    for (int i = 0; i < 7 && judge.suspect(); ++i) again.push_back(process(level));
    judge.look(static_cast<std::int64_t>(values_.size()) - 1, {{runs.back()->night, again}});
    std::vector<ReportedChange> found(judge.new_changes().begin(), judge.new_changes().end());
    for (const ReportedChange* const closed : judge.closed())
      for (ReportedChange& one : known_)
        if (one.run == closed->run) one = *closed;
    known_.insert(known_.end(), found.begin(), found.end());
    return found;
  }

  void nights(int count, double level) {
    for (int i = 0; i < count; ++i) night(level);
  }

  /// Nights at the level until a change for the worse is reported, the first is 1; `most` + 1 if none is.
  int nights_until_alarm(const std::function<double(int)>& level, int most) {
    for (int i = 1; i <= most; ++i)
      for (const ReportedChange& change : night(level(i)))
        if (change.after > change.before) return i;
    return most + 1;
  }
  int nights_until_repair(double level, int most) {
    for (int i = 1; i <= most; ++i) {
      night(level);
      bool open = false;
      for (const ReportedChange& change : known_) open = open || change.state == ChangeState::open;
      if (!open) return i;
    }
    return most + 1;
  }

 private:
  double process(double level) {
    return level * (1 + noise_ * (std::sqrt(common_share) * state_ + std::sqrt(1 - common_share) * normal_(engine_)));
  }

  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
  double noise_, rho_, state_ = 0;
  std::vector<HistoryRun> runs_;
  HistorySeries series_;
  std::vector<double> values_;
  std::vector<ReportedChange> known_;
};

/// The share of series that are alarmed within a year without any fault.
double false_alarms(double noise, double rho, int count) {
  int alarmed = 0;
  for (int i = 0; i < count; ++i) {
    Machine machine(1000 + static_cast<std::uint64_t>(i), noise, rho);
    alarmed += machine.nights_until_alarm([](int) { return 1.0; }, 365) <= 365;
  }
  return static_cast<double>(alarmed) / count;
}

/// The share of series in which `wanted` holds.
double share_of(int count, const std::function<bool(Machine&)>& wanted, double noise = 0.005) {
  int good = 0;
  for (int i = 0; i < count; ++i) {
    Machine machine(5000 + static_cast<std::uint64_t>(i), noise, 0);
    good += wanted(machine);
  }
  return static_cast<double>(good) / count;
}

TEST(NightSimulation, FalseAlarms) {
  const int count = series_count(24);
  for (const double noise : {0.003, 0.01, 0.02}) {
    const double independent = false_alarms(noise, 0, count), correlated = false_alarms(noise, 0.3, count);
    std::printf("noise %.1f %%: with an alarm in a year %.2f %% (rho 0), %.2f %% (rho 0.3)\n", 100 * noise,
                100 * independent, 100 * correlated);
    EXPECT_LE(independent, count < 1000 ? 0.02 : 0.002);
    EXPECT_LE(correlated, count < 1000 ? 0.07 : 0.02);
  }
}

TEST(NightSimulation, AFaultIsSeenTheFirstNight) {
  const int count = series_count(60);
  for (const int before : {10, 12, 20, 60}) {
    const auto first_night = [&](double level) {
      return share_of(count, [&](Machine& machine) {
        machine.nights(before, 1);
        return machine.nights_until_alarm([&](int) { return level; }, 1) == 1;
      });
    };
    const double half_speed = first_night(2), slower = first_night(1.05);
    std::printf("%d nights before: half speed %.1f %%, 5 %% slower %.1f %% the first night\n", before, 100 * half_speed,
                100 * slower);
    EXPECT_EQ(half_speed, 1);
    EXPECT_GE(slower, 0.95) << before;
  }
}

TEST(NightSimulation, ALastingFaultIsSeenAfterAnyHistory) {
  const int count = series_count(30);
  const std::pair<const char*, std::function<void(Machine&)>> histories[] = {
      {"10 nights", [](Machine& m) { m.nights(10, 1); }},
      {"a spike among 12", [](Machine& m) { m.nights(6, 1), m.nights(1, 1.4), m.nights(5, 1); }},
      {"a driver that was twice as fast", [](Machine& m) { m.nights(30, 2), m.nights(100, 1); }},
      {"a driver that was 30 % faster", [](Machine& m) { m.nights(30, 1.3), m.nights(100, 1); }},
      {"a fortnight at half speed", [](Machine& m) { m.nights(60, 1), m.nights(14, 2), m.nights(20, 1); }},
      {"five nights at half speed", [](Machine& m) { m.nights(60, 1), m.nights(5, 2), m.nights(6, 1); }},
      {"one night at half speed", [](Machine& m) { m.nights(30, 1), m.nights(1, 2), m.nights(1, 1); }},
      {"a change seven nights ago", [](Machine& m) { m.nights(60, 1.1), m.nights(7, 1); }},
      {"levels that change every 10 nights",
       [](Machine& m) {
         for (int i = 0; i < 20; ++i) m.nights(10, i % 2 ? 1 : 1.3);
       }},
      {"every tenth night 20 % slower",
       [](Machine& m) {
         for (int i = 0; i < 8; ++i) m.nights(9, 1), m.nights(1, 1.2);
       }},
  };
  for (const auto& [name, history] : histories) {
    const double found = share_of(count, [&make = history](Machine& machine) {
      make(machine);
      return machine.nights_until_alarm([](int) { return 1.05; }, 10) <= 10;
    });
    std::printf("%s: 5 %% slower is reported within 10 nights in %.1f %%\n", name, 100 * found);
    EXPECT_GE(found, 0.95) << name;
  }
}

TEST(NightSimulation, ARepairIsSeenTheFirstNight) {
  for (const int bad : {1, 3, 6, 20}) {
    const double found = share_of(series_count(30), [&](Machine& machine) {
      machine.nights(30, 1);
      machine.nights(bad, 1.3);
      return machine.nights_until_repair(1, 1) == 1;
    });
    std::printf("a repair after %d bad nights is told the same night in %.1f %%\n", bad, 100 * found);
    EXPECT_GE(found, 0.95) << bad;
  }
}

TEST(NightSimulation, AMachineThatIsSlowEveryThirdNightIsReported) {
  const double found = share_of(series_count(30), [](Machine& machine) {
    return machine.nights_until_alarm([](int night) { return night % 3 == 0 ? 1.2 : 1.0; }, 12) <= 12;
  });
  EXPECT_GE(found, 0.95);
  const double later = share_of(series_count(30), [](Machine& machine) {
    machine.nights(30, 1);
    return machine.nights_until_alarm([](int night) { return night % 3 == 0 ? 1.2 : 1.0; }, 9) <= 9;
  });
  EXPECT_GE(later, 0.95);
}

}  // namespace
}  // namespace gpubench
