#include "core/base/other_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(OtherNames, AreFoundAtTheirPlaceAndInWhatLiesInIt) {
  const auto at_place = find_other_name("gb.layers", "Linear");
  ASSERT_TRUE(at_place);
  EXPECT_EQ(at_place->kind, OtherName::Kind::here);
  EXPECT_EQ(at_place->text, "gb.layers.Dense(units)");
  EXPECT_EQ(at_place->section, "gb.layers");
  // "gb" has it for all modules.
  const auto outside = find_other_name("gb.layers", "reduce_mean");
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->section, "gb");
  EXPECT_FALSE(find_other_name("gbx", "reduce_mean"));
  EXPECT_FALSE(find_other_name("gb", "Linear"));
  EXPECT_FALSE(find_other_name("gb", "no such name"));
  EXPECT_FALSE(find_other_name("gb", ""));
}

TEST(OtherNames, TheNearestSectionCounts) {
  EXPECT_THAT(find_other_name("gb", "range")->text, HasSubstr("gb.arange"));
  EXPECT_THAT(find_other_name("gb.data", "range")->text, HasSubstr("gb.data.Dataset.range"));
  EXPECT_EQ(find_other_name("option Dense", "lr")->text, "learning_rate");
}

TEST(OtherNames, ThoseOfASectionCanBeListed) {
  EXPECT_TRUE(other_names_at("global").contains("True"));
  EXPECT_FALSE(other_names_at("global").contains("Linear"));
  EXPECT_TRUE(other_names_at("glob").empty());
}

TEST(OtherNames, AllPlacesOfANameCanBeListed) {
  std::vector<std::string> sections;
  for (const OtherName& one : find_other_names("zero_grad")) sections.push_back(one.section);
  EXPECT_THAT(sections, UnorderedElementsAre("Optimizer", "Model"));
  EXPECT_TRUE(find_other_names("Dense").empty()) << "it has this name here";
  EXPECT_TRUE(find_other_names("").empty());
  const auto all = all_other_names();
  for (const char* name : {"Linear", "zero_grad", "True", "nn"}) EXPECT_TRUE(all.contains(name)) << name;
}

TEST(OtherNames, PartsOfAPlaceAreSearchedWhereItIsAskedFor) {
  EXPECT_EQ(find_other_name_within("gb", "Linear")->section, "gb.layers");
  EXPECT_FALSE(find_other_name_within("gb.layers", "Linear"));
}

TEST(OtherNames, AbsentOnesAndFoldersAreMarked) {
  const auto absent = find_other_name("gb.layers", "Conv3D");
  ASSERT_TRUE(absent);
  EXPECT_EQ(absent->kind, OtherName::Kind::absent);
  EXPECT_THAT(absent->text, HasSubstr("two dimensions here, sequences one"));  // lines are joined
  const auto folder = find_other_name("gb", "nn");
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->kind, OtherName::Kind::folder);
  EXPECT_THAT(folder->places(), ElementsAre("nn", "gb.layers", "gb.losses", "gb", "Tensor"));
  EXPECT_EQ(folder->members(), "gb.layers, gb.losses, gb, methods of tensors");
}

}  // namespace
}  // namespace gpubench
