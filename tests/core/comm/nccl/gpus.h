// GPUs of the CUDA that runs on the CPU, each with a rank of one communicator, and their memory.
#pragma once
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "core/backend/cuda/cuda_backend.h"
#include "core/comm/nccl/nccl_communicators.h"
#include "core/tensor/host_tensor.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/nccl_on_cpu.h"

namespace gpubench {

/// A tensor in a GPU's memory.
class GpuTensor {
 public:
  template <class T>
  GpuTensor(Device& device, Dtype dtype, const std::vector<T>& values)
      : device_(device), type_{{static_cast<std::int64_t>(values.size() * sizeof(T) / size_of(dtype))}, dtype} {
    buffer_ = device.memory().allocate(values.size() * sizeof(T), "a test's tensor");
    set(values);
  }
  TensorView view() const { return {&type_, buffer_.data()}; }
  template <class T>
  void set(const std::vector<T>& values) {
    device_.stream().copy(buffer_.data(), values.data(), values.size() * sizeof(T));
    device_.stream().synchronize();
  }
  template <class T>
  std::vector<T> get() const {
    std::vector<T> values(type_.bytes() / sizeof(T));
    device_.stream().copy(values.data(), buffer_.data(), type_.bytes());
    device_.stream().synchronize();
    return values;
  }

 private:
  Device& device_;
  TensorType type_;
  Buffer buffer_;
};

class NcclTest : public testing::Test {
 protected:
  static constexpr Seconds patience{60};

  void SetUp() override {
    EXPECT_THAT(cuda_on_cpu::take_misuses(), testing::IsEmpty());
    cuda_on_cpu::nccl() = {};
  }
  void TearDown() override {
    ranks_.clear();
    EXPECT_EQ(cuda_on_cpu::live_communicators(), 0);
    EXPECT_THAT(cuda_on_cpu::take_misuses(), testing::IsEmpty());
    backend_.reset();
    cuda_on_cpu::machine().gpus = 1;
  }

  void make_gpus(int count) {
    cuda_on_cpu::machine().gpus = count;
    backend_ = std::make_unique<CudaBackend>(std::nullopt);
  }
  void make_ranks(int count, Seconds how_patient = patience) {
    make_gpus(count);
    ranks_ = make_nccl_communicators(devices(), nullptr, how_patient);
  }
  std::vector<Device*> devices() const {
    std::vector<Device*> all;
    for (const auto& device : backend_->devices()) all.push_back(device.get());
    return all;
  }
  Device& gpu(std::size_t rank) const { return *backend_->devices()[rank]; }
  Communicator& rank(std::size_t number) const { return *ranks_[number]; }
  /// All ranks do it, then all is waited for.
  template <class CollectiveOf>
  void run_all(const CollectiveOf& collective_of) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) rank(i).run(collective_of(i), gpu(i).stream());
    for (std::size_t i = 0; i < ranks_.size(); ++i) gpu(i).stream().synchronize();
    for (const auto& each : ranks_) each->check();
  }

  std::unique_ptr<CudaBackend> backend_;
  std::vector<std::unique_ptr<Communicator>> ranks_;
};

}  // namespace gpubench
