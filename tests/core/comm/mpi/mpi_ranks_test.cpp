// Run by mpirun with some processes: what they exchange is checked on each, and the first failure ends all.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "core/backend/cpu/host_device.h"
#include "core/base/error.h"
#include "core/comm/factory.h"
#include "core/comm/hierarchical.h"
#include "core/comm/local/local_communicator.h"
#include "tests/core/comm/mpi/joined.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

template <class T>
struct Tensor {
  Tensor(std::int64_t elements, Dtype dtype) : type{{elements}, dtype}, values(static_cast<std::size_t>(elements)) {
    for (std::int64_t i = 0; i < elements; ++i)
      values[static_cast<std::size_t>(i)] = stored<T>(value_at(group().rank(), i));
  }
  TensorView view() { return {&type, reinterpret_cast<std::byte*>(values.data())}; }
  void expect_sum() const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T expected = stored<T>(sum_at(static_cast<std::int64_t>(i)));
      ASSERT_EQ(std::memcmp(&values[i], &expected, sizeof(T)), 0) << "at " << i << " of " << values.size();
    }
  }
  TensorType type;
  std::vector<T> values;
};

std::vector<std::unique_ptr<Communicator>> hierarchical(const std::vector<int>& node_of_rank) {
  TwoLevels inline_levels{make_local_communicators(node_of_rank, std::nullopt), make_communicator(group())};
  return make_hierarchical_communicators(
      std::move(inline_levels), {make_local_communicators(node_of_rank, std::nullopt), make_communicator(group())});
}

class MpiRanks : public ::testing::Test {
 protected:
  HostDevice device_{{}, {}};
  std::unique_ptr<Communicator> communicator_ = make_communicator(group());
  Stream& stream() { return device_.stream(); }
};

TEST_F(MpiRanks, AddUpAllTypesAndSizes) {
  for (const std::int64_t elements : {1, 1000, 5000, 70'000, 1'500'001}) {
    Tensor<float> f32(elements, Dtype::f32);
    Tensor<math::Float16> f16(elements, Dtype::f16);
    Tensor<math::Bfloat16> bf16(elements / 2 + 1, Dtype::bf16);
    Tensor<std::int64_t> i64(3, Dtype::i64);
    Tensor<std::int32_t> i32(elements, Dtype::i32);
    communicator_->run({.tensors = {f32.view(), f16.view(), bf16.view(), i64.view(), i32.view()}}, stream());
    f32.expect_sum();
    f16.expect_sum();
    bf16.expect_sum();
    i64.expect_sum();
    i32.expect_sum();
  }
}

TEST_F(MpiRanks, GatherScatterAndBroadcast) {
  const auto ranks = static_cast<std::int64_t>(group().size());
  constexpr std::int64_t part = 150'000;
  Tensor<float> own(part, Dtype::f32), whole(part * ranks, Dtype::f32);
  communicator_->run({.kind = CollectiveKind::all_gather, .tensors = {own.view(), whole.view()}}, stream());
  for (std::int64_t i = 0; i < part * ranks; ++i)
    ASSERT_EQ(whole.values[static_cast<std::size_t>(i)], value_at(static_cast<int>(i / part), i % part));

  Tensor<float> all(part * ranks, Dtype::f32), sum(part, Dtype::f32);
  communicator_->run({.kind = CollectiveKind::reduce_scatter, .tensors = {all.view(), sum.view()}}, stream());
  for (std::int64_t i = 0; i < part; ++i)
    ASSERT_EQ(sum.values[static_cast<std::size_t>(i)], sum_at(part * group().rank() + i));

  for (int root = 0; root < group().size(); ++root) {
    Tensor<float> given(part, Dtype::f32);
    communicator_->run({.kind = CollectiveKind::broadcast, .root = root, .tensors = {given.view()}}, stream());
    for (std::int64_t i = 0; i < part; ++i) ASSERT_EQ(given.values[static_cast<std::size_t>(i)], value_at(root, i));
  }
}

TEST_F(MpiRanks, ExchangeBesideKernelsInOrder) {
  Tensor<float> a(200'000, Dtype::f32), b(10, Dtype::f32), c(30'000, Dtype::f32);
  const auto first = communicator_->beside({.tensors = {a.view()}});
  const auto second = communicator_->beside({.tensors = {b.view()}});
  first->begin(stream());
  second->begin(stream());
  communicator_->run({.tensors = {c.view()}}, stream());
  first->end(stream());
  second->end(stream());
  a.expect_sum();
  b.expect_sum();
  c.expect_sum();
  const CommunicationTimes times = communicator_->times();
  EXPECT_EQ(times.collectives, 3);
  EXPECT_EQ(times.bytes, 4.0 * 230'010);
}

TEST_F(MpiRanks, ReplicasOfSeveralProcessesAddUp) {
  auto ranks = hierarchical({0});
  Tensor<float> a(40'000, Dtype::f32), b(40'000, Dtype::f32);
  const auto side = ranks[0]->beside({.tensors = {a.view()}});
  side->begin(stream());
  ranks[0]->run({.tensors = {b.view()}}, stream());
  side->end(stream());
  a.expect_sum();
  b.expect_sum();
  EXPECT_EQ(ranks[0]->name(), "local and mpi");
  EXPECT_EQ(ranks[0]->size(), group().size());
}

TEST_F(MpiRanks, OfProcessesThatHaveUnlikeDevicesAreToldSo) {
  if (group().size() == 1) GTEST_SKIP() << "one process differs from none";
  HostDevice second({DeviceId::Kind::cpu, 1, ""}, {});
  std::vector<Device*> devices{&device_};
  if (group().rank() == 1) devices.push_back(&second);
  EXPECT_ERROR(::testing::AllOf(::testing::StartsWith("a strategy needs equally many devices of one kind in each "
                                                      "process: process 0 ("),
                                ::testing::HasSubstr(") has 1 CPU device for cross_device = \"local\", process 1 ("),
                                ::testing::HasSubstr(") has 2 CPU devices for cross_device")),
               make_communicators(devices, CrossDevice::local, &group()));
  group().barrier();
}

/// Until process 0 has waited for long enough, however busy the machine is.
TEST_F(MpiRanks, ReplicasCountWaitsForOtherProcessesApartFromTheExchange) {
  if (group().size() == 1) GTEST_SKIP() << "there is nobody to wait for";
  auto ranks = hierarchical({0, 0});
  const bool is_late = group().rank() == group().size() - 1;
  std::vector<std::int64_t> enough(static_cast<std::size_t>(group().size()));
  std::vector<Seconds> inside(ranks.size());
  while (std::ranges::find(enough, 1) == enough.end()) {
    if (is_late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      threads.emplace_back([&, rank] {
        Tensor<float> tensor(1000, Dtype::f32);
        const Stopwatch watch;
        ranks[rank]->run({.tensors = {tensor.view()}}, device_.stream());
        inside[rank] += watch.elapsed();
      });
    }
    for (std::thread& thread : threads) thread.join();
    const auto has_waited = [](const auto& rank) { return rank->times().peer_wait > Seconds(0.03); };
    const std::int64_t mine = group().rank() == 0 && std::ranges::all_of(ranks, has_waited) ? 1 : 0;
    group().all_gather({&mine, 1}, enough);
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const CommunicationTimes times = ranks[rank]->times();
    EXPECT_LE((times.exchange + times.peer_wait).count(), inside[rank].count());
    EXPECT_GT(times.exchange.count(), 0);
  }
}

TEST_F(MpiRanks, TextsAndNumbersOfAll) {
  const std::string mine(static_cast<std::size_t>(group().rank()) * 100'000, 'x');
  const std::vector<std::string> texts = group().all_gather(mine);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) EXPECT_EQ(texts[rank].size(), rank * 100'000);
  EXPECT_EQ(group().broadcast(fmt::format("from {}", group().rank()), group().size() - 1),
            fmt::format("from {}", group().size() - 1));
  EXPECT_EQ(group().local_size(), group().size());
  EXPECT_EQ(group().local_rank(), group().rank());
}

TEST_F(MpiRanks, ThatAskForDifferentThingsAreToldSo) {
  if (group().size() == 1) GTEST_SKIP() << "one process differs from none";
  Tensor<float> tensor(group().rank() == 0 ? 100'000 : 100'001, Dtype::f32);
  try {
    communicator_->run({.tensors = {tensor.view()}}, stream());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("asks for another collective, or with other types; all must ask for the "
                                     "same in the same order"));
  }
  group().conclude("", "");
}

TEST_F(MpiRanks, OneThatLeavesEndsTheWaitsOfTheOthersAndThePartAfterItWorks) {
  if (group().size() == 1) GTEST_SKIP() << "there is nobody to wait for";
  Tensor<float> tensor(100'000, Dtype::f32);
  std::string failure = "out of ideas";
  if (group().rank() != 0) {
    failure.clear();
    EXPECT_ERROR_OF(PeerLost,
                    ::testing::AllOf(::testing::StartsWith("process 0 ("), ::testing::HasSubstr("out of ideas")),
                    communicator_->run({.tensors = {tensor.view()}}, stream()));
  }
  const std::vector<std::string> texts = group().conclude(fmt::format("{}", group().rank()), failure);
  EXPECT_EQ(texts.back(), fmt::format("{}", group().size() - 1));
  communicator_ = make_communicator(group());
  Tensor<float> next(100'000, Dtype::f32);
  communicator_->run({.tensors = {next.view()}}, stream());
  next.expect_sum();
}

TEST_F(MpiRanks, AnAbortedCommunicatorEndsTheWaitsOfAll) {
  if (group().size() == 1) GTEST_SKIP() << "there is nobody to wait for";
  Tensor<float> tensor(10, Dtype::f32);
  if (group().rank() == 0) communicator_->abort("a replica has failed");
  if (group().rank() != 0) {
    EXPECT_ERROR_OF(PeerLost, "a replica has failed", communicator_->run({.tensors = {tensor.view()}}, stream()));
  }
  EXPECT_EQ(group().lost(), "");
  group().barrier();
}

}  // namespace
}  // namespace gpubench

// Each process says that it is another version: none may join. The exit status tells whether both were named.
int join_as_mixed_programs() {
  const std::string rank = std::getenv("OMPI_COMM_WORLD_RANK");
  try {
    gpubench::join_process_group({.program = "gpubench 0." + rank, .task = "same"});
  } catch (const gpubench::Error& error) {
    const std::string text = error.what();
    const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
    fmt::print("{}\n", text);
    return has("need the same programs: process 0 (") && has("has gpubench 0.0, process 1 (") && has("has gpubench 0.1")
               ? 0
               : 1;
  }
  fmt::print("they have joined\n");
  return 1;
}

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string(argv[1]) == "mixed") return join_as_mixed_programs();
  return gpubench::test_in_processes();
}
