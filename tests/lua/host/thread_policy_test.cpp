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

}  // namespace
}  // namespace gpubench
