#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/comm/local/ranks.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::Each;
using testing::HasSubstr;

TEST(SideCollective, runs_once_between_each_begin_and_end_with_others_in_between) {
  for (const int ranks : {1, 2, 4}) {
    Ranks group(ranks);
    const auto failures = group.run([&](int rank) {
      ImmediateStream stream;
      Tensors tensors;
      const TensorView first = tensors.add({{30000}, Dtype::i32}), second = tensors.add({{7}, Dtype::i32}),
                       inline_one = tensors.add({{3}, Dtype::i32});
      const auto one = group[rank].beside({.tensors = {first}});
      const auto two = group[rank].beside({.tensors = {second}});
      for (std::int32_t step = 1; step <= 40; ++step) {
        std::fill_n(first.as<std::int32_t>(), 30000, step);
        one->begin(stream);
        std::fill_n(second.as<std::int32_t>(), 7, step * 10);
        two->begin(stream);
        // Every third step something is exchanged by this thread itself before the ends.
        if (step % 3 == 0) {
          std::fill_n(inline_one.as<std::int32_t>(), 3, step * 100);
          group[rank].run({.tensors = {inline_one}}, stream);
          ASSERT_EQ(inline_one.as<std::int32_t>()[2], step * 100 * ranks);
        }
        if (step % 5 == 0) group[rank].barrier();
        one->end(stream);
        ASSERT_EQ(first.as<std::int32_t>()[29999], step * ranks);
        two->end(stream);
        ASSERT_EQ(second.as<std::int32_t>()[6], step * 10 * ranks);
      }
      EXPECT_EQ(group[rank].times().collectives, 2 * 40 + 13);
      EXPECT_EQ(group[rank].times().bytes, 40 * (120000 + 28) + 13 * 12);
    });
    EXPECT_THAT(failures, Each(""));
  }
}

TEST(SideCollective, throws_at_its_end_what_went_wrong_beside) {
  Ranks group(2);
  const auto failures = group.run([&](int rank) {
    ImmediateStream stream;
    Tensors tensors;
    tensors.add({{3 + rank}, Dtype::f32});
    const auto side = group[rank].beside({.tensors = tensors.views()});
    side->begin(stream);
    side->end(stream);
  });
  EXPECT_THAT(failures, Each(HasSubstr("rank 0 has float32[3], rank 1 float32[4] (tensor 1 of 1)")));
}

TEST(SideCollective, given_up_after_its_begin_ends_the_others) {
  Ranks group(2);
  const auto failures = group.run([&](int rank) {
    ImmediateStream stream;
    Tensors tensors;
    tensors.add({{100000}, Dtype::f32});
    if (rank == 1) {
      Tensors unlike;
      unlike.add({{1}, Dtype::f32});
      const auto first = group[1].beside({.tensors = unlike.views()}),
                 second = group[1].beside({.tensors = tensors.views()});
      first->begin(stream);   // waits for rank 0 in vain
      second->begin(stream);  // is not even begun
      return;
    }
    group[0].barrier();
  });
  EXPECT_EQ(failures[1], "");
  EXPECT_THAT(failures[0], testing::AnyOf(HasSubstr("rank 1 gave up an all_reduce that it had begun"),
                                          HasSubstr("all ranks must ask for the same")));
}

TEST(SideCollective, is_refused_when_it_is_made) {
  Ranks group(2);
  Tensors tensors;
  tensors.add({{1}, Dtype::boolean});
  EXPECT_ERROR(HasSubstr("bool tensors cannot be reduced"), group[0].beside({.tensors = tensors.views()}));
}

}  // namespace
}  // namespace gpubench
