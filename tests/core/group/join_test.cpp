#include "core/group/join.h"

#include <gtest/gtest.h>
#include <map>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

std::optional<ProcessLaunch> launch_in(const std::map<std::string, const char*>& environment) {
  return find_launch([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second;
  });
}

TEST(ProcessLaunch, IsFoundInWhatEachLauncherLeaves) {
  const auto open_mpi = launch_in({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->rank, 3);
  EXPECT_EQ(open_mpi->size, 4);
  EXPECT_EQ(open_mpi->by, "OMPI_COMM_WORLD_SIZE=4");
  EXPECT_TRUE(launch_in({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}}));
  EXPECT_TRUE(launch_in({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_ID", "0"}}));
}

TEST(ProcessLaunch, OneOfOneIsAGroupUnderMpirunAlone) {
  EXPECT_TRUE(launch_in({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}));
  EXPECT_FALSE(launch_in({{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}}));
}

TEST(ProcessLaunch, ABatchScriptAndAPlainShellAreNone) {
  EXPECT_FALSE(launch_in({}));
  EXPECT_FALSE(launch_in({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}));
}

TEST(ProcessLaunch, NumbersThatAreNoneAreNamed) {
  EXPECT_ERROR("the launcher's environment has PMI_SIZE='many', which is no number of processes",
               launch_in({{"PMI_SIZE", "many"}, {"PMI_RANK", "0"}}));
}

}  // namespace
}  // namespace gpubench
