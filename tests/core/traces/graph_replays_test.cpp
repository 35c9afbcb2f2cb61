#include "core/traces/graph_replays.h"

#include <gtest/gtest.h>

#include "tests/core/traces/kineto_trace.h"

namespace gpubench {
namespace {

/// One launch of a graph of so many kernels.
void add_replay(KinetoTrace& trace, int number, int kernels) {
  const double begin = 1000 * number;
  trace.host("cuda_runtime", "cudaGraphLaunch", begin, 5, 1, number);
  for (int i = 0; i < kernels; ++i) trace.device("kernel", "gemm", begin + 10 + 20 * i, 10, number);
}

TEST(GraphReplays, ThoseWithLessThanHalfOfTheKernelsArePartial) {
  KinetoTrace trace;
  for (int number = 1; number <= 6; ++number) add_replay(trace, number, number == 4 ? 3 : 10);
  const GraphReplays replays = graph_replays(trace.read());
  EXPECT_EQ(replays.launches, 6U);
  EXPECT_EQ(replays.kernels, 53U);
  EXPECT_EQ(replays.partial, 1U);
}

TEST(GraphReplays, AreNoneWithoutGraphs) {
  const GraphReplays replays = graph_replays(busy_trace().read());
  EXPECT_EQ(replays.launches, 0U);
  EXPECT_EQ(replays.kernels, 0U);
}

}  // namespace
}  // namespace gpubench
