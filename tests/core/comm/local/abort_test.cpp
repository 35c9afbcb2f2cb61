// Ranks that fail, leave or are taken apart while others wait for them.
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "tests/core/comm/local/ranks.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::Each;

constexpr std::int64_t staged = 8, in_place = 1 << 16;

TEST(LocalAbort, ends_every_wait_with_the_reason_now_and_later) {
  for (const std::int64_t extent : {staged, in_place}) {
    Ranks group(3);
    std::atomic<int> waiting = 0;
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      Tensors tensors;
      tensors.add({{extent}, Dtype::f32});
      if (rank == 2) {
        while (waiting < 2) std::this_thread::yield();
        group[2].abort("replica 2: out of memory");
        group[2].abort("too late");
      } else {
        ++waiting;
      }
      group[rank].run({.tensors = tensors.views()}, stream);
    });
    EXPECT_THAT(failures, Each("replica 2: out of memory"));
    ImmediateStream stream;
    Tensors tensors;
    tensors.add({{extent}, Dtype::f32});
    EXPECT_ERROR_OF(PeerLost, "replica 2: out of memory", group[0].run({.tensors = tensors.views()}, stream));
    EXPECT_ERROR_OF(PeerLost, "replica 2: out of memory", group[1].barrier());
    const auto side = group[1].beside({.tensors = tensors.views()});
    side->begin(stream);
    EXPECT_ERROR_OF(PeerLost, "replica 2: out of memory", side->end(stream));
  }
}

TEST(LocalAbort, at_any_moment_leaves_no_rank_behind) {
  for (int round = 0; round < 200; ++round) {
    Ranks group(3, round % 2 == 0 ? std::nullopt : std::optional(LocalAlgorithm::ring));
    std::atomic<int> done = 0;
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      // Freed as soon as this rank gives up: a rank that still worked on them would be caught by a sanitizer.
      Tensors tensors;
      tensors.add({{in_place}, Dtype::f32});
      for (int collective = 0;; ++collective) {
        if (rank == 1 && collective == 3) {
          while (done < round % 7) std::this_thread::yield();
          group[1].abort("stopped");
        }
        group[rank].run({.tensors = tensors.views()}, stream);
        ++done;
      }
    });
    ASSERT_THAT(failures, Each("stopped"));
  }
}

TEST(LocalAbort, ends_those_who_wait_along_a_tree) {
  Ranks group(20);
  std::atomic<int> waiting = 0;
  const auto failures = group.run([&](int rank) {
    ImmediateStream stream;
    Tensors tensors;
    tensors.add({{staged}, Dtype::f32});
    if (rank == 13) {
      while (waiting < 19) std::this_thread::yield();
      group[13].abort("rank 13 has no memory left");
    }
    ++waiting;
    group[rank].run({.tensors = tensors.views()}, stream);
  });
  EXPECT_THAT(failures, Each("rank 13 has no memory left"));
}

TEST(LocalAbort, a_communicator_that_is_destroyed_ends_the_others_waits) {
  for (const bool beside : {false, true}) {
    Ranks group(3);
    std::atomic<int> waiting = 0;
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      Tensors tensors;
      tensors.add({{in_place}, Dtype::f32});
      if (rank == 0) {
        while (waiting < 2) std::this_thread::yield();
        group.communicators[0].reset();
        throw PeerLost("rank 0 has ended: it exchanges nothing any more");
      }
      if (beside) {
        const auto side = group[rank].beside({.tensors = tensors.views()});
        side->begin(stream);
        ++waiting;
        side->end(stream);
      } else {
        ++waiting;
        group[rank].run({.tensors = tensors.views()}, stream);
      }
    });
    EXPECT_THAT(failures, Each("rank 0 has ended: it exchanges nothing any more"));
  }
}

TEST(LocalAbort, what_was_done_before_a_rank_left_stays_done) {
  for (int round = 0; round < 100; ++round) {
    Ranks group(3);
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      Tensors tensors;
      const TensorView view = tensors.add({{in_place}, Dtype::i32});
      view.as<std::int32_t>()[in_place - 1] = 1;
      group[rank].run({.tensors = tensors.views()}, stream);
      EXPECT_EQ(view.as<std::int32_t>()[in_place - 1], 3);
      group.communicators[static_cast<std::size_t>(rank)].reset();
    });
    ASSERT_THAT(failures, Each(""));
  }
}

}  // namespace
}  // namespace gpubench
