// All-reduces that are told which way to take.
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/comm/local/local_communicator.h"
#include "tests/core/comm/local/ranks.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::Each;

TEST(LocalAlgorithm, names) {
  EXPECT_EQ(parse_local_algorithm("ring"), LocalAlgorithm::ring);
  EXPECT_EQ(to_string(LocalAlgorithm::reduction_to_one), "reduction_to_one");
  EXPECT_ERROR("unknown algorithm 'reduction_to_one' (known: direct, tree, parts, ring)",
               parse_local_algorithm("reduction_to_one"));
}

TEST(LocalAlgorithm, every_one_adds_up_small_tensors_among_few_ranks_and_many) {
  for (const int ranks : {1, 2, 3, 12}) {
    for (const auto chosen :
         {LocalAlgorithm::direct, LocalAlgorithm::tree, LocalAlgorithm::parts, LocalAlgorithm::ring}) {
      Ranks group(ranks, chosen);
      const auto failures = group.run([&](int rank) {
        ImmediateStream stream;
        for (int round = 0; round < 20; ++round) {
          Tensors tensors;
          const TensorView numbers = tensors.add({{3}, Dtype::i32}), halves = tensors.add({{70}, Dtype::bf16});
          Tensors expected;
          const TensorView sums = expected.add({{70}, Dtype::bf16});
          for (std::int64_t i = 0; i < 3; ++i) numbers.as<std::int32_t>()[i] = rank + round;
          for (std::int64_t i = 0; i < 70; ++i) {
            set(halves, i, static_cast<float>(1 + i % 2));
            set(sums, i, static_cast<float>(ranks * (1 + i % 2)));
          }
          group[rank].run({.tensors = tensors.views()}, stream);
          EXPECT_EQ(numbers.as<std::int32_t>()[2], ranks * round + ranks * (ranks - 1) / 2);
          EXPECT_EQ(std::memcmp(halves.data, sums.data, sums.type->bytes()), 0);
          group[rank].barrier();
        }
        EXPECT_EQ(group[rank].algorithm({.tensors = {}}), to_string(chosen));
      });
      EXPECT_THAT(failures, Each("")) << to_string(chosen) << ", " << ranks << " ranks";
    }
  }
}

TEST(LocalAlgorithm, what_goes_through_copies_takes_no_large_messages) {
  Ranks group(2, LocalAlgorithm::tree);
  ImmediateStream stream;
  Tensors tensors;
  tensors.add({{1 << 14}, Dtype::f32});
  EXPECT_ERROR(
      "all_reduce: the algorithm \"tree\" is for messages of up to 2 KiB, got 64 KiB; "
      "\"parts\" and \"ring\" take any",
      group[0].run({.tensors = tensors.views()}, stream));
  EXPECT_ERROR(testing::HasSubstr("the algorithm \"tree\" is for messages of up to 2 KiB"),
               group[0].beside({.tensors = tensors.views()}));
}

}  // namespace
}  // namespace gpubench
