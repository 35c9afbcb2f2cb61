#include "core/base/watchdog.h"

#include <csignal>
#include <gtest/gtest.h>
#include <optional>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"

namespace gpubench {
namespace {

/// What `body` ends a process of its own with: it changes the state of the whole program.
template <class Body>
int exit_status_of(Body&& body) {
  const pid_t process = ::fork();
  if (process == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[noreturn]] void wait_forever() {
  for (;;) ::pause();
}

TEST(Watchdog, EndsWhatDoesNotStop) {
  EXPECT_EQ(exit_status_of([] {
              Watchdog watchdog(std::chrono::milliseconds(1), [] { ::_exit(7); });
              request_interrupt(SIGTERM);
              watchdog.notify();
              wait_forever();
            }),
            7);
}

TEST(Watchdog, EndsAPointWhoseTimeIsUp) {
  EXPECT_EQ(exit_status_of([] {
              static Watchdog watchdog(std::chrono::milliseconds(1), [] { ::_exit(timeout_requested() ? 8 : 9); });
              std::signal(SIGALRM, [](int) { request_timeout(), watchdog.notify(); });
              const TimeoutScope scope;
              const Deadline deadline(0.001);
              wait_forever();
            }),
            8);
}

double seconds_left() {
  itimerval timer{};
  getitimer(ITIMER_REAL, &timer);
  return static_cast<double>(timer.it_value.tv_sec);
}

TEST(Deadlines, AnOuterOneGoesOnAndHoldsWithin) {
  {
    const Deadline outer(5000.0);
    {
      const Deadline shorter(100.0);
      EXPECT_LE(seconds_left(), 100);
      const Deadline none(std::nullopt);
      EXPECT_LE(seconds_left(), 100);
    }
    EXPECT_GT(seconds_left(), 1000);
    {
      const Deadline longer(9000.0);
      EXPECT_LE(seconds_left(), 5000);
      EXPECT_GT(seconds_left(), 1000);
    }
    EXPECT_GT(seconds_left(), 1000);
  }
  EXPECT_EQ(seconds_left(), 0);
}

TEST(Deadlines, OneThatPassesWithinAShorterOneIsMetBehindIt) {
  EXPECT_EQ(exit_status_of([] {
              std::signal(SIGALRM, [](int) { request_timeout(); });
              const TimeoutScope scope;
              const Deadline outer(0.001);
              {
                const TimeoutScope of_inner;
                const Deadline inner(1000.0);
                while (!timeout_requested()) continue;
              }
              while (!timeout_requested()) continue;
              ::_exit(6);
            }),
            6);
}

TEST(TimeoutScopes, LeaveWhatWasRequestedBefore) {
  EXPECT_EQ(exit_status_of([] {
              {
                const TimeoutScope outer;
                {
                  const TimeoutScope inner;
                  request_timeout();
                  if (!timeout_requested()) ::_exit(1);
                }
                if (timeout_requested()) ::_exit(2);
                request_timeout();
                if (!timeout_requested()) ::_exit(3);  // the outer scope accepts its own
                { const TimeoutScope inner; }
                if (!timeout_requested()) ::_exit(4);
              }
              request_timeout();
              ::_exit(timeout_requested() || interrupt_requested() ? 5 : 9);
            }),
            9);
}

TEST(Watchdog, LeavesAProgramAloneThatIsNotAsked) {
  EXPECT_EQ(exit_status_of([] {
              Watchdog watchdog(std::chrono::milliseconds(0), [] { ::_exit(7); });
              watchdog.notify();
            }),
            0);
}

TEST(Turns, TheProgramsOwnCodeIsNotEnded) {
  EXPECT_TRUE(is_turn_of_script());
  const TurnScope program(Turn::program);
  EXPECT_FALSE(is_turn_of_script());
  EXPECT_FALSE(begin_ending());
  const TurnScope script(Turn::script);
  EXPECT_TRUE(is_turn_of_script());
}

TEST(Turns, OnceTheEndHasBegunTheScriptsThreadGetsNoFurther) {
  EXPECT_EQ(exit_status_of([] {
              if (!begin_ending()) ::_exit(1);
              std::jthread([] { ::_exit(5); }).detach();
              const TurnScope program(Turn::program);
              ::_exit(2);
            }),
            5);
}

TEST(Progress, CountsTurnsAndComputations) {
  const unsigned long before = progress_count();
  EXPECT_EQ(progress_count(), before) << "a script that does nothing";
  { const TurnScope program(Turn::program); }
  EXPECT_NE(progress_count(), before);
  const Computation computation;
  const unsigned long during = progress_count();
  EXPECT_NE(progress_count(), during) << "as long as it takes";
}

TEST(Interrupt, CanBeSetAsideAndIsBackAfterwards) {
  { EXPECT_FALSE(RequestSetAside()); }
  EXPECT_EQ(interrupt_signal(), 0);
  request_interrupt(SIGTERM);
  {
    const RequestSetAside aside;
    EXPECT_TRUE(aside);
    EXPECT_FALSE(interrupt_requested());
    EXPECT_NO_THROW(check_interrupt());
    EXPECT_EQ(interrupt_signal(), SIGTERM) << "a second signal still knows of the first";
    const TimeoutScope scope;
    request_timeout();
    EXPECT_TRUE(timeout_requested());
  }
  EXPECT_FALSE(timeout_requested());
  EXPECT_THROW(check_interrupt(), Interrupted);
  EXPECT_EQ(interrupt_signal(), SIGTERM);
  clear_interrupt();
}

TEST(Interrupt, RemembersItsSignal) {
  EXPECT_EQ(interrupt_signal(), 0);
  request_interrupt(SIGHUP);
  EXPECT_EQ(interrupt_signal(), SIGHUP);
  clear_interrupt();
  EXPECT_EQ(interrupt_signal(), 0);
}

}  // namespace
}  // namespace gpubench
