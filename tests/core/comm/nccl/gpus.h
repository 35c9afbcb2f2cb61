// GPUs of the CUDA that runs on the CPU, each with a rank of one communicator, and their memory.
#pragma once
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "core/backend/cuda/cuda_backend.h"
#include "core/comm/nccl/nccl_factory.h"
#include "tests/core/comm/staged/gpu_tensor.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/nccl_on_cpu.h"

namespace gpubench {

class NcclTest : public testing::Test {
 protected:
  static constexpr Seconds patience{60};

  void SetUp() override { EXPECT_THAT(cuda_on_cpu::take_misuses(), testing::IsEmpty()); }
  void TearDown() override {
    ranks_.clear();
    EXPECT_EQ(cuda_on_cpu::live_communicators(), 0);
    EXPECT_THAT(cuda_on_cpu::take_misuses(), testing::IsEmpty());
    backend_.reset();
    cuda_on_cpu::machine().gpus = 1;
    cuda_on_cpu::nccl() = {};
  }

  void make_gpus(int count) {
    cuda_on_cpu::machine().gpus = count;
    backend_ = std::make_unique<CudaBackend>(BackendConfig{});
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
