#include "core/data/element/element_ring.h"

#include <gtest/gtest.h>
#include <thread>

#include "tests/core/data/reading.h"

namespace gpubench {
namespace {

void fill(ElementRing::Slot& slot, std::int64_t number) {
  slot.element.assign(1, HostTensor(TensorType{{}, Dtype::i64}));
  slot.element[0].values<std::int64_t>()[0] = number;
}
std::int64_t number_in(const ElementRing::Slot& slot) {
  return slot.element[0].values<std::int64_t>()[0];
}

TEST(ElementRing, GivesElementsInTheirOrder) {
  ElementRing ring(3);
  EXPECT_FALSE(ring.has_element());
  for (std::int64_t round = 0; round < 4; ++round) {
    for (std::int64_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(ring.has_room(3));
      fill(ring.back(), 3 * round + i);
      ring.push();
    }
    EXPECT_FALSE(ring.has_room(3));
    EXPECT_EQ(ring.size(), 3U);
    for (std::int64_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(ring.has_element());
      EXPECT_EQ(number_in(ring.front()), 3 * round + i);
      ring.pop();
    }
    EXPECT_FALSE(ring.has_element());
  }
}

TEST(ElementRing, HoldsFewerWhereThatIsAsked) {
  ElementRing ring(4);
  EXPECT_TRUE(ring.has_room(1));
  ring.push();
  EXPECT_FALSE(ring.has_room(1));
  EXPECT_TRUE(ring.has_room(2));
}

TEST(ElementRing, KeepsPackedElementsSideBySide) {
  const std::vector<TensorType> types{{{}, Dtype::i64}, {{2}, Dtype::f32}};
  ElementRing ring(2, types);
  EXPECT_TRUE(ring.is_packed());
  EXPECT_FALSE(ElementRing(2).is_packed());
  for (std::int64_t i = 0; i < 5; i += 2) {
    for (const std::int64_t number : {i, i + 1}) {
      std::vector<TensorView> to(2);
      ring.view_back(to);
      EXPECT_EQ(*to[1].type, types[1]);
      to[0].as<std::int64_t>()[0] = number;
      to[1].as<float>()[1] = static_cast<float>(-number);
      ring.push();
    }
    EXPECT_FALSE(ring.has_room(2));
    for (const std::int64_t number : {i, i + 1}) {
      std::vector<TensorView> from(2);
      ring.view_front(from);
      EXPECT_EQ(from[0].as<std::int64_t>()[0], number);
      EXPECT_EQ(from[1].as<float>()[1], static_cast<float>(-number));
      ring.pop();
    }
  }
}

TEST(ElementRing, IsForTwoThreads) {
  constexpr std::int64_t count = 2000;
  ElementRing ring(5);
  std::thread maker([&] {
    for (std::int64_t i = 0; i < count; ++i) {
      while (!ring.has_room(5)) std::this_thread::yield();
      fill(ring.back(), i);
      ring.push();
    }
  });
  std::vector<std::int64_t> found;
  while (found.size() < count) {
    while (!ring.has_element()) std::this_thread::yield();
    found.push_back(number_in(ring.front()));
    ring.pop();
  }
  maker.join();
  EXPECT_EQ(found, counting(0, count));
}

}  // namespace
}  // namespace gpubench
