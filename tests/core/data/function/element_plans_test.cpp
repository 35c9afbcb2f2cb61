#include "core/data/function/element_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/data/functions.h"

namespace gpubench {
namespace {

std::shared_ptr<const Native> function(bool any_extents) {
  return std::make_shared<Native>([](auto inputs) { return std::vector(inputs.begin(), inputs.end()); },
                                  [](const ElementBlock&, ElementOutputs&) {}, any_extents);
}

ElementRunner& runner_for(ElementPlans& plans, std::int64_t extent) {
  const TensorType type{{extent}, Dtype::u8};
  return plans.for_inputs(std::array{TensorView{&type, nullptr}});
}

TEST(ElementPlans, AreMadeOncePerTypes) {
  const auto planned = function(false);
  ElementPlans plans(planned);
  ElementRunner& three = runner_for(plans, 3);
  EXPECT_NE(&runner_for(plans, 4), &three);
  EXPECT_EQ(&runner_for(plans, 3), &three);
  EXPECT_EQ(planned->plans(), 2);
}

TEST(ElementPlans, OfAFunctionThatTakesAnyExtentsAreOne) {
  const auto planned = function(true);
  ElementPlans plans(planned);
  EXPECT_EQ(&runner_for(plans, 4), &runner_for(plans, 3));
  EXPECT_EQ(planned->plans(), 1);
}

TEST(ElementPlans, KeepThoseThatWereUsedLast) {
  const auto planned = function(false);
  ElementPlans plans(planned);
  const auto most = static_cast<int>(ElementPlans::most);
  for (int extent = 0; extent < most; ++extent) runner_for(plans, extent);
  runner_for(plans, 0);
  runner_for(plans, most);  // in the place of extent 1's
  runner_for(plans, 0);
  EXPECT_EQ(planned->plans(), most + 1);
  runner_for(plans, 1);
  EXPECT_EQ(planned->plans(), most + 2);
}

}  // namespace
}  // namespace gpubench
