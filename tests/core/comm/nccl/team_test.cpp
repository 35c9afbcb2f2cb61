#include "core/comm/nccl/team.h"

#include <optional>
#include <thread>

#include "tests/core/comm/nccl/gpus.h"

namespace gpubench::nccl {
namespace {

using StallWatchTest = NcclTest;

TEST_F(StallWatchTest, TimeCountsFromWhatWasDoneLast) {
  make_gpus(1);
  const GpuTensor values(gpu(0), Dtype::f32, std::vector<float>(8));
  const auto work = [&](Stream& stream) { stream.copy(values.view().data, values.view().data, 8); };
  StallWatch stall_watch(gpu(0));
  Stream& stream = gpu(0).stream();
  EXPECT_FALSE(stall_watch.stalled());
  work(stream);
  stall_watch.expect(stream);
  const std::unique_ptr<Stream> other = gpu(0).new_stream();
  work(*other);
  stall_watch.expect(*other);
  const Seconds first = stall_watch.stalled().value();
  EXPECT_GE(stall_watch.stalled().value(), first);
  stream.synchronize();
  EXPECT_FALSE(stall_watch.stalled());  // the newer mark takes its turn
  const Seconds second = stall_watch.stalled().value();
  work(stream);
  stall_watch.expect(stream);
  other->synchronize();
  EXPECT_FALSE(stall_watch.stalled());
  EXPECT_GE(second.count(), 0);
  EXPECT_TRUE(stall_watch.stalled());
  stream.synchronize();
  EXPECT_FALSE(stall_watch.stalled());
  EXPECT_FALSE(stall_watch.stalled());  // nothing is left to be done
}

TEST_F(StallWatchTest, AThreadThatHasSelectedNoGpuUsesTheWatchedOneAlone) {
  make_gpus(2);
  StallWatch stall_watch(gpu(1));
  const GpuTensor values(gpu(1), Dtype::f32, std::vector<float>(8));
  gpu(1).stream().copy(values.view().data, values.view().data, 8);
  stall_watch.expect(gpu(1).stream());
  const auto stalled_in_new_thread = [&] {
    std::optional<Seconds> stalled;
    std::jthread([&] { stalled = stall_watch.stalled(); }).join();
    return stalled;
  };
  cuda_on_cpu::forget_contexts();
  EXPECT_TRUE(stalled_in_new_thread());
  EXPECT_THAT(cuda_on_cpu::contexts(), testing::ElementsAre(1));
  cuda_on_cpu::machine().taken = {0};
  EXPECT_TRUE(stalled_in_new_thread()) << "an error of GPU 0 must not end the watch of GPU 1";
  cuda_on_cpu::machine().taken = {};
  gpu(1).stream().synchronize();
}

}  // namespace
}  // namespace gpubench::nccl
