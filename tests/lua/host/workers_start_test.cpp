// What keeps several processes from starting, as a user sees it.
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "core/group/watch/line_socket.h"
#include "tests/lua/host/workers.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using WorkersStart = Workers;

TEST_F(WorkersStart, OneThatDiesBeforeTheOthersKnowItIsTold) {
  const std::filesystem::path fake = write("mpirun", "#!/bin/sh\nexit 137\n");
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  write("script.lua", "");
  const Ended ended = run_program({"script.lua", "--workers", "2"}, path(),
                                  {"PATH=" + fake.parent_path().string() + ":" + std::getenv("PATH")});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err, "gpubench: run --workers: a process was ended by signal 9 (Killed)\n");
}

TEST_F(WorkersStart, AreNotStartedByOneOfAnotherLauncher) {
  write("script.lua", "");
  const Ended ended =
      run_program({"script.lua", "--workers", "2"}, path(), {"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=1"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err,
            "gpubench: run --workers: a launcher has started this process already, as one of many "
            "(OMPI_COMM_WORLD_SIZE=4); leave --workers out, and give the number of processes to the launcher\n");
}

TEST_F(WorkersStart, WithoutMpirunThePackageIsNamed) {
  write("script.lua", "");
  const Ended ended = run_program({"script.lua", "--workers", "2"}, path(), {"PATH=/nowhere"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err,
            "gpubench: run --workers: there is no mpirun on the PATH (/nowhere); it starts the processes, and Debian's "
            "package openmpi-bin has it: apt-get install openmpi-bin\n");
}

TEST_F(WorkersStart, APortThatCannotBeHadIsNamed) {
  write("script.lua", "");
  const Ended ended = run_program({"script.lua", "--workers", "2"}, path(), {"GPUBENCH_PORT=0x"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("GPUBENCH_PORT is '0x'; a port is a number from 1 to 65535"));
}

TEST_F(WorkersStart, APortThatIsTakenIsNamed) {
  const LineListener taken(0);
  write("script.lua", "");
  const Ended ended =
      run_program({"script.lua", "--workers", "2"}, path(), {fmt::format("GPUBENCH_PORT={}", taken.port())});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("cannot be had: Address already in use; GPUBENCH_PORT names another"));
}

TEST_F(WorkersStart, DifferentArgumentsAreRefused) {
  write("script.lua", "");
  const std::string command = fmt::format(
      "cd '{}' && mpirun --allow-run-as-root --oversubscribe --bind-to none -q -n 1 '{}' script.lua --seed 1 : "
      "-n 1 '{}' script.lua --seed 2 > out.txt 2> err.txt",
      path(), GPUBENCH_PROGRAM, GPUBENCH_PROGRAM);
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_THAT(read("err.txt"),
              AllOf(HasSubstr("the processes of a run need the same scripts or arguments: process 0 ("),
                    HasSubstr("has 'script.lua --seed 1'"), HasSubstr("has 'script.lua --seed 2'")));
}

}  // namespace
}  // namespace gpubench
