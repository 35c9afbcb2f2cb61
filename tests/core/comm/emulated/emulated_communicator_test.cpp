#include "core/comm/emulated/emulated_communicator.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "core/backend/emulated/emulated_backend.h"
#include "core/backend/emulated/emulated_device.h"
#include "core/comm/collective.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

class EmulatedCommunicatorTest : public testing::Test {
 protected:
  EmulatedCommunicatorTest() {
    for (const char* name : {"emulated:h200:0", "emulated:h200:1"})
      devices_.push_back(backend_.named(parse_device_id(name)));
    communicators_ = make_emulated_communicators(devices_);
  }
  /// Runs `work` for both ranks, each in a thread of its own.
  void on_all(const std::function<void(std::size_t)>& work) {
    std::jthread other([&] { work(1); });
    work(0);
  }

  EmulatedBackend backend_{BackendConfig{}};
  std::vector<Device*> devices_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  TensorType type_{{1 << 20}, Dtype::f32};
};

TEST_F(EmulatedCommunicatorTest, an_all_reduce_ends_at_the_same_time_on_all_ranks) {
  std::array<Clock::time_point, 2> ends;
  on_all([&](std::size_t rank) {
    const Buffer memory = devices_[rank]->memory().allocate(type_.bytes(), "summed");
    Collective collective;
    collective.tensors.push_back({&type_, memory.data()});
    EmulatedStream& stream = emulated_stream(devices_[rank]->stream());
    if (rank == 1) stream.wait_until(Clock::now() + std::chrono::seconds(1));
    communicators_[rank]->run(collective, stream);
    ends[rank] = stream.end();
  });
  EXPECT_EQ(ends[0], ends[1]);
  const CommunicationTimes late = communicators_[1]->times(), waiting = communicators_[0]->times();
  const Profile& profile = known_profile("h200").profile;
  const double seconds =
      profile.kernel_s + 2 * (profile.latency_s + 0.5 * static_cast<double>(type_.bytes()) / profile.peer_bytes_per_s);
  EXPECT_NEAR(late.exchange.count(), seconds, 1e-8);
  EXPECT_EQ(late.peer_wait.count(), 0);
  EXPECT_GT(waiting.peer_wait.count(), 0.9);
  EXPECT_EQ(waiting.last_arrivals, (std::vector<std::int64_t>{0, 1}));
}

TEST_F(EmulatedCommunicatorTest, kernels_stand_still_only_for_what_is_left_of_a_collective_beside_them) {
  on_all([&](std::size_t rank) {
    const Buffer memory = devices_[rank]->memory().allocate(type_.bytes(), "summed");
    Collective collective;
    collective.tensors.push_back({&type_, memory.data()});
    EmulatedStream& stream = emulated_stream(devices_[rank]->stream());
    const auto work = communicators_[rank]->beside(collective);
    work->begin(stream);
    stream.wait_until(Clock::now() + std::chrono::seconds(1));  // the kernels go on
    const Clock::time_point before = stream.end();
    work->end(stream);
    EXPECT_EQ(stream.end(), before);
  });
  EXPECT_GT(communicators_[0]->times().exchange.count(), 0);
  EXPECT_EQ(communicators_[0]->times().exposed_exchange.count(), 0);
}

TEST_F(EmulatedCommunicatorTest, numbers_go_from_host_to_host) {
  on_all([&](std::size_t rank) {
    const auto all = communicators_[rank]->gather_on_hosts({static_cast<std::int64_t>(rank), 7});
    EXPECT_EQ(all, (std::vector<std::vector<std::int64_t>>{{0, 7}, {1, 7}}));
  });
}

TEST_F(EmulatedCommunicatorTest, a_rank_that_gives_up_ends_the_waits_of_others) {
  on_all([&](std::size_t rank) {
    if (rank == 1) return communicators_[rank]->abort("rank 1 failed");
    EXPECT_ERROR_OF(PeerLost, "rank 1 failed", communicators_[0]->barrier());
  });
}

TEST_F(EmulatedCommunicatorTest, different_requests_are_an_error_on_both_sides) {
  on_all([&](std::size_t rank) {
    const Buffer memory = devices_[rank]->memory().allocate(type_.bytes(), "summed");
    const TensorType other{{2}, Dtype::f32};
    Collective collective;
    collective.tensors.push_back({rank == 0 ? &type_ : &other, memory.data()});
    EXPECT_ERROR(HasSubstr("requests another collective than rank"),
                 communicators_[rank]->run(collective, devices_[rank]->stream()));
  });
}

}  // namespace
}  // namespace gpubench
