// All collectives and types against plain sums.
#include "core/math/half.h"
#include "tests/core/comm/nccl/gpus.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// Values that are exact in every type: rank r's element i is r + i % 7.
template <class T, class Store>
std::vector<T> values_of(std::size_t rank, std::size_t count, const Store& store) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = store(static_cast<float>(rank + i % 7));
  return values;
}

class NcclCollectives : public NcclTest {
 protected:
  template <class T, class Store>
  void check_reductions(Dtype dtype, const Store& store) {
    for (const Reduction reduction : {Reduction::sum, Reduction::max}) {
      std::vector<GpuTensor> small, large;
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        small.emplace_back(gpu(r), dtype, values_of<T>(r, 1, store));
        large.emplace_back(gpu(r), dtype, values_of<T>(r, 1000, store));
      }
      run_all([&](std::size_t r) {
        return Collective{.reduction = reduction, .tensors = {small[r].view(), large[r].view()}};
      });
      const auto expected = [&](std::size_t i) {
        const auto own = static_cast<float>(i % 7);
        return store(reduction == Reduction::sum ? 3 * own + 0 + 1 + 2 : own + 2);
      };
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        const std::vector<T> one = small[r].template get<T>(), all = large[r].template get<T>();
        EXPECT_EQ(std::memcmp(one.data(), std::vector<T>{expected(0)}.data(), sizeof(T)), 0) << to_string(dtype);
        for (std::size_t i = 0; i < all.size(); ++i) {
          const T wanted = expected(i);
          ASSERT_EQ(std::memcmp(&all[i], &wanted, sizeof(T)), 0) << to_string(dtype) << " of rank " << r << " at " << i;
        }
      }
    }
  }
};

template <class T>
constexpr auto plain = [](float value) { return static_cast<T>(value); };

TEST_F(NcclCollectives, ListsOfTensorsOfEveryTypeAreReducedInPlace) {
  make_ranks(3);
  check_reductions<float>(Dtype::f32, plain<float>);
  check_reductions<std::int64_t>(Dtype::i64, plain<std::int64_t>);
  check_reductions<std::int32_t>(Dtype::i32, plain<std::int32_t>);
  check_reductions<math::Float16>(Dtype::f16, &math::to_float16);
  check_reductions<math::Bfloat16>(Dtype::bf16, &math::to_bfloat16);
}

TEST_F(NcclCollectives, TensorsOfOneListMayDifferInTypeAndBeEmpty) {
  make_ranks(2);
  std::vector<GpuTensor> floats, counts, nothing;
  for (std::size_t r = 0; r < 2; ++r) {
    floats.emplace_back(gpu(r), Dtype::f32, std::vector<float>{1.5F, 2});
    counts.emplace_back(gpu(r), Dtype::i64, std::vector<std::int64_t>{std::int64_t{1} << 40});
    nothing.emplace_back(gpu(r), Dtype::f32, std::vector<float>{});
  }
  run_all([&](std::size_t r) {
    return Collective{.tensors = {floats[r].view(), nothing[r].view(), counts[r].view()}};
  });
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_THAT(floats[r].get<float>(), ElementsAre(3, 4));
    EXPECT_THAT(counts[r].get<std::int64_t>(), ElementsAre(std::int64_t{1} << 41));
  }
}

TEST_F(NcclCollectives, OneRankIsARankToo) {
  make_ranks(1);
  const GpuTensor values(gpu(0), Dtype::f32, std::vector<float>{1, 2, 3});
  run_all([&](std::size_t) { return Collective{.tensors = {values.view()}}; });
  EXPECT_THAT(values.get<float>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(rank(0).size(), 1);
  rank(0).barrier();
}

TEST_F(NcclCollectives, PartsAreGatheredAndSumsScattered) {
  make_ranks(2);
  std::vector<GpuTensor> parts, wholes;
  for (std::size_t r = 0; r < 2; ++r) {
    const auto number = static_cast<float>(r);
    parts.emplace_back(gpu(r), Dtype::f32, std::vector<float>{10 + number, 20 + number});
    wholes.emplace_back(gpu(r), Dtype::f32, std::vector<float>(4, -1));
  }
  run_all([&](std::size_t r) {
    return Collective{.kind = CollectiveKind::all_gather, .tensors = {parts[r].view(), wholes[r].view()}};
  });
  for (std::size_t r = 0; r < 2; ++r) EXPECT_THAT(wholes[r].get<float>(), ElementsAre(10, 20, 11, 21));
  run_all([&](std::size_t r) {
    return Collective{.kind = CollectiveKind::reduce_scatter, .tensors = {wholes[r].view(), parts[r].view()}};
  });
  EXPECT_THAT(parts[0].get<float>(), ElementsAre(20, 40));
  EXPECT_THAT(parts[1].get<float>(), ElementsAre(22, 42));
}

TEST_F(NcclCollectives, APartMayLieAtItsPlaceInTheWhole) {
  make_ranks(2);
  const TensorType part_type{{2}, Dtype::f32};
  std::vector<GpuTensor> wholes;
  for (std::size_t r = 0; r < 2; ++r)
    wholes.emplace_back(gpu(r), Dtype::f32, std::vector<float>(4, static_cast<float>(r)));
  run_all([&](std::size_t r) {
    const TensorView part{&part_type, wholes[r].view().data + r * part_type.bytes()};
    return Collective{.kind = CollectiveKind::all_gather, .tensors = {part, wholes[r].view()}};
  });
  for (std::size_t r = 0; r < 2; ++r) EXPECT_THAT(wholes[r].get<float>(), ElementsAre(0, 0, 1, 1));
}

TEST_F(NcclCollectives, AnyTypeIsBroadcast) {
  make_ranks(3);
  std::vector<GpuTensor> shorts, flags;
  for (std::size_t r = 0; r < 3; ++r) {
    shorts.emplace_back(gpu(r), Dtype::i16, std::vector<std::int16_t>(5, static_cast<std::int16_t>(1000 * r)));
    flags.emplace_back(gpu(r), Dtype::boolean, std::vector<std::uint8_t>{r == 2});
  }
  run_all([&](std::size_t r) {
    return Collective{.kind = CollectiveKind::broadcast, .root = 2, .tensors = {shorts[r].view(), flags[r].view()}};
  });
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_THAT(shorts[r].get<std::int16_t>(), Each(2000));
    EXPECT_THAT(flags[r].get<std::uint8_t>(), ElementsAre(1));
  }
}

TEST_F(NcclCollectives, WhatNoCommunicatorCanDoIsRefused) {
  make_ranks(2);
  const GpuTensor shorts(gpu(0), Dtype::i16, std::vector<std::int16_t>{1, 2});
  const GpuTensor floats(gpu(0), Dtype::f32, std::vector<float>{1, 2, 3});
  Stream& stream = gpu(0).stream();
  EXPECT_ERROR(HasSubstr("all_reduce: int16 tensors cannot be reduced"),
               rank(0).run({.tensors = {shorts.view()}}, stream));
  EXPECT_ERROR(HasSubstr("all_reduce: int16 tensors cannot be reduced"), rank(0).beside({.tensors = {shorts.view()}}));
  EXPECT_ERROR("broadcast: there is no rank 2 to send (ranks: 0 to 1)",
               rank(0).run({.kind = CollectiveKind::broadcast, .root = 2, .tensors = {floats.view()}}, stream));
}

}  // namespace
}  // namespace gpubench
