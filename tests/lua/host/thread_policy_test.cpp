#include "lua/host/thread_policy.h"

#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ThreadPolicy = FolderTest;

constexpr const char* print_policy =
    "print(os.getenv 'GOMP_SPINCOUNT', os.getenv 'OMP_WAIT_POLICY', os.getenv 'GPUBENCH_THREAD_POLICY' ~= nil)";

TEST_F(ThreadPolicy, TheProgramSetsItOnceAndRestarts) {
  const std::string out = run(print_policy).out;
  EXPECT_NE(out, "nil\tnil\tfalse\n");
  EXPECT_NE(out.find("\ttrue\n"), std::string::npos);
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
