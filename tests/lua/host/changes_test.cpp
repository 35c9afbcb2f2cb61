#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

using ChangesCommand = FolderTest;

constexpr const char* found = "{\"id\": \"a\", \"changes\": [20], \"alarms\": [25], \"outliers\": []}\n";

std::string step() {
  std::string values;
  for (int i = 0; i < 40; ++i) values += (i == 0 ? "" : " ") + std::to_string(i < 20 ? 1 : 2);
  return "id,values\na," + values + "\n";
}

TEST_F(ChangesCommand, PrintsALineOfJsonPerSeries) {
  write("step.csv", step());
  const Ended ended = run_program({"changes", "step.csv"}, path());
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, found);
}

TEST_F(ChangesCommand, ReadsTheStandardInput) {
  write("step.csv", step());
  const std::string command = "cd " + path() + " && \"" GPUBENCH_PROGRAM "\" changes - < step.csv > out";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read("out"), found);
}

TEST_F(ChangesCommand, BadInputEndsWithStatus2AndPrintsNoResult) {
  write("step.csv", step() + "b,\n");
  const Ended empty = run_program({"changes", "step.csv"}, path());
  EXPECT_EQ(empty.status, 2);
  EXPECT_EQ(empty.out, "");
  EXPECT_EQ(empty.err, "changes: step.csv: line 3: 'values' is empty\n");
  const Ended missing = run_program({"changes", "none.csv"}, path());
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.err, "changes: none.csv: No such file or directory\n");
  const Ended folder = run_program({"changes", "."}, path());
  EXPECT_EQ(folder.status, 2);
  EXPECT_THAT(folder.err, HasSubstr("changes: .: "));
  EXPECT_EQ(run_program({"changes"}, path()).status, 2);
}

}  // namespace
}  // namespace gpubench
