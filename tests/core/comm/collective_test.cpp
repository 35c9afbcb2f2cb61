#include "core/comm/collective.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

const TensorType vector4{{4}, Dtype::f32}, vector5{{5}, Dtype::f32}, matrix{{2, 4}, Dtype::f32},
    flags{{4}, Dtype::boolean};

TEST(CollectiveCheck, what_no_communicator_can_do) {
  EXPECT_NO_THROW(check_collective({.tensors = {{&vector4}, {&matrix}}}, 2));
  EXPECT_NO_THROW(check_collective({.kind = CollectiveKind::broadcast, .root = 1, .tensors = {{&flags}}}, 2));
  EXPECT_ERROR(
      "all_reduce: bool tensors cannot be reduced (possible: float32, float16, bfloat16, "
      "int64, int32)",
      check_collective({.tensors = {{&vector4}, {&flags}}}, 2));
  EXPECT_ERROR("broadcast: there is no rank 2 to send (ranks: 0 to 1)",
               check_collective({.kind = CollectiveKind::broadcast, .root = 2, .tensors = {}}, 2));
}

TEST(CollectiveCheck, parts_and_the_whole) {
  EXPECT_NO_THROW(check_collective({.kind = CollectiveKind::all_gather, .tensors = {{&vector4}, {&matrix}}}, 2));
  EXPECT_NO_THROW(check_collective({.kind = CollectiveKind::reduce_scatter, .tensors = {{&matrix}, {&vector4}}}, 2));
  EXPECT_ERROR("all_gather: needs 2 tensors, a part and the whole, got 1",
               check_collective({.kind = CollectiveKind::all_gather, .tensors = {{&vector4}}}, 2));
  EXPECT_ERROR("reduce_scatter: needs 2 tensors, the whole and a part, got 0",
               check_collective({.kind = CollectiveKind::reduce_scatter, .tensors = {}}, 2));
  EXPECT_ERROR(
      "all_gather: with 3 ranks the whole is 3 parts; got the part float32[4] and the whole "
      "float32[2, 4]",
      check_collective({.kind = CollectiveKind::all_gather, .tensors = {{&vector4}, {&matrix}}}, 3));
}

TEST(CollectiveCheck, signatures_tell_requests_apart) {
  const Collective sum{.tensors = {{&vector4}, {&vector5}}};
  const std::vector<Collective> others{
      {.reduction = Reduction::max, .tensors = {{&vector4}, {&vector5}}},
      {.kind = CollectiveKind::broadcast, .tensors = {{&vector4}, {&vector5}}},
      {.root = 1, .tensors = {{&vector4}, {&vector5}}},
      {.tensors = {{&vector5}, {&vector4}}},
      {.tensors = {{&vector4}}},
      {.tensors = {{&vector4}, {&flags}}},
  };
  EXPECT_EQ(signature(sum), signature({.tensors = {{&vector4}, {&vector5}}}));
  for (const Collective& other : others) EXPECT_NE(signature(sum), signature(other));
}

TEST(CollectiveCheck, differences_name_both_ranks) {
  const Collective sum{.tensors = {{&vector4}, {&vector5}}};
  EXPECT_EQ(difference(0, sum, 3, {.tensors = {{&vector4}, {&matrix}}}),
            "rank 0 has float32[5], rank 3 float32[2, 4] (tensor 2 of 2)");
  EXPECT_EQ(difference(0, sum, 1, {.tensors = {{&vector4}}}), "rank 0 has 2 tensors, rank 1 1");
  EXPECT_EQ(difference(0, sum, 1, {.reduction = Reduction::max, .tensors = {}}),
            "rank 0 asks for all_reduce (sum), rank 1 for all_reduce (max)");
  EXPECT_EQ(difference(0, sum, 1, {.kind = CollectiveKind::broadcast, .root = 1, .tensors = {}}),
            "rank 0 asks for all_reduce (sum), rank 1 for broadcast from rank 1");
}

TEST(TensorPieces, ranges_that_meet_cover_every_byte_once) {
  const std::vector<TensorType> types{
      {{33}, Dtype::f32}, {{0}, Dtype::f32}, {{1}, Dtype::i64}, {{1000}, Dtype::bf16}, {{7, 11}, Dtype::f32}};
  std::vector<TensorView> tensors;
  for (const TensorType& type : types) tensors.push_back({&type});
  TensorPieces pieces;
  pieces.assign(tensors);
  ASSERT_EQ(pieces.bytes(), 132U + 8 + 2000 + 308);
  for (const std::size_t length : {1U, 7U, 64U, 100U, 333U, 5000U}) {
    std::vector<std::size_t> covered(types.size(), 0);
    for (std::size_t from = 0; from < pieces.bytes(); from += length) {
      pieces.for_each(from, std::min(from + length, pieces.bytes()),
                      [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
                        EXPECT_EQ(first, covered[tensor]);  // in order, without a gap
                        EXPECT_EQ(bytes % size_of(types[tensor].dtype), 0U);
                        covered[tensor] += bytes;
                      });
    }
    for (std::size_t i = 0; i < types.size(); ++i) EXPECT_EQ(covered[i], types[i].bytes());
  }
}

TEST(TensorPieces, of_nothing) {
  TensorPieces pieces;
  pieces.assign({});
  EXPECT_EQ(pieces.bytes(), 0U);
  pieces.for_each(0, 0, [](std::size_t, std::size_t, std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace gpubench
