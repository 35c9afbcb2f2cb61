#include "core/comm/local/local_ring.h"

#include <array>
#include <atomic>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "core/base/error.h"
#include "core/comm/local/rank_tree.h"
#include "core/comm/reduce.h"
#include "tests/core/comm/local/ranks.h"

namespace gpubench {
namespace {

using testing::Each;

/// Odd sizes of all types that are added; `scale` 1 leaves parts empty, 4000 takes several pieces for each of few
/// ranks.
std::vector<TensorType> types(std::int64_t scale) {
  return {{{3 * scale}, Dtype::f32},     {{0, 5}, Dtype::f32},          {{41 * scale + 1}, Dtype::f16},
          {{33 * scale}, Dtype::bf16},   {{2 * scale + 1}, Dtype::i64}, {{19}, Dtype::i32},
          {{29 * scale + 3}, Dtype::f32}};
}

Tensors filled(std::int64_t scale, int rank) {
  Tensors tensors;
  for (const TensorType& type : types(scale)) fill(tensors.add(type), rank);
  return tensors;
}

/// The sums of each part, from the rank of its place on around the ring.
std::vector<std::byte> around(const std::vector<int>& ring, std::int64_t scale, Reduction reduction) {
  Tensors result = filled(scale, 0);
  TensorPieces pieces;
  pieces.assign(result.views());
  for (std::size_t part = 0; part < ring.size(); ++part) {
    for (std::size_t next = 0; next < ring.size(); ++next) {
      Tensors one = filled(scale, ring[(part + next) % ring.size()]);
      const std::size_t from = pieces.bytes() * part / ring.size(), to = pieces.bytes() * (part + 1) / ring.size();
      pieces.for_each(from, to, [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
        std::byte* const sum = result.views()[tensor].data + first;
        const std::byte* const own = one.views()[tensor].data + first;
        if (next == 0) {
          std::memcpy(sum, own, bytes);
          return;
        }
        const Dtype dtype = types(scale)[tensor].dtype;
        const std::array<const std::byte*, 2> sources{sum, own};
        reduce(dtype, reduction, sources, {&sum, 1}, bytes / size_of(dtype));
      });
    }
  }
  return result.bytes();
}

TEST(LocalRing, adds_each_part_in_the_order_of_the_ring_on_all_ranks_alike) {
  for (const std::vector<int>& nodes :
       {std::vector<int>{0, 0}, {0, 0, 0}, {0, 1, 0, 1}, {3, 1, 1, 0, 3, 2, 2}, std::vector<int>(11)}) {
    const auto ranks = static_cast<int>(nodes.size());
    for (const std::int64_t scale : {1, 77, ranks < 5 ? 4000 : 300}) {
      for (const Reduction reduction : {Reduction::sum, Reduction::max}) {
        Ranks group(nodes, LocalAlgorithm::ring);
        const auto expected = around(rank_ring(nodes), scale, reduction);
        const auto failures = group.run([&](int rank) {
          ImmediateStream stream;
          for (int round = 0; round < 2; ++round) {
            Tensors tensors = filled(scale, rank);
            group[rank].run({.reduction = reduction, .tensors = tensors.views()}, stream);
            ASSERT_EQ(tensors.bytes(), expected) << ranks << " ranks, scale " << scale;
          }
        });
        EXPECT_THAT(failures, Each(""));
      }
    }
  }
}

TEST(LocalRing, runs_beside_kernels_among_other_collectives) {
  Ranks group(3, LocalAlgorithm::ring);
  const auto failures = group.run([&](int rank) {
    ImmediateStream stream;
    Tensors beside, inline_one;
    const TensorView large = beside.add({{150001}, Dtype::i32}), small = inline_one.add({{5}, Dtype::i64});
    const auto side = group[rank].beside({.tensors = beside.views()});
    for (int round = 0; round < 10; ++round) {
      for (std::int64_t i = 0; i < large.elements(); ++i) large.as<std::int32_t>()[i] = static_cast<int>(i) + rank;
      small.as<std::int64_t>()[4] = round;
      side->begin(stream);
      group[rank].run({.tensors = inline_one.views()}, stream);
      side->end(stream);
      ASSERT_EQ(small.as<std::int64_t>()[4], 3 * round);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < large.elements(); ++i) wrong += large.as<std::int32_t>()[i] != 3 * i + 3;
      ASSERT_EQ(wrong, 0);
      group[rank].barrier();
    }
  });
  EXPECT_THAT(failures, Each(""));
}

TEST(LocalRing, ends_those_who_wait_for_their_neighbour_and_leaves_their_memory_alone) {
  for (int round = 0; round < 40; ++round) {
    Ranks group(4, LocalAlgorithm::ring);
    std::atomic<int> rounds = 0;
    std::thread ender([&] {
      while (rounds < round % 5) std::this_thread::yield();
      group[2].abort("rank 2 is gone");
    });
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      Tensors tensors = filled(2000, rank);
      for (;;) {
        group[rank].run({.tensors = tensors.views()}, stream);
        ++rounds;
      }
    });
    ender.join();
    ASSERT_THAT(failures, Each("rank 2 is gone"));
  }
}

}  // namespace
}  // namespace gpubench
