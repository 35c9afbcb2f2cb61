#include "core/passes/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/exchange_ops.h"
#include "core/graph/gradients.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "tests/core/passes/equal_results.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(Passes, UnknownAndRequiredOnesCannotBeSwitchedOff) {
  for (const char* name : {"fuse_everything", "place_copies"}) {
    EXPECT_ERROR(testing::AllOf(testing::HasSubstr(std::string("there is no pass '") + name +
                                                   "' to switch off (known: merge_casts, fuse_softmax_cross_entropy, "),
                                testing::HasSubstr(", offload, bucket_all_reduces, overlap_recorded)")),
                 apply_passes({}, {{name}}));
  }
}

/// Four layers whose gradients by the weights are exchanged.
std::vector<std::string> ops_of_replica(PassOptions options, bool offloads_first = false) {
  Program program;
  Graph& graph = program.graph;
  Value y = graph.input({{8, 6}, Dtype::f32}, "x");
  std::vector<Value> weights;
  for (int layer = 0; layer < 4; ++layer) weights.push_back(graph.input({{6, 6}, Dtype::f32}, "w"));
  for (int layer = 0; layer < 4; ++layer) {
    const OwnerPtr owner = make_owner("dense_" + std::to_string(layer));
    if (offloads_first && layer == 0) options.offload.layers = {owner};
    const GraphScope scope(graph, {}, owner);
    y = ops::tanh(graph, ops::matmul(graph, y, weights[static_cast<std::size_t>(layer)]));
  }
  const GraphScope scope(graph, "loss");
  for (const Value gradient : gradients(graph, ops::reduce_mean(graph, y), weights)) {
    program.outputs.push_back(all_reduce_in_bucket(graph, gradient));
  }
  return op_names(apply_passes(std::move(program), options).graph);
}

TEST(Passes, OffloadIsSwitchedOffByName) {
  PassOptions options;
  EXPECT_THAT(ops_of_replica(options, true), Contains("store"));
  options.disabled = {"offload"};
  EXPECT_THAT(ops_of_replica(options, true), Not(Contains("store")));
}

TEST(Passes, BucketsAreSwitchedOffByName) {
  EXPECT_THAT(ops_of_replica({}), Contains("all_reduce").Times(1));
  EXPECT_THAT(ops_of_replica({{"bucket_all_reduces"}}), Contains("all_reduce").Times(4));
}

TEST(Passes, RecordedWorkKeepsItsOrderWhereTheOverlapIsSwitchedOff) {
  EXPECT_TRUE(apply_passes({}, {}).overlaps_recorded);
  EXPECT_FALSE(apply_passes({}, {{"overlap_recorded"}}).overlaps_recorded);
}

}  // namespace
}  // namespace gpubench
