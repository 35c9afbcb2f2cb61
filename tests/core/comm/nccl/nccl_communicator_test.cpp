// Collectives beside kernels, recorded and launched again, and the ends of waits for ranks that do not come.
#include <cstdlib>
#include <thread>

#include "core/comm/nccl/nccl_functions.h"
#include "core/device/work_order.h"
#include "core/trace/timeline.h"
#include "tests/core/comm/nccl/gpus.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A tensor of each rank, with its number in every element.
std::vector<GpuTensor> numbered(const std::vector<Device*>& devices, std::size_t count = 64) {
  std::vector<GpuTensor> all;
  for (std::size_t r = 0; r < devices.size(); ++r) {
    all.emplace_back(*devices[r], Dtype::f32, std::vector<float>(count, static_cast<float>(r + 1)));
  }
  return all;
}

void copy(Stream& stream, const GpuTensor& to, const GpuTensor& from) {
  stream.copy(to.view().data, from.view().data, from.view().type->bytes());
}

using NcclCommunicator = NcclTest;

TEST_F(NcclCommunicator, ItsNameHasTheVersionOfTheLibraryAndOfAnotherHeader) {
  make_ranks(1);
  EXPECT_EQ(rank(0).name(), "nccl " + nccl::version_text(NCCL_VERSION_CODE));
  ranks_.clear();
  cuda_on_cpu::nccl().version = 22300;
  make_ranks(1);
  EXPECT_EQ(rank(0).name(), "nccl 2.23.0 (built for " + nccl::version_text(NCCL_VERSION_CODE) + ")");
  EXPECT_EQ(nccl::version_text(2708), "2.7.8");
}

TEST_F(NcclCommunicator, AlgorithmsAreThoseThatTheUserSet) {
  make_ranks(1);
  ::unsetenv("NCCL_ALGO");
  ::unsetenv("NCCL_PROTO");
  EXPECT_EQ(rank(0).algorithm({}), "");
  ::setenv("NCCL_ALGO", "Ring", 1);
  EXPECT_EQ(rank(0).algorithm({}), "Ring");
  ::setenv("NCCL_PROTO", "LL128", 1);
  EXPECT_EQ(rank(0).algorithm({}), "Ring LL128");
  ::unsetenv("NCCL_ALGO");
  EXPECT_EQ(rank(0).algorithm({}), "LL128");
  ::unsetenv("NCCL_PROTO");
}

TEST_F(NcclCommunicator, CollectivesBesideKernelsSeeWhatIsBeforeThemAndAreSeenBehindTheirEnd) {
  make_ranks(2);
  const std::vector<GpuTensor> values = numbered(devices()), sums = numbered(devices()), others = numbered(devices());
  for (std::size_t r = 0; r < 2; ++r) {
    Stream& kernels = gpu(r).stream();
    const auto side = rank(r).beside({.tensors = {sums[r].view()}});
    for (int step = 0; step < 3; ++step) {
      copy(kernels, sums[r], values[r]);  // late, as all that is queued: the sum has to wait for it
      side->begin(kernels);
      copy(kernels, others[r], values[r]);
      side->end(kernels);
      copy(kernels, others[r], sums[r]);
    }
  }
  for (std::size_t r = 0; r < 2; ++r) EXPECT_THAT(others[r].get<float>(), Each(3));
  EXPECT_EQ(rank(1).times().collectives, 3);
  EXPECT_EQ(rank(1).times().bytes, 3 * 256);
}

TEST_F(NcclCommunicator, KernelsDoNotWaitForACollectiveBesideThemBeforeItsEnd) {
  make_ranks(2);
  const std::vector<GpuTensor> sums = numbered(devices()), others = numbered(devices());
  const auto side = rank(0).beside({.tensors = {sums[0].view()}});
  Stream& kernels = gpu(0).stream();
  side->begin(kernels);
  copy(kernels, others[0], others[0]);
  kernels.synchronize();  // rank 1 has not come yet
  side->end(kernels);
  const auto late = rank(1).beside({.tensors = {sums[1].view()}});
  late->begin(gpu(1).stream());
  late->end(gpu(1).stream());
  EXPECT_THAT(sums[0].get<float>(), Each(3));
}

TEST_F(NcclCommunicator, RecordingsAreLaunchedAgain) {
  make_ranks(2);
  const std::vector<GpuTensor> values = numbered(devices()), sums = numbered(devices());
  std::vector<std::unique_ptr<SideWork>> sides;
  std::vector<std::unique_ptr<Recording>> recordings;
  for (std::size_t r = 0; r < 2; ++r) {
    sides.push_back(rank(r).beside({.tensors = {sums[r].view()}}));
    const auto queue = [&](Stream& stream) {
      copy(stream, sums[r], values[r]);
      sides[r]->begin(stream);
      sides[r]->end(stream);
      copy(stream, values[r], sums[r]);
      rank(r).run({.tensors = {values[r].view()}}, stream);
    };
    recordings.push_back(gpu(r).record(std::array{RecordedWork{{}, queue}}));
  }
  EXPECT_EQ(rank(0).times().collectives, 0);
  const int before = cuda_on_cpu::exchanges();
  for (int step = 0; step < 3; ++step) {
    for (std::size_t r = 0; r < 2; ++r) {
      recordings[r]->launch(gpu(r).stream());
      rank(r).launched(gpu(r).stream(), 2, 512);
    }
  }
  for (std::size_t r = 0; r < 2; ++r) EXPECT_THAT(values[r].get<float>(), Each(6 * 4 * 4 * 1.0F));
  EXPECT_EQ(cuda_on_cpu::exchanges() - before, 6);
  EXPECT_EQ(rank(0).times().collectives, 6);
  EXPECT_EQ(rank(0).times().bytes, 3 * 512);
}

TEST_F(NcclCommunicator, RanksOfTheirOwnThreadsMeetAtBarriers) {
  make_ranks(3);
  std::atomic<int> came{0};
  std::vector<int> seen(3);
  {
    std::vector<std::jthread> threads;
    for (std::size_t r = 0; r < 3; ++r) {
      threads.emplace_back([&, r] {
        for (int round = 0; round < 20; ++round) {
          ++came;
          rank(r).barrier();
          if (came < 3 * (round + 1)) return;
          rank(r).barrier();
        }
        seen[r] = came;
      });
    }
  }
  EXPECT_THAT(seen, ElementsAre(60, 60, 60));
  EXPECT_EQ(rank(0).times().collectives, 0);  // a barrier is no exchange
}

TEST_F(NcclCommunicator, AbortingEndsTheWaitsOfAllRanks) {
  make_ranks(2);
  const std::vector<GpuTensor> sums = numbered(devices());
  rank(0).run({.tensors = {sums[0].view()}}, gpu(0).stream());
  const std::jthread failing([&] { rank(1).abort("rank 1 failed in step 7: out of memory"); });
  gpu(0).stream().synchronize();
  EXPECT_ERROR_OF(PeerLost, "rank 1 failed in step 7: out of memory", rank(0).check());
  rank(1).abort("something else");
  const auto side = rank(1).beside({.tensors = {sums[1].view()}});
  EXPECT_ERROR_OF(PeerLost, "rank 1 failed in step 7: out of memory", side->begin(gpu(1).stream()));
  EXPECT_ERROR_OF(PeerLost, HasSubstr("in step 7"), side->end(gpu(1).stream()));
  EXPECT_ERROR_OF(PeerLost, HasSubstr("in step 7"), rank(0).barrier());
  EXPECT_ERROR_OF(PeerLost, HasSubstr("in step 7"), rank(0).run({.tensors = {sums[0].view()}}, gpu(0).stream()));
}

TEST_F(NcclCommunicator, ARankThatDoesNotComeEndsTheOthersInTime) {
  make_ranks(2, Seconds(0.2));
  const std::vector<GpuTensor> sums = numbered(devices());
  rank(0).run({.tensors = {sums[0].view()}}, gpu(0).stream());
  gpu(0).stream().synchronize();
  EXPECT_ERROR_OF(PeerLost,
                  "rank 0 (gpu:0): nothing was done for 0.2 s behind a collective: another rank does "
                  "not take part",
                  rank(0).check());
}

TEST_F(NcclCommunicator, ALaunchedRecordingHasToBeDoneInTimeToo) {
  make_ranks(2, Seconds(0.2));
  const std::vector<GpuTensor> sums = numbered(devices());
  const auto sum = [&](Stream& stream) { rank(0).run({.tensors = {sums[0].view()}}, stream); };
  const auto recording = gpu(0).record(std::array{RecordedWork{{}, sum}});
  recording->launch(gpu(0).stream());
  rank(0).launched(gpu(0).stream(), 1, 256);
  gpu(0).stream().synchronize();
  EXPECT_ERROR_OF(PeerLost, HasSubstr("nothing was done for 0.2 s"), rank(0).check());
}

TEST_F(NcclCommunicator, ErrorsThatNcclReportsLaterEndAllRanks) {
  make_ranks(2);
  const std::vector<GpuTensor> sums = numbered(devices());
  rank(0).run({.tensors = {sums[0].view()}}, gpu(0).stream());
  cuda_on_cpu::fail_rank(1, ncclRemoteError);
  gpu(0).stream().synchronize();
  EXPECT_ERROR_OF(PeerLost, "rank 1 (gpu:1): NCCL reports: remote process exited or there was a network error",
                  rank(0).check());
}

TEST_F(NcclCommunicator, AGpuThatIsLostInAnExchangeIsNamedToAllRanks) {
  make_ranks(2);
  const std::vector<GpuTensor> sums = numbered(devices());
  rank(0).run({.tensors = {sums[0].view()}}, gpu(0).stream());
  cuda_on_cpu::fail_rank(1, ncclUnhandledCudaError);
  gpu(0).stream().synchronize();
  EXPECT_ERROR_OF(PeerLost, "rank 1 (gpu:1): NCCL reports: unhandled cuda error", rank(0).check());
}

TEST(NcclErrors, AfterAFaultOfTheGpuThisProcessCanUseItNoMore) {
  EXPECT_ERROR_OF(DeviceError, StartsWith("NCCL: all_reduce failed: unhandled cuda error"),
                  nccl::check(ncclUnhandledCudaError, "all_reduce"));
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  cuda_on_cpu::fail_after(0, cudaErrorIllegalAddress, 0);
  EXPECT_ERROR_OF(
      DeviceLost,
      StartsWith("NCCL: all_reduce failed: an illegal memory access was encountered (cudaErrorIllegalAddress)"),
      nccl::check(ncclUnhandledCudaError, "all_reduce"));
  cuda_on_cpu::mend();
}

TEST_F(NcclCommunicator, RanksMayEndWithWorkThatNobodyCarriesOut) {
  make_ranks(2, Seconds(0.1));
  const std::vector<GpuTensor> sums = numbered(devices());
  const int before = cuda_on_cpu::aborts();
  rank(0).run({.tensors = {sums[0].view()}}, gpu(0).stream());
  ranks_.clear();
  EXPECT_GE(cuda_on_cpu::aborts() - before, 1);
  gpu(0).stream().synchronize();
}

TEST_F(NcclCommunicator, RanksEndInOrderBehindTheirWork) {
  make_ranks(2);
  const std::vector<GpuTensor> sums = numbered(devices());
  const int before = cuda_on_cpu::aborts();
  for (std::size_t r = 0; r < 2; ++r) rank(r).run({.tensors = {sums[r].view()}}, gpu(r).stream());
  ranks_.clear();
  EXPECT_EQ(cuda_on_cpu::aborts(), before);
  EXPECT_THAT(sums[1].get<float>(), Each(3));
}

}  // namespace
}  // namespace gpubench
