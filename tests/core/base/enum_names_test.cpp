#include "core/base/enum_names.h"

#include "core/base/align.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

enum class Fruit { apple, pear };
constexpr EnumNames<Fruit, 2> fruits{"there is no fruit", {"apple", "pear"}};

TEST(EnumNames, GivesNamesAndReadsThem) {
  EXPECT_EQ(fruits[Fruit::pear], "pear");
  EXPECT_EQ(fruits.parse("apple"), Fruit::apple);
  EXPECT_ERROR("there is no fruit 'leek' (known: apple, pear)", fruits.parse("leek"));
}

TEST(AlignUp, GivesTheNextMultiple) {
  static_assert(align_up(0, 64) == 0 && align_up(1, 64) == 64 && align_up(64, 64) == 64 && align_up(65, 64) == 128);
  static_assert(align_up(std::size_t{9}, 8) == 16);
}

}  // namespace
}  // namespace gpubench
