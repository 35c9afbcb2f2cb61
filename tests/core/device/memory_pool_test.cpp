#include "core/device/memory_pool.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Host memory with a counter and an end.
class CountedSource final : public MemorySource {
 public:
  CountedSource(std::size_t& taken, std::size_t capacity) : taken_(taken), capacity_(capacity) {}
  std::byte* allocate(std::size_t bytes) override {
    if (taken_ + bytes > capacity_) return nullptr;
    taken_ += bytes;
    return static_cast<std::byte*>(std::aligned_alloc(MemoryPool::alignment, bytes));
  }
  void release(std::byte* memory, std::size_t bytes) override {
    taken_ -= bytes;
    std::free(memory);
  }

 private:
  std::size_t& taken_;
  std::size_t capacity_;
};

class MemoryPoolTest : public testing::Test {
 protected:
  std::unique_ptr<MemoryPool> pool(PoolOptions options, std::size_t capacity = 64 * mib) {
    return std::make_unique<MemoryPool>("cpu:0", std::make_unique<CountedSource>(taken_, capacity), options);
  }
  std::size_t taken_ = 0;
};

TEST_F(MemoryPoolTest, GrowsOnDemandAndCoalesces) {
  auto p = pool({});
  EXPECT_EQ(p->use().reserved, 0U);
  {
    Buffer a = p->allocate(mib, "a"), b = p->allocate(mib / 2, "b"), c = p->allocate(mib / 2, "c");
    EXPECT_EQ(p->use().in_use, 2 * mib);
    EXPECT_EQ(p->use().reserved, 2 * mib);
    b = {};
    EXPECT_EQ(p->use().largest_free, mib / 2);
    a = {};
    EXPECT_EQ(p->use().largest_free, mib + mib / 2);
  }
  EXPECT_EQ(p->use().in_use, 0U);
  EXPECT_EQ(p->use().peak, 2 * mib);
  EXPECT_EQ(p->use().largest_free, 2 * mib);
  p->trim();
  EXPECT_EQ(taken_, 0U);
}

TEST_F(MemoryPoolTest, PreallocationTakesTheLimitAtFirstUse) {
  auto p = pool({.growth = false, .limit = 8 * mib});
  EXPECT_EQ(taken_, 0U);
  const Buffer one = p->allocate(100, "one");
  EXPECT_EQ(taken_, 8 * mib);
  EXPECT_THROW(p->allocate(8 * mib, "two"), OutOfMemory);
}

TEST_F(MemoryPoolTest, OutOfMemoryNamesTheLargestBlocks) {
  auto p = pool({.limit = 4 * mib});
  const Buffer kernel = p->allocate(3 * mib, "dense/kernel"), bias = p->allocate(1024, "dense/bias");
  EXPECT_ERROR_OF(
      OutOfMemory,
      "cpu:0: out of memory: 2 MiB asked for 'dense/gradient', 3 MiB in use of a limit of 4 MiB; 1023 KiB free "
      "in one piece; largest: dense/kernel 3 MiB, dense/bias 1 KiB",
      p->allocate(2 * mib, "dense/gradient"));
  EXPECT_NO_THROW(p->allocate(512 * 1024, "still works"));
}

TEST_F(MemoryPoolTest, OutOfMemoryTellsThatWhatIsFreeIsInPieces) {
  auto p = pool({.growth = false, .limit = 8 * mib});
  std::vector<Buffer> tensors;
  for (int i = 0; i < 8; ++i) tensors.push_back(p->allocate(mib, "tensor"));
  for (std::size_t i = 0; i < 8; i += 2) tensors[i] = {};
  EXPECT_ERROR_OF(
      OutOfMemory,
      testing::HasSubstr("4 MiB in use of a limit of 8 MiB; 4 MiB free in pieces of at most 1 MiB; largest: "),
      p->allocate(2 * mib, "large"));
}

TEST_F(MemoryPoolTest, FreeBlocksMakeRoomUnderALimit) {
  auto p = pool({.limit = 8 * mib});
  { const Buffer small = p->allocate(100, "small"); }  // leaves a free block of 2 MiB
  EXPECT_NO_THROW(p->allocate(8 * mib, "large"));
}

TEST_F(MemoryPoolTest, GarbageIsCollectedBeforeMemoryRunsOut) {
  auto p = pool({.limit = 8 * mib});
  std::vector<Buffer> garbage;
  int calls = 0;
  p->set_pressure_handler([&] { ++calls, garbage.clear(); });
  for (int i = 0; i < 20; ++i) garbage.push_back(p->allocate(mib, "garbage"));
  EXPECT_EQ(calls, 2);
  const Buffer kept = p->allocate(mib, "kept");
  EXPECT_THROW(p->allocate(8 * mib, "too large"), OutOfMemory);
  EXPECT_EQ(calls, 3);
}

TEST_F(MemoryPoolTest, GarbageIsCollectedWheneverMemoryDoubles) {
  auto p = pool({});
  std::vector<Buffer> garbage;
  int calls = 0;
  p->set_pressure_handler([&] { ++calls, garbage.clear(); });
  for (int i = 0; i < 100; ++i) garbage.push_back(p->allocate(mib, "garbage"));
  EXPECT_EQ(calls, 6) << "every 16 MiB";
  EXPECT_LE(p->use().peak, 17 * mib);
}

TEST_F(MemoryPoolTest, AnExhaustedDeviceIsOutOfMemory) {
  auto p = pool({}, 4 * mib);
  EXPECT_THROW(p->allocate(5 * mib, "too large"), OutOfMemory);
}

}  // namespace
}  // namespace gpubench
