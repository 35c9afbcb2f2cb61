// Staged ranks without a GPU, so that the thread sanitizer sees them: devices that say that the host does not reach
// their memory, with streams that work at once.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cpu/host_device.h"
#include "core/base/error.h"
#include "core/comm/local/local_communicator.h"
#include "core/comm/staged/staged_communicator.h"
#include "tests/core/comm/local/ranks.h"

namespace gpubench {
namespace {

class StagedDevice final : public Device {
 public:
  const DeviceId& id() const override { return host_.id(); }
  std::string description() const override { return "accelerator"; }
  MemoryPool& memory() override { return host_.memory(); }
  MemoryPool* host_memory() override { return &host_.memory(); }
  Stream& stream() override { return host_.stream(); }
  std::unique_ptr<Stream> new_stream() override { return host_.new_stream(); }
  std::unique_ptr<Event> new_event() override { return host_.new_event(); }
  void bind_to_thread() override {}
  bool shares_host_memory() const override { return false; }

 private:
  HostDevice host_{{DeviceId::Kind::cpu, 7, ""}, {}};
};

/// Ranks of one process with a thread each, in place of those that Ranks makes.
class StagedThreads : public testing::TestWithParam<StagedTensors> {
 protected:
  static constexpr int size = 3;
  StagedThreads() {
    for (int rank = 0; rank < size; ++rank) {
      auto& inner = ranks_.communicators[static_cast<std::size_t>(rank)];
      inner = make_staged_communicator(devices_[static_cast<std::size_t>(rank)], std::move(inner), GetParam());
    }
  }
  std::array<StagedDevice, size> devices_;
  Ranks ranks_{size};
};

TEST_P(StagedThreads, ExchangeBesideAndInLineStepAfterStep) {
  constexpr std::int64_t large = (std::int64_t{5} << 20) / 4, small = 1000;
  const auto failures = ranks_.run([&](int rank) {
    Stream& stream = devices_[static_cast<std::size_t>(rank)].stream();
    Tensors tensors;
    const TensorView a = tensors.add({{large}, Dtype::i32}), b = tensors.add({{small}, Dtype::i32}),
                     c = tensors.add({{7}, Dtype::i32});
    const auto fill = [&](const TensorView& tensor, int value) {
      std::fill_n(tensor.as<std::int32_t>(), tensor.elements(), value);
    };
    const auto one = ranks_[rank].beside({.tensors = {a}}), two = ranks_[rank].beside({.tensors = {b}});
    for (int step = 1; step <= 20; ++step) {
      fill(a, step);
      one->begin(stream);
      fill(b, step + rank);
      two->begin(stream);
      fill(c, step);
      if (step % 3 == 0) ranks_[rank].run({.tensors = {c}}, stream);
      one->end(stream);
      two->end(stream);
      ASSERT_EQ(a.as<std::int32_t>()[large - 1], size * step);
      ASSERT_EQ(b.as<std::int32_t>()[small - 1], size * step + 3);
      ASSERT_EQ(c.as<std::int32_t>()[6], step % 3 == 0 ? size * step : step);
    }
    EXPECT_EQ(ranks_[rank].times().collectives, 46);
  });
  EXPECT_THAT(failures, testing::Each(""));
}

TEST_P(StagedThreads, AbortedFromOutsideEndAllWaits) {
  const auto failures = ranks_.run([&](int rank) {
    if (rank == 2) return ranks_[2].abort("rank 2 has no more ideas");
    Tensors tensors;
    tensors.add({{100'000}, Dtype::f32});
    const auto side = ranks_[rank].beside({.tensors = tensors.views()});
    Stream& stream = devices_[static_cast<std::size_t>(rank)].stream();
    side->begin(stream);
    side->end(stream);
  });
  EXPECT_THAT(failures, testing::ElementsAre("rank 2 has no more ideas", "rank 2 has no more ideas", ""));
}

INSTANTIATE_TEST_SUITE_P(tensors, StagedThreads, testing::Values(StagedTensors::copied, StagedTensors::in_place),
                         [](const auto& tested) {
                           return tested.param == StagedTensors::copied ? "copied" : "in_place";
                         });

}  // namespace
}  // namespace gpubench
