#include "core/backend/cpu/cpu_backend.h"

#include <array>
#include <cfenv>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <omp.h>
#include <sched.h>
#include <thread>
#include <unistd.h>

#include "core/backend/cpu/host_device.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/processor.h"
#include "core/device/bound_thread.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/bias.h"
#include "core/ops/elementwise.h"
#include "core/ops/pool.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::HasSubstr;

constexpr std::size_t mib = std::size_t{1} << 20;

TEST(CpuBackendTest, EachOptionIsADeviceWithItsOwnLimitAndThreads) {
  const std::array options{CpuDeviceOptions{.memory = {}, .threads = 2},
                           CpuDeviceOptions{.memory = {.limit = 4 * mib}, .threads = 1}};
  const CpuBackend backend(options);
  ASSERT_EQ(backend.devices().size(), 2U);
  Device& first = *backend.devices()[0];
  Device& second = *backend.devices()[1];
  EXPECT_EQ(to_string(first.id()), "cpu:0");
  EXPECT_EQ(to_string(second.id()), "cpu:1");
  EXPECT_THAT(first.description(), HasSubstr("2 threads"));
  EXPECT_THAT(second.description(), testing::EndsWith("1 thread"));
  EXPECT_NO_THROW(first.memory().allocate(8 * mib, "weights"));
  EXPECT_ERROR_OF(OutOfMemory, HasSubstr("cpu:1: out of memory: 8 MiB asked for 'weights'"),
                  second.memory().allocate(8 * mib, "weights"));
}

TEST(CpuBackendTest, BindingSizesTheTeamOfTheCallingThreadOnly) {
  const std::array options{CpuDeviceOptions{.memory = {}, .threads = 3}, CpuDeviceOptions{.memory = {}, .threads = 1}};
  const CpuBackend backend(options);
  backend.devices()[0]->bind_to_thread();
  EXPECT_EQ(omp_get_max_threads(), 3);
  std::thread([&] {
    backend.devices()[1]->bind_to_thread();
    EXPECT_EQ(omp_get_max_threads(), 1);
  }).join();
  EXPECT_EQ(omp_get_max_threads(), 3);
  backend.devices()[1]->bind_to_thread();
  EXPECT_EQ(omp_get_max_threads(), 1);
}

TEST(HostDevice, FlushesDenormalResultsInItsWholeTeam) {
  std::thread([] {
    HostDevice device({}, {.memory = {}, .threads = 2});
    device.bind_to_thread();
    std::array<float, 2> results{1.0F, 1.0F};
#pragma omp parallel num_threads(2)
    {
      volatile float smallest = std::numeric_limits<float>::min();
      results[static_cast<std::size_t>(omp_get_thread_num())] = smallest * 0.1F;
    }
    EXPECT_EQ(results[0], 0.0F);
    EXPECT_EQ(results[1], 0.0F);
  }).join();
}

std::vector<int> processors_of_team(int threads) {
  std::vector<int> counts(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    counts[static_cast<std::size_t>(omp_get_thread_num())] = CPU_COUNT(&set);
  }
  return counts;
}

TEST(CpuBackendTest, TheTeamOfADeviceOnAMemoryNodeRunsThereAndItsMasterWhereItDid) {
  const int all = static_cast<int>(process_processors().size());
  const MemoryNode node{7, {process_processors().back()}};
  const std::array options{CpuDeviceOptions{.memory = {}, .threads = 3, .node = node},
                           CpuDeviceOptions{.memory = {}, .threads = 1}, CpuDeviceOptions{.memory = {}, .threads = 3}};
  const CpuBackend backend(options);
  const auto& devices = backend.devices();
  EXPECT_THAT(devices[0]->description(), testing::EndsWith(", 3 threads, on memory node 7"));
  EXPECT_EQ(devices[0]->memory_node()->index, 7);
  EXPECT_EQ(devices[1]->memory_node(), nullptr);
  devices[2]->bind_to_thread();
  EXPECT_THAT(processors_of_team(3), testing::ElementsAre(all, all, all));
  devices[0]->bind_to_thread();
  EXPECT_THAT(processors_of_team(3), testing::ElementsAre(all, 1, 1));
  devices[1]->bind_to_thread();
  devices[2]->bind_to_thread();
  EXPECT_THAT(processors_of_team(3), testing::ElementsAre(all, all, all));
}

#if !defined(__SANITIZE_THREAD__)  // whose loops begin threads of their own
std::vector<pid_t> threads_of_team(int threads) {
  std::vector<pid_t> ids(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  ids[static_cast<std::size_t>(omp_get_thread_num())] = gettid();
  return ids;
}

// To begin a thread takes longer than a small kernel.
TEST(CpuBackendTest, ThreadsOfATeamOutliveSmallLoopsAndDevicesOfOneThread) {
  std::thread([] {
    HostDevice all({DeviceId::Kind::cpu, 0, {}}, {.memory = {}, .threads = 3});
    HostDevice one({DeviceId::Kind::cpu, 1, {}}, {.memory = {}, .threads = 1});
    all.bind_to_thread();
    const std::vector<pid_t> before = threads_of_team(3);
    one.bind_to_thread();
    EXPECT_EQ(omp_get_max_threads(), 1);
    all.bind_to_thread();
    EXPECT_EQ(omp_get_max_threads(), 3);
    std::array<std::int64_t, 2> counts{};
    cpu::parallel_ranges(2, 7, [&](int thread, std::int64_t begin, std::int64_t end) {
      counts[static_cast<std::size_t>(thread)] = end - begin;
    });
    EXPECT_THAT(counts, testing::ElementsAre(3, 4));
    EXPECT_EQ(threads_of_team(3), before);
  }).join();
}
#endif

TEST(CpuBackendTest, TheTeamOfADeviceFlushesDenormals) {
  std::thread([] {
    std::fesetenv(FE_DFL_ENV);
    HostDevice device({DeviceId::Kind::cpu, 0, {}}, {.memory = {}, .threads = 2});
    device.bind_to_thread();
    std::array<float, 2> results{1.0F, 1.0F};
#pragma omp parallel num_threads(2)
    {
      volatile float smallest = std::numeric_limits<float>::min();
      results[static_cast<std::size_t>(omp_get_thread_num())] = smallest * 0.1F;
    }
    EXPECT_THAT(results, testing::Each(0.0F));
  }).join();
}

TEST(CpuBackendTest, StreamsCopyAtOnceAndEventsKeepTheirOrder) {
  const std::array options{CpuDeviceOptions{}};
  const CpuBackend backend(options);
  Device& device = *backend.devices()[0];
  const auto stream = device.new_stream();
  const auto before = device.new_event(), after = device.new_event();
  const std::array<int, 3> source{1, 2, 3};
  std::array<int, 3> destination{};
  stream->record(*before);
  stream->copy(destination.data(), source.data(), sizeof source);
  stream->record(*after);
  EXPECT_EQ(destination, source);
  EXPECT_TRUE(after->ready());
  EXPECT_GE(after->since(*before).count(), 0.0);
}

TEST(CpuBackendTest, MemoryIsAlignedForVectorLoadsAndLargePages) {
  const std::array options{CpuDeviceOptions{}};
  const CpuBackend backend(options);
  const Buffer buffer = backend.devices()[0]->memory().allocate(3 * mib, "large");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (2 * mib), 0U);
}

TEST(CpuBackendTest, ElementWiseOpsOf16BitsAreConvertedWithoutAWorkspace) {
  const std::array options{CpuDeviceOptions{}};
  const CpuBackend backend(options);
  const TensorType large{{256, 256}, Dtype::bf16}, row{{256}, Dtype::bf16};
  const auto workspace_of = [&](const Op& op, const std::vector<TensorType>& inputs) {
    return backend.plan(op, {inputs, {&large, 1}}, *backend.devices()[0])->workspace_bytes();
  };
  EXPECT_EQ(workspace_of(Relu(), {large}), 0U);
  EXPECT_EQ(workspace_of(ReluGradient(), {large, large}), 0U);
  EXPECT_EQ(workspace_of(Add(), {row, large}), 0U);
}

TEST(CpuBackendTest, SumsOf16BitsNeedNoWideCopyOfWhatTheySum) {
  constexpr std::size_t threads = 2;
  const std::array options{CpuDeviceOptions{.memory = {}, .threads = threads}};
  const CpuBackend backend(options);
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const TensorType images{{512, 16, 16, 8}, dtype}, pooled{{512, 8, 8, 8}, dtype}, bias{{8}, dtype};
    const auto workspace_of = [&](const Op& op, const TensorType& input, const TensorType& output) {
      return backend.plan(op, {{&input, 1}, {&output, 1}}, *backend.devices()[0])->workspace_bytes();
    };
    const std::size_t image = 16 * 16 * 8 * sizeof(float);
    EXPECT_EQ(workspace_of(AveragePool2D(), images, pooled), 0U);
    EXPECT_LE(workspace_of(AveragePool2DGradient({}, images.shape), pooled, images), threads * image);
    EXPECT_LE(workspace_of(BiasGradient(), images, bias), threads * 8 * sizeof(double));
  }
}

TEST(CpuBackendTest, RefusesWhatItCannotDo) {
  EXPECT_ERROR("cpu: needs at least one logical device", CpuBackend(std::span<const CpuDeviceOptions>{}));
  const std::array none{CpuDeviceOptions{.memory = {}, .threads = 0}};
  EXPECT_ERROR("cpu:0: 0 threads; 1 to 4096 are possible", CpuBackend{none});
  const std::array many{CpuDeviceOptions{.memory = {}, .threads = 100'000}};
  EXPECT_ERROR("cpu:0: 100000 threads; 1 to 4096 are possible", CpuBackend{many});

  const std::array options{CpuDeviceOptions{}};
  const CpuBackend backend(options);
  const InputOp leaf(0, {});
  EXPECT_ERROR("cpu: there is no kernel for input", backend.plan(leaf, {}, *backend.devices()[0]));
}

TEST(ProcessorTest, HasANameAndACore) {
  EXPECT_FALSE(processor_name().empty());
  EXPECT_GE(usable_cores(), 1);
}

}  // namespace
}  // namespace gpubench
