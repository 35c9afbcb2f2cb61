// The graph executor's promise: a step allocates nothing on our side.
#include <array>
#include <gtest/gtest.h>

#include "core/exec/executor.h"
#include "tests/core/exec/small_model.h"
#include "tests/support/allocations.h"

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

  const long allocated = support::count_allocations([&] {
    for (int step = 0; step < 100; ++step) executor->run(inputs);
  });
  EXPECT_EQ(allocated, 0);
}

}  // namespace
}  // namespace gpubench
