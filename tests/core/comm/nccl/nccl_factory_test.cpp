// Processes that join: what they tell each other, and what is refused before NCCL would.
#include <cstdlib>
#include <mutex>
#include <thread>

#include "core/backend/cpu/cpu_backend.h"
#include "core/comm/nccl/member.h"
#include "core/comm/nccl/nccl_functions.h"
#include "core/group/watched_group.h"
#include "tests/core/comm/nccl/gpus.h"
#include "tests/core/group/thread_group.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using nccl::check_together;
using nccl::Member;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

class NcclCommunicators : public NcclTest {};

TEST_F(NcclCommunicators, RanksCountThroughAllProcesses) {
  make_gpus(3);
  Threads threads(2);
  std::vector<float> sums;
  std::mutex mutex;
  const auto process = [&](int number, std::vector<Device*> devices) {
    ThreadGroup group(threads, number);
    const auto ranks = make_nccl_communicators(devices, &group, patience);
    ASSERT_EQ(ranks.size(), devices.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      EXPECT_EQ(ranks[i]->rank(), number == 0 ? static_cast<int>(i) : 2);
      EXPECT_EQ(ranks[i]->size(), 3);
    }
    std::vector<GpuTensor> values;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      values.emplace_back(*devices[i], Dtype::f32, std::vector<float>{static_cast<float>(ranks[i]->rank() + 1)});
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      ranks[i]->run({.tensors = {values[i].view()}}, devices[i]->stream());
    }
    for (const GpuTensor& value : values) {
      const float sum = value.get<float>()[0];
      const std::lock_guard lock(mutex);
      sums.push_back(sum);
    }
    group.barrier();
  };
  {
    const std::jthread first(process, 0, std::vector<Device*>{&gpu(0), &gpu(1)});
    const std::jthread second(process, 1, std::vector<Device*>{&gpu(2)});
  }
  EXPECT_EQ(sums.size(), 3U);
  EXPECT_THAT(sums, Each(6));
}

TEST_F(NcclCommunicators, AProcessThatTheGroupHasLostEndsTheOthers) {
  make_gpus(2);
  Threads threads(2);
  std::barrier<> asked(2);
  const std::jthread other([&] {
    ThreadGroup group(threads, 1);
    const std::vector<Device*> mine{&gpu(1)};
    const auto ranks = make_nccl_communicators(mine, &group, patience);
    asked.arrive_and_wait();
    ranks.front()->abort("for the test's end");
  });
  ThreadGroup group(threads, 0);
  const std::vector<Device*> mine{&gpu(0)};
  const auto ranks = make_nccl_communicators(mine, &group, patience);
  const GpuTensor sum(gpu(0), Dtype::f32, std::vector<float>{1});
  ranks.front()->run({.tensors = {sum.view()}}, gpu(0).stream());
  group.fail("process 1 (node, pid 4711) was lost: its process has ended; its last step was 7", failed_exit_status);
  gpu(0).stream().synchronize();
  EXPECT_ERROR_OF(PeerLost, "process 1 (node, pid 4711) was lost: its process has ended; its last step was 7",
                  ranks.front()->check());
  asked.arrive_and_wait();
}

TEST_F(NcclCommunicators, AProcessThatTellsButDoesNotJoinEndsTheOthers) {
  make_gpus(2);
  Threads threads(2);
  ThreadGroup group(threads, 0);
  const std::jthread other([&] {
    ThreadGroup(threads, 1)
        .all_gather(Member{.name = "worker-1",
                           .host = "elsewhere",
                           .version = nccl::version_text(NCCL_VERSION_CODE),
                           .gpus = {{"gpu:0", "00000000:01:00.0"}},
                           .unique_id = {},
                           .failure = {}}
                        .as_text());
  });
  const std::vector<Device*> mine{&gpu(0)};
  EXPECT_ERROR_OF(PeerLost,
                  "rank 0 (gpu:0) waited 0.2 s in "
                  "ncclCommInitRankConfig: another rank does not take part",
                  make_nccl_communicators(mine, &group, Seconds(0.2)));
  EXPECT_THAT(group.lost(), HasSubstr("waited 0.2 s"));
}

/// While it lives, a variable of the environment is what it says.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~EnvironmentVariable() { ::unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
};

TEST_F(NcclCommunicators, OneGpuInTwoProcessesIsRefused) {
  make_gpus(1);
  Threads threads(2);
  ThreadGroup group(threads, 0);
  const std::jthread other([&] {
    ThreadGroup(threads, 1)
        .all_gather(Member{.name = "worker-1",
                           .host = machine_id(),
                           .version = nccl::version_text(NCCL_VERSION_CODE),
                           .gpus = {{"gpu:3", gpu(0).bus_id()}},
                           .unique_id = {},
                           .failure = {}}
                        .as_text());
  });
  EXPECT_ERROR(
      "nccl: gpu:0 of worker-0 and gpu:3 of worker-1 are the same GPU (00000000:01:00.0), "
      "and NCCL exchanges between different ones only: give each "
      "process its own with CUDA_VISIBLE_DEVICES",
      make_nccl_communicators(devices(), &group, patience));
}

TEST_F(NcclCommunicators, SharesOfOneGpuAreRefused) {
  cuda_on_cpu::machine().gpus = 2;
  backend_ = std::make_unique<CudaBackend>(BackendConfig{.devices = {{{.physical = 1}, {.physical = 1}}}});
  EXPECT_ERROR(
      "nccl: gpu:0 and gpu:1 are shares of one GPU (00000000:02:00.0), and NCCL exchanges "
      "between different ones only: give each replica a GPU of its own, or use "
      "cross_device = \"local\"",
      make_nccl_communicators(devices(), nullptr, patience));
}

TEST_F(NcclCommunicators, DevicesThatAreNoGpusAreRefused) {
  const std::vector<CpuDeviceOptions> halves(1, {.memory = {}, .threads = 1});
  const CpuBackend cpus(halves);
  const std::vector<Device*> one{cpus.devices()[0].get()};
  EXPECT_ERROR("nccl: it exchanges between GPUs, and cpu:0 is none: use cross_device = \"local\"",
               make_nccl_communicators(one, nullptr, patience));
  EXPECT_ERROR("nccl: a process without a GPU", make_nccl_communicators({}, nullptr, patience));
}

TEST_F(NcclCommunicators, AFailureOfNcclIsToldToAllProcesses) {
  make_gpus(1);
  cuda_on_cpu::nccl().broken = ncclSystemError;
  EXPECT_ERROR(AllOf(HasSubstr("ncclGetUniqueId"), HasSubstr("unhandled system error")),
               make_nccl_communicators(devices(), nullptr, patience));
}

Member member(const std::string& name, const std::string& version, const std::string& failure = {}) {
  return {.name = name, .host = name, .version = version, .gpus = {}, .unique_id = {}, .failure = failure};
}

TEST(NcclMembers, DifferentVersionsAreRefusedWithBothNamed) {
  const std::vector<Member> members{member("worker-0", "2.28.9"), member("worker-1", "2.28.9"),
                                    member("worker-2", "2.29.7")};
  EXPECT_ERROR(
      "nccl: worker-0 has NCCL 2.28.9 and worker-2 has NCCL 2.29.7, and they do not "
      "understand each other: install one version everywhere",
      check_together(members));
}

TEST(NcclMembers, WhatFailsInOneProcessIsSaidInAll) {
  const std::vector<Member> members{member("worker-0", "2.28.9"), member("worker-1", "", "libnccl.so.2 is missing")};
  EXPECT_ERROR("nccl: worker-1 cannot take part: libnccl.so.2 is missing", check_together(members));
}

TEST(NcclMembers, OneGpuMayBeOfTheSameNumberOnTwoMachines) {
  std::vector<Member> members{member("a", "2.28.9"), member("b", "2.28.9")};
  for (Member& each : members) each.gpus.push_back({"gpu:0", "00000000:01:00.0"});
  EXPECT_NO_THROW(check_together(members));
}

TEST(NcclMembers, TheyComeBackFromTheirTexts) {
  Member one = member("worker \"0\"", "2.28.9", "why");
  one.gpus = {{"gpu:0", "bus 1"}, {"gpu:1", "bus 2"}};
  one.unique_id = std::string("\0\x01\xff", 3);
  const Member two = Member::from_text(one.as_text());
  EXPECT_EQ(two.name, one.name);
  EXPECT_EQ(two.unique_id, one.unique_id);
  EXPECT_EQ(two.gpus[1].bus_id, "bus 2");
  EXPECT_EQ(two.failure, "why");
  EXPECT_ERROR(::testing::StartsWith(
                   "a process sent 'GET / HTTP/1.1', which is not a message of this gpubench: a text expected"),
               Member::from_text("GET / HTTP/1.1"));
}

TEST(NcclPatience, IsWhatTheEnvironmentSays) {
  ::unsetenv("GPUBENCH_NCCL_TIMEOUT");
  EXPECT_EQ(nccl_patience(), Seconds(60));
  const EnvironmentVariable timeout("GPUBENCH_NCCL_TIMEOUT", "2.5");
  EXPECT_EQ(nccl_patience(), Seconds(2.5));
  for (const char* const wrong : {"soon", "-1", "0", "5s"}) {
    const EnvironmentVariable no_time("GPUBENCH_NCCL_TIMEOUT", wrong);
    EXPECT_ERROR("GPUBENCH_NCCL_TIMEOUT=" + std::string(wrong) + " is no number of seconds above 0", nccl_patience());
  }
}

}  // namespace
}  // namespace gpubench
