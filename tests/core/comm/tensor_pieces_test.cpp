#include "core/comm/tensor_pieces.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

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
