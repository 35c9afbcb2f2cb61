// The graph executor's promise: a step allocates nothing on our side. Allocations are counted by replacing the global
// operator new of this test program; what oneDNN allocates inside its calls goes through malloc and is not ours.
#include <array>
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

#include "core/exec/executor.h"
#include "tests/core/exec/small_model.h"

namespace {
std::atomic<long> allocations{0};
}  // namespace

void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace gpubench {
namespace {

TEST(Allocation, AGraphStepAllocatesNothing) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  const SmallModel model(runtime);
  Program program = model.step();
  const auto executor = make_executor(runtime, std::move(program.graph), program.outputs);
  const HostTensor x = random_tensor({SmallModel::batch, SmallModel::inputs}, 3);
  const HostTensor target = random_tensor({SmallModel::batch, SmallModel::outputs}, 4);
  const std::array inputs{x.view(), target.view()};
  for (int warm_up = 0; warm_up < 3; ++warm_up) executor->run(inputs);

  const long before = allocations.load();
  for (int step = 0; step < 100; ++step) executor->run(inputs);
  EXPECT_EQ(allocations.load() - before, 0);
}

}  // namespace
}  // namespace gpubench
