// lua/api/protect.cpp: what the Lua library learns of a failing point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "lua/api/modules.h"
#include "lua/api/session.h"
#include "tests/lua/bind/script.h"

namespace gpubench::lua {
namespace {

class Protect : public ::testing::Test {
 protected:
  Protect() {
    set_session(script_.state(), session_);
    open_modules(script_.state());
    const Module gb = Module::root(script_.state());
    gb.function<[] { throw OutOfMemory("cpu:0 is full"); }>("fill")
        .function<[] {
          request_interrupt();
          check_interrupt();
        }>("stop")
        .function<[] {
          request_timeout();
          check_interrupt();
        }>("end_time");
  }
  ~Protect() override { clear_interrupt(); }
  std::string run(const std::string& call) { return script_.run("return table.concat({" + call + "}, '|')"); }

  Session session_{[] {
    SessionOptions options;
    options.timeout_s = 60;
    return options;
  }()};
  Script script_;
};

std::string protect(const std::string& body) {
  return "select(2, gb._native.protect(function() " + body + " end))";
}

TEST_F(Protect, PassesResultsOn) {
  EXPECT_EQ(run("select(2, gb._native.protect(function(a, b) return b, a end, 1, 2))"), "2|1");
}

TEST_F(Protect, TellsWhyAPointFailed) {
  EXPECT_THAT(run(protect("error('odd')")), ::testing::StartsWith("error|test:1: odd|stack traceback:"));
  EXPECT_THAT(run(protect("gb.fill()")), ::testing::StartsWith("out_of_memory|test:1: cpu:0 is full|"));
  EXPECT_THAT(run(protect("gb.skip('no GPU')")), ::testing::StartsWith("skipped|no GPU|"));
  EXPECT_THAT(run(protect("gb._native.fail('wrong')")), ::testing::StartsWith("error|test:1: wrong|"));
}

TEST_F(Protect, AnInterruptIsItsOwnStatusWhateverTheScriptCaught) {
  EXPECT_THAT(run(protect("pcall(gb.stop) error('covered up')")), ::testing::StartsWith("interrupted|interrupted|"));
  EXPECT_THROW(script_.run("gb._native.check_interrupt()"), Interrupted);
}

TEST_F(Protect, ATimeoutIsItsOwnStatusAndEndsWithThePoint) {
  EXPECT_THAT(run(protect("pcall(gb.end_time) error('covered up')")),
              ::testing::StartsWith("timeout|not done after 1 min (--timeout)|"));
  EXPECT_EQ(run("select(2, gb._native.protect(function() gb._native.check_interrupt() return 'next' end))"), "next");
  script_.run("gb.end_time()");
  EXPECT_FALSE(timeout_requested()) << "outside a point there is none";
}

TEST_F(Protect, TheUsersInterruptGoesBeforeATimeout) {
  EXPECT_THAT(run(protect("pcall(gb.end_time) gb.stop()")), ::testing::StartsWith("interrupted|"));
}

std::string ask(const std::string& body) {
  return "gb._native.uninterrupted(gb._native.ask, function() " + body + " end)";
}

TEST_F(Protect, WhatTheProgramAsksRunsInSpiteOfARequestToStop) {
  script_.run("pcall(gb.stop)");
  EXPECT_TRUE(interrupt_requested());
  EXPECT_EQ(run("select(2, " + ask("gb._native.check_interrupt() return 'asked'") + ")"), "asked");
  EXPECT_THAT(run("select(2, " + ask("error('odd')") + ")"), ::testing::StartsWith("test:1: odd"));
  EXPECT_EQ(run("select(2, " + ask("gb.end_time()") + ")"), "not done 5 s after the request to stop");
  EXPECT_TRUE(interrupt_requested()) << "it is back afterwards";
  EXPECT_THROW(script_.run("gb._native.check_interrupt()"), Interrupted);
}

TEST_F(Protect, WithoutARequestWhatIsAskedHasTheTimeOfAPoint) {
  EXPECT_EQ(run("select(2, " + ask("gb.end_time()") + ")"), "not done after 1 min (--timeout)");
  EXPECT_EQ(run("select(2, " + ask("gb.stop()") + ")"), "interrupted");
}

TEST_F(Protect, ContentionIsMeasuredDuringACall) {
  script_.run("during, protect = gb._native.contention.during, gb._native.protect");
  EXPECT_EQ(run("select(2, during(function(a, b) return b, a end, 1, 2))"), "2|1");
  EXPECT_EQ(script_.run("return type(during(function() end).cpu_s)"), "number");
  EXPECT_THAT(run("select(3, during(protect, function() gb.stop() end))"), ::testing::StartsWith("interrupted|"));
  clear_interrupt();
  EXPECT_EQ(script_.error("during(function() error('odd') end)"), "test:1: odd");
  EXPECT_THAT(script_.error("during()"), ::testing::HasSubstr("during: argument #1: function expected, got no value"));
}

TEST_F(Protect, TakesAFunction) {
  EXPECT_EQ(script_.error("gb._native.protect(3)"),
            "test:1: gb._native.protect: argument #1: function expected, got number");
}

}  // namespace
}  // namespace gpubench::lua
