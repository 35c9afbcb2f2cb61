#include "core/telemetry/proc/contention.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/base/interrupt.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using namespace std::chrono_literals;

constexpr auto absent = std::nullopt;
/// Of other programs' time on two processors, what may be rounding.
const double rounding_s = 0.01 * std::sqrt(2.0);

testing::Matcher<std::optional<double>> near(double value) {
  return Optional(testing::DoubleNear(value, 1e-9));
}

/// Seconds, of which /proc/stat has hundredths.
struct Used {
  double user = 0, system = 0, idle = 0, softirq = 0, stolen = 0;
};

std::string processor_line(int number, const Used& used) {
  const auto ticks = [](double seconds) { return static_cast<long>(seconds * 100 + 0.5); };
  return fmt::format("cpu{} {} 0 {} {} 0 0 {} {} 0 0\n", number, ticks(used.user), ticks(used.system), ticks(used.idle),
                     ticks(used.softirq), ticks(used.stolen));
}

/// A file system of our own: two processors, of which this process has used what own_ says.
class ContentionTest : public TemporaryFolder {
 protected:
  ContentionTest() { write_processors({{}, {}}); }

  void write_processors(const std::vector<Used>& all) const {
    std::string lines = "cpu  1 2 3 4 5 6 7 8 9 10\n";
    for (std::size_t i = 0; i < all.size(); ++i) lines += processor_line(static_cast<int>(i), all[i]);
    write_file("proc/stat", lines + "intr 12 34\nctxt 5\n");
  }
  void write_thread(int number, double ran_s, double delayed_s) const {
    write_file(fmt::format("proc/self/task/{}/schedstat", number),
               fmt::format("{:.0f} {:.0f} 7\n", ran_s * 1e9, delayed_s * 1e9));
  }
  void end_thread(int number) const { std::filesystem::remove_all(file(fmt::format("proc/self/task/{}", number))); }
  void write_clock(int processor, double hertz) const {
    write_file(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", processor),
               fmt::format("{:.0f}\n", hertz / 1e3));
  }
  void write_file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(file(name).parent_path());
    write(name, text);
  }

  ContentionSources sources() {
    return {.root = file(""), .own = [this] { return own_; }, .processors = {0, 1}, .neighbours = neighbours_};
  }
  /// What is between the files as they are and as each of `changes` leaves them.
  Contention after(const std::vector<std::function<void()>>& changes) {
    ContentionProbe probe(sources());
    Readings readings(probe.columns(), changes.size() + 1);
    probe.read(readings.add({}));
    for (const auto& change : changes) {
      change();
      probe.read(readings.add(Clock::time_point(std::chrono::seconds(readings.size()))));
    }
    return contention_of(readings);
  }

  ProcessUse own_;
  std::vector<int> neighbours_;
};

TEST_F(ContentionTest, NobodyTakesAnything) {
  write_thread(1, 5, 3);
  const Contention idle = after({[&] {
    own_ = {.cpu_s = 1, .involuntary_switches = 12};
    write_thread(1, 6, 3);
    write_processors({{.user = 1}, {.idle = 1}});
  }});
  EXPECT_THAT(idle.lost_share, near(0));
  EXPECT_THAT(idle.others_share, near(0));
  EXPECT_THAT(idle.stolen_share, near(0));
  EXPECT_THAT(idle.delayed_s, near(0));
  EXPECT_THAT(idle.cpu_s, near(1));
  EXPECT_THAT(idle.involuntary_switches, near(12));
  EXPECT_EQ(idle.clock_hz, absent);
  EXPECT_TRUE(idle.is_idle());
}

TEST_F(ContentionTest, AProgramOnTheSameProcessorTakesHalf) {
  write_thread(1, 0, 0);
  const Contention half = after({[&] {
    own_.cpu_s = 1;
    write_thread(1, 1, 1);
    write_processors({{.user = 1.5, .system = 0.4, .softirq = 0.1}, {.idle = 2}});
  }});
  EXPECT_THAT(half.lost_share, near((1 - rounding_s) / (2 - rounding_s)));
  EXPECT_THAT(half.others_share, near(0.25));
  EXPECT_THAT(half.delayed_s, near(1));
  EXPECT_FALSE(half.is_idle());
}

TEST_F(ContentionTest, AProgramOnTheOtherProcessorTakesNothing) {
  write_thread(1, 0, 0);
  const Contention beside = after({[&] {
    own_.cpu_s = 2;
    write_thread(1, 2, 0);
    write_processors({{.user = 2}, {.user = 2}});
  }});
  EXPECT_THAT(beside.lost_share, near(0));
  EXPECT_THAT(beside.others_share, near(0.5));
  EXPECT_FALSE(beside.is_idle());
}

TEST_F(ContentionTest, ThreadsThatWaitForEachOtherLoseNothing) {
  for (const int thread : {1, 2, 3, 4}) write_thread(thread, 0, 0);
  const Contention crowded = after({[&] {
    own_.cpu_s = 2;
    for (const int thread : {1, 2, 3, 4}) write_thread(thread, 0.5, 0.5);
    write_processors({{.user = 1}, {.user = 1}});
  }});
  EXPECT_THAT(crowded.delayed_s, near(2));
  EXPECT_THAT(crowded.lost_share, near(0));
  EXPECT_TRUE(crowded.is_idle());
}

TEST_F(ContentionTest, WhatOthersNeverUsedIsNotLostToThem) {
  write_thread(1, 0, 0);
  const Contention rounded = after({[&] {
    own_.cpu_s = 0.39;
    write_thread(1, 0.39, 5);
    write_processors({{.user = 0.2}, {.user = 0.2}});
  }});
  EXPECT_THAT(rounded.lost_share, near(0)) << "a tick more than this process used";
  const Contention brief = after({[&] {
    own_.cpu_s += 1;
    write_thread(1, 1.39, 5.125);
    write_processors({{.user = 1.2}, {.user = 1.2}});
  }});
  EXPECT_THAT(brief.lost_share, near(0.125 / 1.125)) << "others used a second, the threads waited for less";
}

TEST_F(ContentionTest, OtherProcessesOfTheRunAreNoOtherPrograms) {
  neighbours_ = {4711, 4712};
  const auto write_neighbour = [&](int process, int user, int system) {
    write_file(fmt::format("proc/{}/stat", process),
               fmt::format("{} (a ) b) S 1 2 3 4 5 6 7 8 9 10 {} {} 0 0 20 0\n", process, user, system));
  };
  write_neighbour(4711, 100, 0);
  write_neighbour(4712, 0, 0);
  write_thread(1, 0, 0);
  const Contention shared = after({[&] {
    own_.cpu_s = 1;
    write_thread(1, 1, 2);
    write_neighbour(4711, 150, 30);
    write_neighbour(4712, 50, 50);
    write_processors({{.user = 2}, {.user = 1}});
  }});
  EXPECT_THAT(shared.others_share, near(0.2 / 3));
  const double taken = (0.2 - rounding_s) / 2.8;  // the others of the run used 1.8 s
  EXPECT_THAT(shared.lost_share, near(taken / (1 + taken)));
  neighbours_.push_back(1);
  EXPECT_EQ(after({[] {}}).lost_share, absent) << "a neighbour whose time is unknown";
}

TEST_F(ContentionTest, StolenTimeIsSharedWithOtherPrograms) {
  write_thread(1, 0, 0);
  const Contention alone = after({[&] {
    own_.cpu_s = 3;
    write_thread(1, 3, 0);
    write_processors({{.user = 3, .stolen = 1}, {.idle = 4}});
  }});
  EXPECT_THAT(alone.lost_share, near(0.25));
  EXPECT_THAT(alone.stolen_share, near(0.125));
  EXPECT_FALSE(alone.is_idle());
  const Contention beside = after({[&] {
    own_.cpu_s += 3;
    write_thread(1, 6, 0);
    write_processors({{.user = 6, .stolen = 1.5}, {.user = 3, .idle = 4, .stolen = 0.5}});
  }});
  EXPECT_THAT(beside.lost_share, near(0.5 / 3.5));
}

TEST_F(ContentionTest, ThreadsComeAndGo) {
  write_thread(1, 10, 10);
  const Contention all = after({[&] {
                                  write_thread(1, 10, 10.5);
                                  write_thread(2, 1, 0.25);
                                  write_processors({{.user = 4}, {.user = 4}});
                                },
                                [&] {
                                  end_thread(2);
                                  write_thread(3, 1, 0.125);
                                },
                                [&] { write_thread(3, 0.5, 0.0625); }});
  EXPECT_THAT(all.delayed_s, near(0.5 + 0.25 + 0.125 + 0.0625)) << "the last: another thread of the same number";
}

TEST_F(ContentionTest, OnlyTheProcessorsThatMayBeUsedCount) {
  write_thread(1, 0, 0);
  ContentionProbe probe({.root = file(""), .own = [this] { return own_; }, .processors = {1}, .neighbours = {}});
  Readings readings(probe.columns(), 2);
  probe.read(readings.add({}));
  own_.cpu_s = 1;
  write_thread(1, 1, 1);
  write_processors({{.user = 2}, {.user = 1, .idle = 1}});
  probe.read(readings.add({}));
  EXPECT_THAT(contention_of(readings).lost_share, near(0));
  EXPECT_THAT(contention_of(readings).others_share, near(0));
}

TEST_F(ContentionTest, WithoutDelaysOthersTookWhatWasNotIdle) {
  const auto use = [&](const Used& second) {
    return after({[&] {
      own_.cpu_s += 1;
      write_processors({{.user = 1}, second});
    }});
  };
  const Contention beside = use({.user = 0.4, .idle = 0.6});
  EXPECT_EQ(beside.delayed_s, absent);
  EXPECT_THAT(beside.lost_share, near(0));
  write_processors({{}, {}});
  EXPECT_THAT(use({.user = 1}).lost_share, near((1 - rounding_s) / (2 - rounding_s)));
}

TEST_F(ContentionTest, WhatTheSystemDoesNotTellIsAbsent) {
  std::filesystem::remove(file("proc/stat"));
  write_thread(1, 0, 0);
  const Contention blind = after({[&] {
    own_.cpu_s = 1;
    write_thread(1, 1, 1);
  }});
  EXPECT_EQ(blind.lost_share, absent);
  EXPECT_EQ(blind.others_share, absent);
  EXPECT_EQ(blind.stolen_share, absent);
  EXPECT_THAT(blind.delayed_s, near(1));
  EXPECT_THAT(blind.cpu_s, near(1));
  EXPECT_FALSE(blind.is_idle());
}

TEST_F(ContentionTest, TheClockIsThatOfBusyProcessors) {
  write_clock(0, 3e9);
  write_clock(1, 1e9);
  EXPECT_THAT(after({[&] { write_processors({{.user = 3}, {.user = 1, .idle = 2}}); }}).clock_hz, near(2.5e9));
  EXPECT_EQ(after({[] {}}).clock_hz, absent) << "no processor was busy";
}

TEST_F(ContentionTest, LessThanATickIsNothingLost) {
  write_thread(1, 0, 0);
  const Contention brief = after({[&] {
    own_.cpu_s = 0.004;
    write_thread(1, 0.004, 0.002);
  }});
  EXPECT_THAT(brief.lost_share, near(0));
  EXPECT_EQ(brief.others_share, absent);
}

TEST_F(ContentionTest, ASamplerReadsFromItsBeginningToItsEnd) {
  write_thread(1, 0, 0);
  const auto sampler = contention_sampler(sources());
  own_.cpu_s = 100;
  sampler->begin();
  sampler->end();
  EXPECT_THAT(contention_of(sampler->readings()[0]).cpu_s, near(0));
}

TEST_F(ContentionTest, TheRealSystemTellsOurOwnTime) {
  const auto sampler = contention_sampler({});
  sampler->begin();
  const ProcessUse before = own_use();
  while (own_use().cpu_s - before.cpu_s < 0.02) {
  }
  sampler->end();
  const Contention real = contention_of(sampler->readings()[0]);
  EXPECT_GE(real.cpu_s, 0.02);
  if (real.lost_share) {
    EXPECT_GE(*real.lost_share, 0);
    EXPECT_LT(*real.lost_share, 1);
  }
}

/// Time passes when it is waited for, and `at` is called with the seconds that have passed.
class PassingTicker final : public Ticker {
 public:
  explicit PassingTicker(std::function<void(double)> at) : at_(std::move(at)) {}
  Clock::time_point now() const override { return now_; }
  bool wait_until(Clock::time_point time, const std::stop_token&) override {
    now_ = time;
    at_(passed());
    return true;
  }
  double passed() const { return Seconds(now_.time_since_epoch()).count(); }

 private:
  std::function<void(double)> at_;
  Clock::time_point now_{};
};

class IdleMachine : public ContentionTest {
 protected:
  ~IdleMachine() override { clear_interrupt(); }
  /// Others use one of two processors until then.
  std::function<void(double)> busy_until(double end) {
    return [this, end](double now) {
      const double busy = std::min(now, end);
      write_processors({{.user = busy, .idle = now - busy}, {.idle = now}});
    };
  }
};

TEST_F(IdleMachine, IsWaitedFor) {
  PassingTicker ticker(busy_until(2.5));
  const Contention last = wait_for_idle_machine(sources(), 60s, ticker);
  EXPECT_TRUE(last.is_idle());
  EXPECT_DOUBLE_EQ(ticker.passed(), 4);
}

TEST_F(IdleMachine, IsWaitedForNoLongerThanTheLimit) {
  PassingTicker ticker(busy_until(1e9));
  const Contention last = wait_for_idle_machine(sources(), Seconds(3.25), ticker);
  EXPECT_FALSE(last.is_idle());
  EXPECT_THAT(last.others_share, Optional(testing::DoubleNear(0.5, 0.03)));
  EXPECT_DOUBLE_EQ(ticker.passed(), 3.25);
}

TEST_F(IdleMachine, ALimitOfZeroDoesNotWait) {
  PassingTicker ticker(busy_until(0));
  EXPECT_EQ(wait_for_idle_machine(sources(), 0s, ticker).others_share, absent);
  EXPECT_EQ(ticker.passed(), 0);
}

TEST_F(IdleMachine, InterruptAndTimeLimitEndTheWait) {
  PassingTicker interrupted([](double now) {
    if (now > 1.9) request_interrupt();
  });
  EXPECT_THROW(wait_for_idle_machine(sources(), 60s, interrupted), Interrupted);
  clear_interrupt();
  const TimeoutScope scope;
  PassingTicker timed_out([](double now) {
    if (now > 0.4) request_timeout();
  });
  write_processors({{.user = 1}, {.user = 1}});
  EXPECT_THROW(wait_for_idle_machine(sources(), 60s, timed_out), TimedOut);
  EXPECT_LT(timed_out.passed(), 0.6);
}

TEST_F(IdleMachine, ASystemThatTellsNothingCannotBeWaitedFor) {
  std::filesystem::remove(file("proc/stat"));
  PassingTicker ticker([](double) {});
  EXPECT_ERROR(HasSubstr("/proc/stat does not tell how busy the processors are"),
               wait_for_idle_machine(sources(), 60s, ticker));
}

}  // namespace
}  // namespace gpubench
