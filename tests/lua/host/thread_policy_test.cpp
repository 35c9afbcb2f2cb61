#include "lua/host/thread_policy.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

/// The suite runs with OpenMP's threads asleep; here the program must find no setting but a test's own.
class ThreadPolicy : public FolderTest {
 protected:
  ThreadPolicy() {
    if (const char* policy = std::getenv(variable)) suite_policy_ = policy;
    unsetenv(variable);
  }
  ~ThreadPolicy() override {
    if (suite_policy_) setenv(variable, suite_policy_->c_str(), 1);
  }

 private:
  static constexpr const char* variable = "OMP_WAIT_POLICY";
  std::optional<std::string> suite_policy_;
};

constexpr const char* print_policy =
    "print(os.getenv 'GOMP_SPINCOUNT', os.getenv 'OMP_WAIT_POLICY', os.getenv 'GPUBENCH_THREAD_POLICY' ~= nil)";

TEST_F(ThreadPolicy, TheProgramSetsItOnceAndRestarts) {
  const std::string out = run(print_policy).out;
  EXPECT_NE(out, "nil\tnil\tfalse\n");
  EXPECT_NE(out.find("\ttrue\n"), std::string::npos);
}

// Few turns on a processor that relaxes for long, many on one that hardly does: 2 to 100 ns a turn.
TEST_F(ThreadPolicy, TheTurnsOfASpinAreOneTimeOnAllProcessors) {
  const long turns = std::strtol(run("print(os.getenv 'GOMP_SPINCOUNT')").out.c_str(), nullptr, 10);
  EXPECT_GE(turns, 500);
  EXPECT_LE(turns, 11000);
  EXPECT_EQ(turns % 500, 0);
}

TEST_F(ThreadPolicy, TheProgramKeepsItsName) {
  EXPECT_EQ(run("print(io.open('/proc/self/comm'):read())").out, "gpubench\n");
}

TEST_F(ThreadPolicy, TheUsersSettingStays) {
  write("script.lua", print_policy);
  EXPECT_EQ(run_program({"script.lua"}, path(), {"GOMP_SPINCOUNT=7"}).out, "7\tnil\tfalse\n");
  EXPECT_EQ(run_program({"script.lua"}, path(), {"OMP_WAIT_POLICY=active"}).out, "nil\tactive\tfalse\n");
}

TEST_F(ThreadPolicy, TheMarkerStopsALoop) {
  write("script.lua", print_policy);
  EXPECT_EQ(run_program({"script.lua"}, path(), {"GPUBENCH_THREAD_POLICY=any"}).out, "nil\tnil\ttrue\n");
}

/// A product of which every part is computed by a thread of its own.
constexpr const char* print_product = R"(local gb = require "gpubench"
  local n = 512
  local sum = gb.ones({ n, n }):matmul(gb.ones { n, n }):sum():item()
  print(sum == n ^ 3, gb.config.cpu_threads()))";

TEST_F(ThreadPolicy, KernelsHaveTheThreadsThatOpenMpGives) {
  write("script.lua", print_product);
  EXPECT_EQ(run_program({"script.lua"}, path(), {"OMP_THREAD_LIMIT=1"}).out, "true\t1\n");
  EXPECT_EQ(run_program({"script.lua", "--threads", "2"}, path(), {"OMP_DYNAMIC=true"}).out, "true\t2\n");
  const Ended refused = run_program({"script.lua", "--threads", "2"}, path(), {"OMP_THREAD_LIMIT=1"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("cpu:0: 2 threads; OMP_THREAD_LIMIT allows 1"), std::string::npos) << refused.err;
  const Ended short_of_threads = run_program({"script.lua", "--threads", "2"}, path(), {"OMP_MAX_ACTIVE_LEVELS=0"});
  EXPECT_EQ(short_of_threads.status, 2);
  EXPECT_NE(short_of_threads.err.find("OpenMP gives 1 of 2 threads"), std::string::npos) << short_of_threads.err;
  EXPECT_EQ(run_program({"script.lua", "--threads", "1"}, path(), {"OMP_MAX_ACTIVE_LEVELS=0"}).out, "true\t1\n");
}

}  // namespace
}  // namespace gpubench
