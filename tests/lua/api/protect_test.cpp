// lua/api/protect.cpp: what the Lua library learns of a failing point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "lua/api/modules.h"
#include "tests/lua/bind/script.h"

namespace gpubench::lua {
namespace {

class Protect : public ::testing::Test {
 protected:
  Protect() {
    open_modules(script_.state());
    const Module gb = Module::root(script_.state());
    gb.function<[] { throw OutOfMemory("cpu:0 is full"); }>("fill").function<[] {
      request_interrupt();
      check_interrupt();
    }>("stop");
  }
  ~Protect() override { clear_interrupt(); }
  std::string run(const std::string& call) { return script_.run("return table.concat({" + call + "}, '|')"); }

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

TEST_F(Protect, TakesAFunction) {
  EXPECT_EQ(script_.error("gb._native.protect(3)"),
            "test:1: gb._native.protect: argument #1: function expected, got number");
}

}  // namespace
}  // namespace gpubench::lua
