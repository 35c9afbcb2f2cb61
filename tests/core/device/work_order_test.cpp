#include "core/device/work_order.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::array<std::byte, 64> memory;

MemoryRange bytes(std::size_t begin, std::size_t count) {
  return {memory.data() + begin, count};
}
RecordedWork piece(std::vector<MemoryRange> reads, std::vector<MemoryRange> writes) {
  return {.memory = {std::move(reads), std::move(writes)}, .queue = nullptr};
}

TEST(WorkOrder, PiecesThatShareNoMemoryWaitForNothing) {
  const std::array work{piece({}, {bytes(0, 4)}), piece({}, {bytes(4, 4)}), piece({bytes(8, 4)}, {bytes(12, 4)})};
  EXPECT_THAT(predecessors(work), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(WorkOrder, AReaderWaitsForTheWriterEvenOfOneByte) {
  const std::array work{piece({}, {bytes(0, 8)}), piece({bytes(7, 8)}, {})};
  EXPECT_THAT(predecessors(work)[1], ElementsAre(0));
}

TEST(WorkOrder, ReadersOfOneTensorDoNotWaitForEachOther) {
  const std::array work{piece({}, {bytes(0, 8)}), piece({bytes(0, 8)}, {}), piece({bytes(0, 4)}, {})};
  EXPECT_THAT(predecessors(work), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0)));
}

TEST(WorkOrder, MemoryIsUsedAgainOnlyAfterItsReaders) {
  const std::array work{piece({}, {bytes(0, 8)}), piece({bytes(0, 4)}, {}), piece({bytes(4, 4)}, {}),
                        piece({}, {bytes(0, 8)})};
  EXPECT_THAT(predecessors(work)[3], ElementsAre(1, 2));
}

TEST(WorkOrder, WhatAPieceChangesInPlaceIsWrittenAndRead) {
  const std::array work{piece({}, {bytes(0, 8)}), piece({bytes(0, 8)}, {bytes(0, 8)}), piece({bytes(0, 8)}, {})};
  EXPECT_THAT(predecessors(work), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(1)));
}

TEST(WorkOrder, WhatFollowsFromOthersIsLeftOut) {
  const std::array work{piece({}, {bytes(0, 8)}), piece({bytes(0, 8)}, {bytes(8, 8)}),
                        piece({bytes(0, 8), bytes(8, 8)}, {bytes(16, 8)})};
  EXPECT_THAT(predecessors(work)[2], ElementsAre(1));
}

TEST(WorkOrder, RangesWithoutBytesTouchNothing) {
  const std::array work{piece({}, {bytes(0, 8)}), piece({bytes(4, 0)}, {{nullptr, 0}})};
  EXPECT_THAT(predecessors(work)[1], IsEmpty());
}

bool touch(const MemoryRange& a, const MemoryRange& b) {
  const auto* const first = static_cast<const std::byte*>(a.begin);
  const auto* const second = static_cast<const std::byte*>(b.begin);
  return first < second + b.bytes && second < first + a.bytes;
}
bool any_touch(const std::vector<MemoryRange>& a, const std::vector<MemoryRange>& b) {
  for (const MemoryRange& one : a) {
    for (const MemoryRange& other : b) {
      if (touch(one, other)) return true;
    }
  }
  return false;
}
bool conflict(const TouchedMemory& earlier, const TouchedMemory& later) {
  return any_touch(earlier.writes, later.writes) || any_touch(earlier.writes, later.reads) ||
         any_touch(earlier.reads, later.writes);
}

using Reached = std::vector<std::vector<bool>>;

/// By piece: all that it waits for, when it waits for `direct` alone.
Reached closure(const std::vector<std::vector<std::size_t>>& direct) {
  Reached all(direct.size(), std::vector<bool>(direct.size()));
  for (std::size_t piece = 0; piece < direct.size(); ++piece) {
    for (const std::size_t earlier : direct[piece]) {
      all[piece][earlier] = true;
      for (std::size_t other = 0; other < earlier; ++other)
        all[piece][other] = all[piece][other] || all[earlier][other];
    }
  }
  return all;
}

TEST(WorkOrder, RandomWorkWaitsForAllThatItConflictsWithAndForNothingElse) {
  std::mt19937 random(7);
  const auto ranges = [&] {
    std::vector<MemoryRange> result(random() % 3);
    for (MemoryRange& range : result) {
      const std::size_t begin = random() % 60;
      range = bytes(begin, 1 + random() % std::min<std::size_t>(8, 64 - begin));
    }
    return result;
  };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<RecordedWork> work;
    for (int n = 0; n < 12; ++n) work.push_back(piece(ranges(), ranges()));
    const auto direct = predecessors(work);
    std::vector<std::vector<std::size_t>> conflicts(work.size());
    for (std::size_t piece = 0; piece < work.size(); ++piece) {
      for (std::size_t earlier = 0; earlier < piece; ++earlier) {
        if (conflict(work[earlier].memory, work[piece].memory)) conflicts[piece].push_back(earlier);
      }
    }
    ASSERT_EQ(closure(direct), closure(conflicts)) << "trial " << trial;
    for (std::size_t piece = 0; piece < work.size(); ++piece) {
      for (std::size_t left_out = 0; left_out < direct[piece].size(); ++left_out) {
        auto fewer = direct;
        fewer[piece].erase(fewer[piece].begin() + static_cast<std::ptrdiff_t>(left_out));
        ASSERT_NE(closure(fewer), closure(direct)) << "trial " << trial << ": an edge too many before " << piece;
      }
    }
  }
}

}  // namespace
}  // namespace gpubench
