#include "core/comm/nccl/stall_watch.h"

#include "tests/core/comm/nccl/gpus.h"

namespace gpubench::nccl {
namespace {

using ProgressTest = NcclTest;

TEST_F(ProgressTest, TimeCountsFromWhatWasDoneLast) {
  make_gpus(1);
  const GpuTensor values(gpu(0), Dtype::f32, std::vector<float>(8));
  const auto work = [&](Stream& stream) { stream.copy(values.view().data, values.view().data, 8); };
  Progress progress(gpu(0));
  Stream& stream = gpu(0).stream();
  EXPECT_FALSE(progress.stalled());
  work(stream);
  progress.expect(stream);
  const std::unique_ptr<Stream> other = gpu(0).new_stream();
  work(*other);
  progress.expect(*other);
  const Seconds first = progress.stalled().value();
  EXPECT_GE(progress.stalled().value(), first);
  stream.synchronize();
  EXPECT_FALSE(progress.stalled());  // the newer mark takes its turn
  const Seconds second = progress.stalled().value();
  work(stream);
  progress.expect(stream);
  other->synchronize();
  EXPECT_FALSE(progress.stalled());
  EXPECT_GE(second.count(), 0);
  EXPECT_TRUE(progress.stalled());
  stream.synchronize();
  EXPECT_FALSE(progress.stalled());
  EXPECT_FALSE(progress.stalled());  // nothing is left to be done
}

}  // namespace
}  // namespace gpubench::nccl
