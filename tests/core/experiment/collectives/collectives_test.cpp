#include "core/experiment/collectives/collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cpu/host_device.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/comm/factory.h"
#include "core/experiment/collectives/collective_values.h"
#include "core/results/doubt.h"
#include "tests/support/expect_error.h"
#include "tests/support/failing_threads.h"

namespace gpubench {
namespace {

/// Hands on what it is asked for and then spoils it, or fails.
class Spoiled final : public Communicator {
 public:
  explicit Spoiled(std::unique_ptr<Communicator> honest) : honest_(std::move(honest)) {}
  int rank() const override { return honest_->rank(); }
  int size() const override { return honest_->size(); }
  std::string_view name() const override { return honest_->name(); }
  std::string algorithm(const Collective& collective) const override { return honest_->algorithm(collective); }
  void run(const Collective& collective, Stream& stream) override {
    if (fails_at >= 0 && fails_at-- == 0) throw Error("out of order");
    honest_->run(collective, stream);
    // Decisions and times are int64; what is measured here is not.
    if (spoils && collective.tensors[0].type->dtype == Dtype::f32) collective.tensors.back().as<float>()[1] += 1;
  }
  std::unique_ptr<SideWork> beside(Collective collective) override { return honest_->beside(collective); }
  void barrier() override { honest_->barrier(); }
  void abort(const std::string& reason) noexcept override { honest_->abort(reason); }
  CommunicationTimes times() const override { return honest_->times(); }

  bool spoils = false;
  int fails_at = -1;  ///< the number of a call; none

 private:
  std::unique_ptr<Communicator> honest_;
};

class Collectives : public testing::Test {
 protected:
  explicit Collectives(int count = 3) {
    for (int i = 0; i < count; ++i) {
      devices_.push_back(std::make_unique<HostDevice>(DeviceId{DeviceId::Kind::cpu, static_cast<std::int16_t>(i), ""},
                                                      CpuDeviceOptions{}));
      pointers_.push_back(devices_.back().get());
    }
    for (auto& one : make_communicators(pointers_, CrossDevice::automatic, nullptr)) {
      communicators_.push_back(std::make_unique<Spoiled>(std::move(one)));
      ranks_.push_back({pointers_[communicators_.size() - 1], communicators_.back().get()});
    }
  }
  CollectiveMeasurement measure(CollectiveKind kind, Dtype dtype, std::size_t bytes) {
    return measure_collectives({{{kind, dtype, bytes}}}, ranks_, Seconds(0.01))[0];
  }

  std::vector<std::unique_ptr<HostDevice>> devices_;
  std::vector<Device*> pointers_;
  std::vector<std::unique_ptr<Spoiled>> communicators_;
  std::vector<CollectiveRank> ranks_;
};

constexpr std::array kinds{CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                           CollectiveKind::broadcast};

TEST_F(Collectives, every_kind_and_type_has_exact_results) {
  for (const CollectiveKind kind : kinds) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32, Dtype::i64}) {
      const CollectiveMeasurement one = measure(kind, dtype, 10000);
      EXPECT_EQ(one.wrong, 0) << to_string(kind) << " " << to_string(dtype);
      EXPECT_EQ(one.ranks, 3);
      EXPECT_EQ(one.implementation, "local");
      EXPECT_EQ(one.algorithm, kind == CollectiveKind::all_reduce ? "parts" : "direct");
      EXPECT_GT(one.time.value, 0);
      EXPECT_LE(one.fastest_rank, one.mean_rank);
      EXPECT_LE(one.mean_rank, one.slowest_rank);
      EXPECT_FALSE(one.samples.empty());
    }
  }
  for (const auto& device : devices_) EXPECT_EQ(device->memory().use().in_use, 0U);
}

TEST_F(Collectives, bytes_are_rounded_down_to_whole_elements_on_every_rank) {
  EXPECT_EQ(measure(CollectiveKind::all_reduce, Dtype::f32, 1003).one.bytes, 1000U);
  EXPECT_EQ(measure(CollectiveKind::all_gather, Dtype::f32, 1003).one.bytes, 996U);
  EXPECT_ERROR("measure.collective: 7 bytes are less than one int64 element",
               measure(CollectiveKind::broadcast, Dtype::i64, 7));
  EXPECT_ERROR("measure.collective: 8 bytes are less than one float32 element for each of 3 ranks",
               measure(CollectiveKind::reduce_scatter, Dtype::f32, 8));
}

TEST_F(Collectives, wrong_results_are_counted_and_make_the_row_unreliable) {
  communicators_[1]->spoils = true;
  for (const CollectiveKind kind : kinds) {
    const CollectiveMeasurement one = measure(kind, Dtype::f32, 4000);
    EXPECT_EQ(one.wrong, 1) << to_string(kind);
    EXPECT_EQ(std::get<std::string>(to_record(one).get("quality")), "unreliable: 1 elements of the result are wrong");
    EXPECT_EQ(doubt_in(to_record(one)).kind, DoubtKind::wrong_result);
  }
}

TEST_F(Collectives, a_rank_that_fails_ends_all_with_its_reason) {
  communicators_[2]->fails_at = 5;
  EXPECT_ERROR("out of order", measure(CollectiveKind::all_reduce, Dtype::f32, 4000));
}

TEST_F(Collectives, ranks_start_whole_or_not_at_all) {
  measure(CollectiveKind::all_reduce, Dtype::f32, 4000);
  for (int allowed = 0; allowed < 3; ++allowed) {
    const FailingThreads failing(allowed);
    EXPECT_ERROR(testing::HasSubstr("no more threads can be started"),
                 measure(CollectiveKind::all_reduce, Dtype::f32, 4000));
  }
  EXPECT_EQ(measure(CollectiveKind::all_reduce, Dtype::f32, 4000).wrong, 0) << "none has taken part";
}

TEST_F(Collectives, impossible_requests_are_named) {
  EXPECT_ERROR(
      "measure.collective: no numbers of type uint8 are exchanged (possible: float32, "
      "float16, bfloat16, int64, int32)",
      measure(CollectiveKind::broadcast, Dtype::u8, 400));
  EXPECT_ERROR("measure.collective: there is nothing to measure; give at least one size",
               measure_collectives({}, ranks_, Seconds(1)));
}

TEST_F(Collectives, an_interrupt_ends_all_ranks) {
  request_interrupt();
  EXPECT_THROW(measure(CollectiveKind::all_reduce, Dtype::f32, 4000), Interrupted);
  clear_interrupt();
}

class OneRank : public Collectives {
 protected:
  OneRank() : Collectives(1) {}
};

TEST_F(OneRank, takes_the_same_path_and_has_no_bus) {
  for (const CollectiveKind kind : kinds) {
    const CollectiveMeasurement one = measure(kind, Dtype::f32, 4000);
    EXPECT_EQ(one.wrong, 0);
    EXPECT_TRUE(to_record(one).has("algorithm_bytes_per_s"));
    EXPECT_FALSE(to_record(one).has("bus_bytes_per_s"));
  }
}

TEST(CollectiveMeasurement, bandwidths_follow_from_the_time) {
  const CollectiveMeasurement one{.one = {CollectiveKind::all_reduce, Dtype::f32, 8000},
                                  .ranks = 4,
                                  .implementation = "local",
                                  .algorithm = "parts",
                                  .time = {2e-6, {1e-6, 4e-6}},
                                  .samples = {2e-6},
                                  .fastest_rank = 1e-6,
                                  .mean_rank = 2e-6,
                                  .slowest_rank = 3e-6};
  const Record record = to_record(one);
  EXPECT_EQ(record.get("algorithm_bytes_per_s"), Cell(4e9));
  EXPECT_EQ(record.get("bus_bytes_per_s"), Cell(6e9));
  EXPECT_EQ(record.get("bus_bytes_low_per_s"), Cell(3e9));
  EXPECT_EQ(record.get("bus_bytes_high_per_s"), Cell(12e9));
  EXPECT_EQ(record.get("slowest_rank_time_s"), Cell(3e-6));
  EXPECT_EQ(record.get("wrong"), Cell(std::int64_t{0}));
}

TEST(CollectiveMeasurement, ranks_that_shared_a_processor_make_the_row_unreliable) {
  CollectiveMeasurement one;
  one.time = {1e-6, {0.99e-6, 1.01e-6}};
  EXPECT_EQ(to_record(one).get("quality"), Cell("ok"));
  one.busy = 0.52;
  EXPECT_EQ(to_record(one).get("quality"),
            Cell("unreliable: the ranks shared processors: each ran for 52 % of the time at most"));
}

TEST(BusFactor, as_nccl_tests_derive_it) {
  EXPECT_EQ(bus_factor(CollectiveKind::all_reduce, 2), 1);
  EXPECT_EQ(bus_factor(CollectiveKind::all_reduce, 4), 1.5);
  EXPECT_EQ(bus_factor(CollectiveKind::all_gather, 4), 0.75);
  EXPECT_EQ(bus_factor(CollectiveKind::reduce_scatter, 4), 0.75);
  EXPECT_EQ(bus_factor(CollectiveKind::broadcast, 4), 1);
}

TEST(CollectiveValues, add_up_and_differ_between_ranks) {
  for (const int ranks : {1, 2, 3, 4, 7, 300}) {
    for (std::int64_t i = 0; i < 50; ++i) {
      int sum = 0;
      for (int rank = 0; rank < ranks; ++rank) sum += collective_input(rank, ranks, i);
      EXPECT_EQ(sum, collective_sum(ranks, i));
      EXPECT_NE(collective_sum(ranks, i), collective_sum(ranks, i + 1));
    }
  }
}

}  // namespace
}  // namespace gpubench
