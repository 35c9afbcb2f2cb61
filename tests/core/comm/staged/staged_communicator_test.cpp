// Ranks on the GPUs of the CUDA that runs on the CPU, whose memory the host cannot touch and whose streams are as late
// as they may be: each with a thread, as replicas have.
#include "core/comm/staged/staged_communicator.h"

#include <barrier>
#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cuda/cuda_backend.h"
#include "core/comm/factory.h"
#include "core/comm/staged/staged_collective.h"
#include "core/math/half.h"
#include "tests/core/comm/staged/gpu_tensor.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_ranks.h"

namespace gpubench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class Staged : public testing::Test {
 protected:
  void make_ranks(int count, CrossDevice how = CrossDevice::local) {
    cuda_on_cpu::machine().gpus = count;
    backend_ = std::make_unique<CudaBackend>(BackendConfig{});
    std::vector<Device*> devices;
    for (const auto& device : backend_->devices()) devices.push_back(device.get());
    ranks_ = make_communicators(devices, how, nullptr);
  }
  void TearDown() override {
    ranks_.clear();
    if (backend_) {
      for (const auto& device : backend_->devices()) {
        EXPECT_EQ(device->memory().use().in_use, 0U);
        EXPECT_EQ(device->host_memory()->use().in_use, 0U);
      }
    }
    backend_.reset();
    cuda_on_cpu::machine() = {};
  }

  Device& gpu(int rank) const { return *backend_->devices()[static_cast<std::size_t>(rank)]; }
  Communicator& rank(int number) const { return *ranks_[static_cast<std::size_t>(number)]; }
  int size() const { return static_cast<int>(ranks_.size()); }
  /// Calls body(rank) on a thread of its own for each rank; what each threw, or "".
  std::vector<std::string> run(const std::function<void(int)>& body) const { return support::run_ranks(size(), body); }
  /// Values that are exact in every type, and their sum over all ranks.
  static float value_at(int rank, std::size_t i) {
    return static_cast<float>((static_cast<int>(i % 16) + rank * 3) % 16 - 4);
  }
  float sum_at(std::size_t i) const {
    float sum = 0;
    for (int rank = 0; rank < size(); ++rank) sum += value_at(rank, i);
    return sum;
  }
  template <class T, class Store>
  static std::vector<T> values(std::size_t count, const Store& store, const std::function<float(std::size_t)>& at) {
    std::vector<T> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = store(at(i));
    return all;
  }
  template <class T, class Store>
  void check_sums(Dtype dtype, std::size_t count, const Store& store) {
    EXPECT_THAT(
        run([&](int r) {
          const GpuTensor small(gpu(r), dtype, values<T>(3, store, [&](std::size_t i) { return value_at(r, i); })),
              large(gpu(r), dtype, values<T>(count, store, [&](std::size_t i) { return value_at(r, i); }));
          rank(r).run({.tensors = {small.view(), large.view()}}, gpu(r).stream());
          for (const GpuTensor* const tensor : {&small, &large}) {
            const std::vector<T> sums = tensor->get<T>();
            const auto expected = values<T>(sums.size(), store, [&](std::size_t i) { return sum_at(i); });
            EXPECT_EQ(std::memcmp(sums.data(), expected.data(), sums.size() * sizeof(T)), 0) << to_string(dtype);
          }
        }),
        Each(""));
  }

  std::unique_ptr<CudaBackend> backend_;
  std::vector<std::unique_ptr<Communicator>> ranks_;
};

template <class T>
constexpr auto plain = [](float value) { return static_cast<T>(value); };

void copy(Stream& stream, const GpuTensor& to, const GpuTensor& from) {
  stream.copy(to.view().data, from.view().data, from.view().type->bytes());
}

TEST_F(Staged, TensorsOfEveryTypeAreAddedUpInOneOrSeveralPieces) {
  for (const CrossDevice how : {CrossDevice::local, CrossDevice::reduction_to_one}) {
    make_ranks(3, how);
    EXPECT_EQ(rank(0).name(), "local through host memory");
    constexpr std::size_t two_pieces = StagedCollective::piece_bytes / sizeof(float) + 100'001;
    for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, two_pieces})
      check_sums<float>(Dtype::f32, count, plain<float>);
    check_sums<math::Float16>(Dtype::f16, 2 * two_pieces + 1, &math::to_float16);
    check_sums<math::Bfloat16>(Dtype::bf16, 1000, &math::to_bfloat16);
    check_sums<std::int64_t>(Dtype::i64, two_pieces / 2, plain<std::int64_t>);
    check_sums<std::int32_t>(Dtype::i32, 1000, plain<std::int32_t>);
    TearDown();
  }
}

TEST_F(Staged, PartsAreGatheredAndSumsScatteredAndTensorsBroadcast) {
  make_ranks(2);
  constexpr std::size_t large = StagedCollective::piece_bytes / sizeof(float) + 1;
  EXPECT_THAT(run([&](int r) {
                const auto number = static_cast<float>(r);
                Stream& stream = gpu(r).stream();
                const GpuTensor part(gpu(r), Dtype::f32, std::vector<float>{10 + number, 20 + number}),
                    whole(gpu(r), Dtype::f32, std::vector<float>(4, -1));
                GpuTensor given(gpu(r), Dtype::f32, std::vector<float>(large, number));
                rank(r).run({.kind = CollectiveKind::all_gather, .tensors = {part.view(), whole.view()}}, stream);
                EXPECT_THAT(whole.get<float>(), ElementsAre(10, 20, 11, 21));
                rank(r).run({.kind = CollectiveKind::reduce_scatter, .tensors = {whole.view(), part.view()}}, stream);
                EXPECT_THAT(part.get<float>(), r == 0 ? ElementsAre(20, 40) : ElementsAre(22, 42));
                EXPECT_THAT(whole.get<float>(), ElementsAre(10, 20, 11, 21));  // an input stays
                for (const int root : {1, 0}) {
                  given.set(std::vector<float>(large, number));
                  rank(r).run({.kind = CollectiveKind::broadcast, .root = root, .tensors = {given.view()}}, stream);
                  EXPECT_THAT(given.get<float>(), Each(static_cast<float>(root)));
                }
              }),
              Each(""));
}

TEST_F(Staged, CollectivesBesideKernelsSeeWhatIsBeforeThemAndAreSeenBehindTheirEnd) {
  make_ranks(2);
  constexpr std::size_t count = 3000;
  EXPECT_THAT(run([&](int r) {
                const auto number = static_cast<float>(r + 1);
                Stream& kernels = gpu(r).stream();
                const GpuTensor first(gpu(r), Dtype::f32, std::vector<float>(count, number)),
                    second(gpu(r), Dtype::f32, std::vector<float>(7, number)),
                    inline_one(gpu(r), Dtype::f32, std::vector<float>(5, number)),
                    given(gpu(r), Dtype::f32, std::vector<float>(count, number)),
                    seen(gpu(r), Dtype::f32, std::vector<float>(count, 0));
                const auto one = rank(r).beside({.tensors = {first.view()}});
                const auto two = rank(r).beside({.tensors = {second.view()}});
                for (int step = 0; step < 5; ++step) {
                  copy(kernels, first, given);  // late, as all that is queued: the sum has to wait for it
                  one->begin(kernels);
                  copy(kernels, seen, given);
                  two->begin(kernels);
                  if (step % 2 == 0) rank(r).run({.tensors = {inline_one.view()}}, kernels);
                  if (step % 3 == 0) rank(r).barrier();
                  one->end(kernels);
                  copy(kernels, seen, first);
                  two->end(kernels);
                  EXPECT_THAT(seen.get<float>(), Each(3));
                }
                EXPECT_THAT(second.get<float>(), Each(3 * 16));
                EXPECT_THAT(inline_one.get<float>(), Each(3 * 4));
                const CommunicationTimes times = rank(r).times();
                EXPECT_EQ(times.collectives, 13);
                EXPECT_EQ(times.bytes, 5 * 4 * (count + 7) + 3 * 20);
                EXPECT_GT(times.exchange.count(), 0);
                EXPECT_GE(times.peer_wait.count(), 0);
                EXPECT_EQ(times.last_arrivals[0] + times.last_arrivals[1], 13);
              }),
              Each(""));
}

TEST_F(Staged, KernelsDoNotWaitForACollectiveBesideThemBeforeItsEnd) {
  make_ranks(2);
  std::barrier<> kernels_done(2);
  EXPECT_THAT(run([&](int r) {
                const GpuTensor sum(gpu(r), Dtype::f32, std::vector<float>(10, 1)),
                    other(gpu(r), Dtype::f32, std::vector<float>(10, 5));
                const auto side = rank(r).beside({.tensors = {sum.view()}});
                Stream& kernels = gpu(r).stream();
                if (r == 1) kernels_done.arrive_and_wait();
                side->begin(kernels);
                copy(kernels, other, other);
                kernels.synchronize();  // where rank 1 has not come yet
                if (r == 0) kernels_done.arrive_and_wait();
                side->end(kernels);
                EXPECT_THAT(sum.get<float>(), Each(2));
              }),
              Each(""));
}

TEST_F(Staged, RanksThatAskForDifferentThingsAreTold) {
  make_ranks(2);
  constexpr std::int64_t piece = StagedCollective::piece_bytes / sizeof(float);
  EXPECT_THAT(run([&](int r) {  // alike in the first piece
                const GpuTensor sum(gpu(r), Dtype::f32,
                                    std::vector<float>(static_cast<std::size_t>((2 + r) * piece), 1));
                rank(r).run({.tensors = {sum.view()}}, gpu(r).stream());
              }),
              Each(HasSubstr("rank 0 has float32[0, 2097152], rank 1 float32[0, 3145728]")));
}

TEST_F(Staged, ARankThatFailsEndsTheOthers) {
  make_ranks(2);
  const auto failures = run([&](int r) {
    const GpuTensor sum(gpu(r), Dtype::f32, std::vector<float>(100, 1));
    const auto side = rank(r).beside({.tensors = {sum.view()}});
    if (r == 1) return rank(1).abort("rank 1 failed in step 7: out of memory");
    side->begin(gpu(r).stream());
    side->end(gpu(r).stream());
  });
  EXPECT_THAT(failures, ElementsAre("rank 1 failed in step 7: out of memory", ""));
  EXPECT_ERROR_OF(PeerLost, "rank 1 failed in step 7: out of memory", rank(1).barrier());
}

TEST_F(Staged, ASideCollectiveGivenUpAfterItsBeginEndsTheOthers) {
  make_ranks(2);
  const auto failures = run([&](int r) {
    if (r == 0) return rank(0).barrier();
    const GpuTensor sum(gpu(r), Dtype::f32, std::vector<float>(100'000, 1));
    const auto first = rank(1).beside({.tensors = {sum.view()}}), second = rank(1).beside({.tensors = {sum.view()}});
    first->begin(gpu(1).stream());
    second->begin(gpu(1).stream());
  });
  EXPECT_EQ(failures[1], "");
  EXPECT_THAT(failures[0], testing::AnyOf(HasSubstr("rank 1 gave up an all_reduce that it had begun"),
                                          HasSubstr("all ranks must ask for the same")));
}

TEST_F(Staged, CollectivesThatAreImpossibleAreRefused) {
  make_ranks(1);
  const GpuTensor bytes(gpu(0), Dtype::u8, std::vector<unsigned char>(4, 1));
  EXPECT_ERROR(HasSubstr("uint8 tensors cannot be reduced"), rank(0).run({.tensors = {bytes.view()}}, gpu(0).stream()));
  EXPECT_ERROR(HasSubstr("uint8 tensors cannot be reduced"), rank(0).beside({.tensors = {bytes.view()}}));
  EXPECT_FALSE(rank(0).recordable());
}

}  // namespace
}  // namespace gpubench
