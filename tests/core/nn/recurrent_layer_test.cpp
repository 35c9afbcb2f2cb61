#include "core/nn/recurrent_layer.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

#include "core/nn/architecture.h"
#include "core/ops/random.h"
#include "tests/core/nn/called.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Called;
using support::f32;
using support::infer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ConfigEntries units(ConfigEntries more = {}) {
  more.emplace_back("units", std::int64_t{4});
  return more;
}

TEST(Lstm, ComputesTheProductOfAllStepsAtOnce) {
  const Called layer("LSTM", units(), {f32({5, 3})});
  EXPECT_EQ(layer.shape(), (Shape{8, 4}));
  EXPECT_THAT(layer.variables.names, ElementsAre("lstm/kernel", "lstm/recurrent_kernel", "lstm/bias"));
  EXPECT_EQ(layer.layer->variables()[0]->type, f32({3, 16}));
  EXPECT_EQ(layer.layer->variables()[1]->type, f32({4, 16}));
  EXPECT_EQ(layer.layer->variables()[2]->type, f32({16}));
  EXPECT_THAT(layer.ops(),
              ElementsAre("transpose", "reshape", "matmul", "bias_add", "reshape", "recurrence", "slice", "reshape"));
}

TEST(Lstm, ReturnsSequencesInTheOrderOfComputation) {
  EXPECT_EQ(infer("LSTM", units({{"return_sequences", true}}), {f32({5, 3})}), (Shape{5, 4}));
  const ConfigEntries backwards = units({{"return_sequences", true}, {"go_backwards", true}, {"use_bias", false}});
  EXPECT_THAT(Called("LSTM", backwards, {f32({5, 3})}).ops(),
              ElementsAre("transpose", "reshape", "matmul", "reshape", "recurrence", "transpose", "reverse"));
}

TEST(Gru, KeepsTheStatesBiasApart) {
  const Called layer("GRU", units(), {f32({5, 3})});
  EXPECT_EQ(layer.layer->variables()[2]->type, f32({2, 12}));
  EXPECT_EQ(layer.shape(), (Shape{8, 4}));
  EXPECT_EQ(Called("GRU", units({{"use_bias", false}}), {f32({5, 3})}).variables.names.size(), 2U);
}

std::ptrdiff_t count_of(const Called& layer, const char* op) {
  return std::ranges::count(layer.ops(), op);
}

TEST(Recurrent, DropsInTrainingByOneMaskForAllSteps) {
  const ConfigEntries dropped = units({{"dropout", 0.5}});
  EXPECT_EQ(count_of(Called("LSTM", dropped, {f32({5, 3})}), "dropout"), 0);
  const Called layer("LSTM", dropped, {f32({5, 3})}, true);
  EXPECT_TRUE(layer.layer->draws());
  EXPECT_EQ(count_of(layer, "dropout"), 1);
  EXPECT_EQ(count_of(layer, "matmul"), 1);
  const ConfigEntries both = units({{"dropout", 0.5}, {"recurrent_dropout", 0.25}});
  for (const char* kind : {"LSTM", "GRU"}) {
    const Called gates(kind, both, {f32({5, 3})}, true);
    EXPECT_EQ(count_of(gates, "dropout"), 2);
    EXPECT_EQ(count_of(gates, "matmul"), kind == std::string("LSTM") ? 4 : 3);
    std::set<std::uint64_t> seeds;
    for (const Node& node : gates.graph.nodes()) {
      if (const auto* const op = op_as<Dropout>(node)) seeds.insert(op->seed);
    }
    EXPECT_EQ(seeds.size(), 2U) << "inputs and states are drawn apart";
  }
}

TEST(Recurrent, TakesAMaskOfItsSteps) {
  for (const Dtype dtype : {Dtype::boolean, Dtype::i32}) {
    const Called layer("GRU", units({{"return_sequences", true}}), {f32({5, 3}), {{5}, dtype}});
    EXPECT_EQ(layer.shape(), (Shape{8, 5, 4}));
    EXPECT_EQ(count_of(layer, "recurrence"), 1);
  }
  EXPECT_ERROR(
      "layer 'lstm' (LSTM): the mask must be integers or bools [5] per example, one for "
      "each step of float32[5, 3], got bool[4]",
      infer("LSTM", units(), {f32({5, 3}), {{4}, Dtype::boolean}}));
  EXPECT_ERROR(HasSubstr("the mask must be integers or bools [5]"), infer("GRU", units(), {f32({5, 3}), f32({5})}));
  EXPECT_ERROR(HasSubstr("takes a sequence and a mask, got 3 inputs"),
               infer("LSTM", units(), {f32({5, 3}), f32({5}), f32({5})}));
  EXPECT_ERROR(HasSubstr("takes one input, got 0"), infer("LSTM", units(), {}));
}

TEST(Recurrent, Refuses) {
  EXPECT_ERROR("layer 'lstm' (LSTM): expects [steps, features] per example, got float32[3]",
               infer("LSTM", units(), {f32({3})}));
  EXPECT_ERROR("layer 'gru' (GRU): needs at least one step, got float32[0, 3]", infer("GRU", units(), {f32({0, 3})}));
  EXPECT_ERROR(HasSubstr("LSTM: unknown activation 'rel'"),
               infer("LSTM", units({{"activation", std::string("rel")}}), {f32({5, 3})}));
  EXPECT_ERROR("LSTM: units must be at least 1, got 0", infer("LSTM", {{"units", std::int64_t{0}}}, {f32({5, 3})}));
  EXPECT_ERROR("LSTM: units must be at most 2147483647, got 4611686018427387904",
               infer("LSTM", {{"units", std::int64_t{1} << 62}}, {f32({5, 3})}));
  const Called layer("LSTM", units(), {f32({5, 3})});
  const TensorType other = f32({5, 2});
  EXPECT_ERROR(HasSubstr("was built for 3 features, got float32[5, 2]"), layer.layer->infer(std::span(&other, 1)));
}

ConfigEntries around(std::string_view kind, const ConfigEntries& inner, ConfigEntries more = {}) {
  more.emplace_back("layer", layer_to_text(*make_layer(kind, inner)));
  return more;
}

TEST(Bidirectional, HasWeightsForEachDirection) {
  const Called layer("Bidirectional", around("LSTM", units()), {f32({5, 3})});
  EXPECT_EQ(layer.shape(), (Shape{8, 8}));
  EXPECT_THAT(layer.variables.names,
              ElementsAre("bidirectional/forward_kernel", "bidirectional/forward_recurrent_kernel",
                          "bidirectional/forward_bias", "bidirectional/backward_kernel",
                          "bidirectional/backward_recurrent_kernel", "bidirectional/backward_bias"));
  const ConfigEntries summed = around("GRU", units({{"return_sequences", true}}), {{"merge_mode", std::string("sum")}});
  EXPECT_EQ(infer("Bidirectional", summed, {f32({5, 3})}), (Shape{5, 4}));
}

TEST(Bidirectional, MasksAndDropsInBothDirections) {
  const ConfigEntries inner = units({{"dropout", 0.5}, {"recurrent_dropout", 0.5}, {"return_sequences", true}});
  const Called layer("Bidirectional", around("LSTM", inner), {f32({5, 3}), {{5}, Dtype::boolean}}, true);
  EXPECT_EQ(layer.shape(), (Shape{8, 5, 8}));
  EXPECT_TRUE(layer.layer->draws());
  EXPECT_EQ(count_of(layer, "dropout"), 4);
  EXPECT_ERROR(
      "layer 'bidirectional' (Bidirectional): the mask must be integers or bools [5] per "
      "example, one for each step of float32[5, 3], got bool[4]",
      infer("Bidirectional", around("LSTM", units()), {f32({5, 3}), {{4}, Dtype::boolean}}));
}

TEST(Bidirectional, Refuses) {
  EXPECT_ERROR("Bidirectional: the layer must be an LSTM, a GRU or a SimpleRNN",
               infer("Bidirectional", around("Dense", units()), {f32({5, 3})}));
  EXPECT_ERROR("Bidirectional: the layer must not have go_backwards",
               infer("Bidirectional", around("LSTM", units({{"go_backwards", true}})), {f32({5, 3})}));
  EXPECT_ERROR("Bidirectional: the option 'layer': no layer: 'LSTM'",
               infer("Bidirectional", {{"layer", std::string("LSTM")}}, {f32({5, 3})}));
  EXPECT_ERROR("Bidirectional: merge_mode must be 'concat', 'sum', 'mul' or 'ave', got 'max'",
               infer("Bidirectional", around("LSTM", units(), {{"merge_mode", std::string("max")}}), {f32({5, 3})}));
  EXPECT_ERROR(
      "Bidirectional: the layer's dtype is bfloat16, that of LSTM is float32; both must "
      "be equal",
      infer("Bidirectional", around("LSTM", units(), {{"dtype", std::string("bfloat16")}}), {f32({5, 3})}));
}

TEST(TimeDistributed, TakesStepsAsRowsOfTheBatch) {
  const Called layer("TimeDistributed", around("Dense", units()), {f32({5, 3})});
  EXPECT_EQ(layer.shape(), (Shape{8, 5, 4}));
  EXPECT_THAT(layer.variables.names, ElementsAre("time_distributed/kernel", "time_distributed/bias"));
  EXPECT_THAT(layer.ops(), ElementsAre("reshape", "matmul", "bias_add", "reshape"));
  EXPECT_ERROR(HasSubstr("expects [steps, ...] per example with at least one step, got float32[]"),
               infer("TimeDistributed", around("Dense", units()), {f32({})}));
  EXPECT_ERROR("TimeDistributed: the option 'layer': too many layers around each other",
               infer("TimeDistributed", {{"layer", std::string(1 << 17, '[')}}, {f32({5, 3})}));
}

}  // namespace
}  // namespace gpubench
