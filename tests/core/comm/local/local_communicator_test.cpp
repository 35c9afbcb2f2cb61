#include "core/comm/local/local_communicator.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/comm/reduce.h"
#include "tests/core/comm/local/ranks.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::Each;
using testing::HasSubstr;

/// Types of a model's gradients and states; `scale` 1 goes through staged copies, 300 does not.
std::vector<TensorType> mixed_types(std::int64_t scale) {
  return {{{3, 7 * scale}, Dtype::f32}, {{}, Dtype::f32},          {{0, 5}, Dtype::f32}, {{41 * scale}, Dtype::f16},
          {{33 * scale}, Dtype::bf16},  {{2 * scale}, Dtype::i64}, {{19}, Dtype::i32},   {{129 * scale}, Dtype::f32}};
}

std::vector<Tensors> filled(const std::vector<TensorType>& types, int ranks) {
  std::vector<Tensors> all(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    for (const TensorType& type : types) fill(all[static_cast<std::size_t>(rank)].add(type), rank);
  }
  return all;
}

/// What reduce() makes of all ranks' tensors, by rank order.
std::vector<std::byte> reduced(const std::vector<TensorType>& types, int ranks, Reduction reduction) {
  std::vector<Tensors> all = filled(types, ranks);
  Tensors result = std::move(filled(types, 1)[0]);
  for (std::size_t i = 0; i < types.size(); ++i) {
    std::vector<const std::byte*> sources;
    for (Tensors& one : all) sources.push_back(one.views()[i].data);
    std::byte* const to = result.views()[i].data;
    reduce(types[i].dtype, reduction, sources, {&to, 1}, static_cast<std::size_t>(types[i].elements()));
  }
  return result.bytes();
}

struct Case {
  int ranks;
  std::int64_t scale;
};
class LocalCollectives : public testing::TestWithParam<Case> {};

TEST_P(LocalCollectives, all_reduce_gives_all_ranks_the_same_bytes) {
  const auto [ranks, scale] = GetParam();
  const auto types = mixed_types(scale);
  for (const std::optional<LocalAlgorithm> chosen :
       {std::optional<LocalAlgorithm>(), std::optional(LocalAlgorithm::reduction_to_one),
        std::optional(LocalAlgorithm::parts)}) {
    for (const Reduction reduction : {Reduction::sum, Reduction::max}) {
      Ranks group(ranks, chosen);
      std::vector<Tensors> all = filled(types, ranks);
      const auto failures = group.run([&](int rank) {
        ImmediateStream stream;
        group[rank].run({.reduction = reduction, .tensors = all[static_cast<std::size_t>(rank)].views()}, stream);
        EXPECT_EQ(stream.synchronized, 1);
      });
      EXPECT_THAT(failures, Each(""));
      // Along the tree sums have an order of their own, the same every time.
      const bool tree = group[0].algorithm({.tensors = all[0].views()}) == "tree";
      const auto expected = tree ? all[0].bytes() : reduced(types, ranks, reduction);
      for (const Tensors& one : all) EXPECT_EQ(one.bytes(), expected) << (chosen ? to_string(*chosen) : "automatic");
    }
  }
}

TEST_P(LocalCollectives, broadcast_from_every_root) {
  const auto [ranks, scale] = GetParam();
  const std::vector<TensorType> types{{{5 * scale}, Dtype::f32}, {{321 * scale + 1}, Dtype::u8}};
  Ranks group(ranks);
  for (int root = 0; root < ranks; ++root) {
    std::vector<Tensors> all = filled(types, ranks);
    const auto sent = all[static_cast<std::size_t>(root)].bytes();
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      group[rank].run(
          {.kind = CollectiveKind::broadcast, .root = root, .tensors = all[static_cast<std::size_t>(rank)].views()},
          stream);
    });
    EXPECT_THAT(failures, Each(""));
    for (const Tensors& one : all) EXPECT_EQ(one.bytes(), sent);
  }
}

TEST_P(LocalCollectives, all_gather_joins_the_parts_by_rank_and_in_place) {
  const auto [ranks, scale] = GetParam();
  const TensorType part{{3 * scale}, Dtype::f32}, whole{{ranks, 3 * scale}, Dtype::f32};
  Ranks group(ranks);
  for (const bool in_place : {false, true}) {
    std::vector<Tensors> parts = filled({part}, ranks), wholes = filled({whole}, ranks);
    std::vector<std::byte> expected;
    for (const Tensors& one : parts) {
      const auto bytes = one.bytes();
      expected.insert(expected.end(), bytes.begin(), bytes.end());
    }
    const auto failures = group.run([&](int rank) {
      const auto own = static_cast<std::size_t>(rank);
      TensorView from = parts[own].views()[0];
      const TensorView to = wholes[own].views()[0];
      if (in_place) {
        from.data = to.data + own * part.bytes();
        fill(from, rank);
      }
      ImmediateStream stream;
      group[rank].run({.kind = CollectiveKind::all_gather, .tensors = {from, to}}, stream);
    });
    EXPECT_THAT(failures, Each(""));
    for (const Tensors& one : wholes) EXPECT_EQ(one.bytes(), expected) << "in place: " << in_place;
  }
}

TEST_P(LocalCollectives, reduce_scatter_leaves_each_rank_its_row) {
  const auto [ranks, scale] = GetParam();
  const TensorType part{{3 * scale}, Dtype::bf16}, whole{{ranks, 3 * scale}, Dtype::bf16};
  const auto sums = reduced({whole}, ranks, Reduction::sum);
  Ranks group(ranks);
  for (const bool in_place : {false, true}) {
    std::vector<Tensors> parts = filled({part}, ranks), wholes = filled({whole}, ranks);
    const auto failures = group.run([&](int rank) {
      const auto own = static_cast<std::size_t>(rank);
      const TensorView from = wholes[own].views()[0];
      TensorView to = parts[own].views()[0];
      if (in_place) to.data = from.data + own * part.bytes();
      ImmediateStream stream;
      group[rank].run({.kind = CollectiveKind::reduce_scatter, .tensors = {from, to}}, stream);
      const auto* const row = sums.data() + own * part.bytes();
      EXPECT_EQ(std::vector(to.data, to.data + part.bytes()), std::vector(row, row + part.bytes()));
    });
    EXPECT_THAT(failures, Each(""));
  }
}

TEST_P(LocalCollectives, many_in_a_row_of_changing_kinds) {
  const auto [given_ranks, given_scale] = GetParam();
  const auto ranks = given_ranks;  // clang 14 has lambdas capture no structured bindings
  const auto scale = given_scale;
  Ranks group(ranks);
  const auto failures = group.run([&](int rank) {
    ImmediateStream stream;
    Tensors tensors;
    const TensorView small = tensors.add({{1}, Dtype::i64}), large = tensors.add({{5000}, Dtype::i64});
    for (std::int64_t round = 1; round <= 50 * std::min<std::int64_t>(scale, 4); ++round) {
      small.as<std::int64_t>()[0] = round * (rank + 1);
      for (std::int64_t i = 0; i < 5000; ++i) large.as<std::int64_t>()[i] = round + rank + i;
      group[rank].run({.tensors = {small}}, stream);
      if (round % 3 == 0) group[rank].barrier();
      group[rank].run({.tensors = {large}}, stream);
      group[rank].run({.kind = CollectiveKind::broadcast, .root = ranks - 1, .tensors = {small, large}}, stream);
      ASSERT_EQ(small.as<std::int64_t>()[0], round * ranks * (ranks + 1) / 2);
      for (std::int64_t i = 0; i < 5000; ++i) {
        ASSERT_EQ(large.as<std::int64_t>()[i], ranks * (round + i) + ranks * (ranks - 1) / 2);
      }
    }
    const CommunicationTimes times = group[rank].times();
    std::int64_t last = 0;
    for (const std::int64_t arrivals : times.last_arrivals) last += arrivals;
    EXPECT_EQ(times.collectives, 150 * std::min<std::int64_t>(scale, 4));
    EXPECT_EQ(last, times.collectives);
  });
  EXPECT_THAT(failures, Each(""));
}

INSTANTIATE_TEST_SUITE_P(sizes, LocalCollectives,
                         testing::Values(Case{1, 1}, Case{1, 300}, Case{2, 1}, Case{2, 300}, Case{3, 1}, Case{3, 300},
                                         Case{5, 2000}, Case{20, 1}),
                         [](const auto& one) {
                           return std::to_string(one.param.ranks) + "_ranks_x" + std::to_string(one.param.scale);
                         });

TEST(LocalCommunicator, many_ranks_add_small_tensors_along_a_tree_exactly_and_alike_every_time) {
  constexpr int ranks = 19;
  Ranks group(ranks);
  const std::vector<TensorType> types = mixed_types(1);
  std::vector<std::vector<std::byte>> runs;
  for (int run = 0; run < 3; ++run) {
    std::vector<Tensors> all = filled(types, ranks);
    std::vector<Tensors> exact(ranks);
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      group[rank].run({.tensors = all[static_cast<std::size_t>(rank)].views()}, stream);
      Tensors& numbers = exact[static_cast<std::size_t>(rank)];
      for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32, Dtype::i64}) {
        const TensorView tensor = numbers.add({{7}, dtype});
        for (std::int64_t i = 0; i < 7; ++i) set(tensor, i, static_cast<float>(rank % 3 + i));
      }
      EXPECT_EQ(group[rank].algorithm({.tensors = numbers.views()}), "tree");
      group[rank].run({.tensors = numbers.views()}, stream);
      for (const TensorView& tensor : numbers.views()) {
        Tensors sums;
        const TensorView sum = sums.add(*tensor.type);
        for (std::int64_t i = 0; i < 7; ++i) set(sum, i, static_cast<float>(18 + ranks * i));
        EXPECT_EQ(std::memcmp(tensor.data, sum.data, sum.type->bytes()), 0) << to_string(*tensor.type);
      }
    });
    EXPECT_THAT(failures, Each(""));
    for (const Tensors& one : all) EXPECT_EQ(one.bytes(), all[0].bytes());
    runs.push_back(all[0].bytes());
  }
  EXPECT_THAT(runs, Each(runs[0]));
}

TEST(LocalCommunicator, among_many_ranks_too_all_are_told_who_asks_for_something_else) {
  for (const std::int64_t extent : {1, 100000}) {
    Ranks group(20);
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      Tensors tensors;
      tensors.add({{rank == 17 ? extent : 3}, Dtype::f32});
      group[rank].run({.tensors = tensors.views()}, stream);
    });
    EXPECT_THAT(failures, Each("all_reduce: all ranks must ask for the same; rank 0 has float32[3], rank 17 float32[" +
                               std::to_string(extent) + "] (tensor 1 of 1)"));
  }
}

TEST(LocalCommunicator, says_how_it_works) {
  Ranks group(2), to_one(2, LocalAlgorithm::reduction_to_one), ring(2, LocalAlgorithm::ring);
  const TensorType small{{16}, Dtype::f32}, large{{1 << 20}, Dtype::f32};
  EXPECT_EQ(group[1].name(), "local");
  EXPECT_EQ(group[1].rank(), 1);
  EXPECT_EQ(group[0].size(), 2);
  EXPECT_EQ(group[0].algorithm({.tensors = {{&small, nullptr}}}), "direct");
  EXPECT_EQ(group[0].algorithm({.tensors = {{&large, nullptr}}}), "parts");
  EXPECT_EQ(to_one[0].algorithm({.tensors = {{&large, nullptr}}}), "reduction_to_one");
  EXPECT_EQ(ring[0].algorithm({.tensors = {{&large, nullptr}}}), "ring");
  EXPECT_EQ(ring[0].algorithm({.tensors = {{&small, nullptr}}}), "ring");
  EXPECT_EQ(ring[0].algorithm({.kind = CollectiveKind::broadcast, .tensors = {{&large, nullptr}}}), "direct");
  EXPECT_EQ(to_one[0].algorithm({.kind = CollectiveKind::broadcast, .tensors = {{&large, nullptr}}}), "direct");
}

TEST(LocalCommunicator, ranks_that_ask_for_different_things_are_all_told_and_may_go_on) {
  for (const std::int64_t extent : {1, 100000}) {
    Ranks group(3);
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      Tensors tensors;
      tensors.add({{2}, Dtype::f32});
      tensors.add({{extent, rank == 2 ? 4 : 3}, Dtype::f32});
      EXPECT_ERROR("all_reduce: all ranks must ask for the same; rank 0 has float32[" + std::to_string(extent) +
                       ", 3], rank 2 float32[" + std::to_string(extent) + ", 4] (tensor 2 of 2)",
                   group[rank].run({.tensors = tensors.views()}, stream));
      Tensors same;
      const TensorView one = same.add({{1}, Dtype::i32});
      one.as<std::int32_t>()[0] = 1;
      group[rank].run({.tensors = {one}}, stream);
      EXPECT_EQ(one.as<std::int32_t>()[0], 3);
    });
    EXPECT_THAT(failures, Each(""));
  }
}

TEST(LocalCommunicator, impossible_requests_are_refused_before_anybody_is_met) {
  Ranks group(2);
  ImmediateStream stream;
  Tensors tensors;
  tensors.add({{4}, Dtype::u8});
  EXPECT_ERROR(HasSubstr("all_reduce: uint8 tensors cannot be reduced"),
               group[0].run({.tensors = tensors.views()}, stream));
}

}  // namespace
}  // namespace gpubench
