// Run by mpirun with a GPU of the CUDA that runs on the CPU for each process: tensors go through the host's memory, or
// as they lie in the GPU's where MPI is said to know GPUs (its memory is open then). The first failure ends all.
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cuda/cuda_backend.h"
#include "core/comm/factory.h"
#include "tests/core/comm/mpi/joined.h"
#include "tests/core/comm/staged/gpu_tensor.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

template <class T, class At>
std::vector<T> values(std::size_t count, const At& at) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = stored<T>(at(i));
  return all;
}

class MpiGpus : public ::testing::Test {
 protected:
  MpiGpus() { communicator_ = std::move(make_communicators(devices_, CrossDevice::local, &group()).front()); }
  ~MpiGpus() override {
    communicator_ = nullptr;
    EXPECT_EQ(gpu().host_memory()->use().in_use, 0U);
  }
  Device& gpu() const { return *backend_.devices()[0]; }
  Stream& stream() const { return gpu().stream(); }
  template <class T>
  GpuTensor tensor(std::size_t count, Dtype dtype) const {
    return {gpu(), dtype, values<T>(count, [](std::size_t i) { return value_at(group().rank(), i); })};
  }
  template <class T>
  static void expect_sum(const GpuTensor& tensor) {
    const std::vector<T> got = tensor.get<T>(), expected = values<T>(got.size(), sum_at);
    EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)), 0) << to_string(*tensor.view().type);
  }

  CudaBackend backend_{BackendConfig{}};
  std::vector<Device*> devices_{backend_.devices()[0].get()};
  std::unique_ptr<Communicator> communicator_;
};

TEST_F(MpiGpus, TellHowTheyExchange) {
  EXPECT_EQ(communicator_->name(), cuda_on_cpu::machine().open ? "mpi, CUDA-aware" : "mpi through host memory");
  EXPECT_FALSE(communicator_->recordable());
}

TEST_F(MpiGpus, AddUpAllTypesAndSizes) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{70'000}, std::size_t{1'500'001}}) {
    const GpuTensor f32 = tensor<float>(count, Dtype::f32), f16 = tensor<math::Float16>(count, Dtype::f16),
                    bf16 = tensor<math::Bfloat16>(count / 2 + 1, Dtype::bf16),
                    i64 = tensor<std::int64_t>(3, Dtype::i64), i32 = tensor<std::int32_t>(count, Dtype::i32);
    communicator_->run({.tensors = {f32.view(), f16.view(), bf16.view(), i64.view(), i32.view()}}, stream());
    expect_sum<float>(f32);
    expect_sum<math::Float16>(f16);
    expect_sum<math::Bfloat16>(bf16);
    expect_sum<std::int64_t>(i64);
    expect_sum<std::int32_t>(i32);
  }
}

TEST_F(MpiGpus, GatherScatterAndBroadcast) {
  const auto ranks = static_cast<std::size_t>(group().size()), own = static_cast<std::size_t>(group().rank());
  constexpr std::size_t count = 150'000;
  const GpuTensor part = tensor<float>(count, Dtype::f32), whole = tensor<float>(count * ranks, Dtype::f32);
  communicator_->run({.kind = CollectiveKind::all_gather, .tensors = {part.view(), whole.view()}}, stream());
  const std::vector<float> gathered = whole.get<float>();
  for (std::size_t i = 0; i < gathered.size(); ++i)
    ASSERT_EQ(gathered[i], value_at(static_cast<int>(i / count), i % count)) << i;

  const GpuTensor all = tensor<float>(count * ranks, Dtype::f32);
  communicator_->run({.kind = CollectiveKind::reduce_scatter, .tensors = {all.view(), part.view()}}, stream());
  const std::vector<float> sums = part.get<float>();
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sums[i], sum_at(count * own + i)) << i;

  for (int root = 0; root < group().size(); ++root) {
    const GpuTensor given = tensor<float>(count, Dtype::f32);
    communicator_->run({.kind = CollectiveKind::broadcast, .root = root, .tensors = {given.view()}}, stream());
    const std::vector<float> got = given.get<float>();
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i], value_at(root, i)) << i;
  }
}

TEST_F(MpiGpus, ExchangeBesideKernelsInOrder) {
  const GpuTensor given = tensor<float>(200'000, Dtype::f32), a = tensor<float>(200'000, Dtype::f32),
                  b = tensor<float>(10, Dtype::f32), c = tensor<float>(30'000, Dtype::f32);
  const auto first = communicator_->beside({.tensors = {a.view()}});
  const auto second = communicator_->beside({.tensors = {b.view()}});
  for (int step = 0; step < 3; ++step) {
    stream().copy(a.view().data, given.view().data, given.view().type->bytes());  // late, as all that is queued
    stream().copy(b.view().data, given.view().data, b.view().type->bytes());
    first->begin(stream());
    second->begin(stream());
    if (step == 1) communicator_->run({.tensors = {c.view()}}, stream());
    first->end(stream());
    second->end(stream());
    expect_sum<float>(a);
    expect_sum<float>(b);
  }
  expect_sum<float>(c);
  const CommunicationTimes times = communicator_->times();
  EXPECT_EQ(times.collectives, 7);
  EXPECT_EQ(times.bytes, 4.0 * (3 * 200'010 + 30'000));
}

TEST_F(MpiGpus, OneThatLeavesEndsTheWaitsOfTheOthersAndThePartAfterItWorks) {
  if (group().size() == 1) GTEST_SKIP() << "there is nobody to wait for";
  const GpuTensor sum = tensor<float>(2'000'000, Dtype::f32);
  std::string failure = "out of ideas";
  if (group().rank() != 0) {
    failure.clear();
    const auto side = communicator_->beside({.tensors = {sum.view()}});
    side->begin(stream());
    EXPECT_ERROR_OF(PeerLost,
                    ::testing::AllOf(::testing::StartsWith("process 0 ("), ::testing::HasSubstr("out of ideas")),
                    side->end(stream()));
  }
  group().conclude("", failure);
  communicator_ = std::move(make_communicators(devices_, CrossDevice::local, &group()).front());
  const GpuTensor next = tensor<float>(100'000, Dtype::f32);
  communicator_->run({.tensors = {next.view()}}, stream());
  expect_sum<float>(next);
}

TEST_F(MpiGpus, ThatMpiIsSaidToKnowAreNoOrYes) {
  const char* const before = std::getenv("GPUBENCH_MPI_CUDA_AWARE");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("GPUBENCH_MPI_CUDA_AWARE", "perhaps", 1);
  EXPECT_ERROR(
      "GPUBENCH_MPI_CUDA_AWARE is 'perhaps'; 1 says that MPI takes messages from GPUs' memory, 0 that it "
      "does not, and without it the library is asked",
      make_communicators(devices_, CrossDevice::local, &group()));
  // One that cannot keeps all from it.
  ::setenv("GPUBENCH_MPI_CUDA_AWARE", group().rank() == 0 ? "0" : kept.c_str(), 1);
  EXPECT_EQ(make_communicators(devices_, CrossDevice::local, &group()).front()->name(), "mpi through host memory");
  ::setenv("GPUBENCH_MPI_CUDA_AWARE", kept.c_str(), 1);
  group().barrier();
}

}  // namespace
}  // namespace gpubench

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return gpubench::test_in_processes();
}
