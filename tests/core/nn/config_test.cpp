#include "core/nn/config.h"

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

const std::vector<ConfigField> fields = {
    {"units", std::int64_t{0}, true},  {"rate", 0.5},      {"strides", Shape{1, 1}},
    {"padding", std::string("valid")}, {"use_bias", true}, {"levels", Numbers{0.5}}};

TEST(Config, ReadsGivenValuesAndDefaults) {
  const Config config("Dense", fields, {{"units", std::int64_t{3}}, {"rate", std::int64_t{1}}, {"strides", Shape{2}}});
  EXPECT_EQ(config.integer("units"), 3);
  EXPECT_EQ(config.number("rate"), 1.0);
  EXPECT_EQ(config.text("padding"), "valid");
  EXPECT_TRUE(config.flag("use_bias"));
  EXPECT_EQ(config.pair("strides"), (std::array<std::int64_t, 2>{2, 2}));
}

TEST(Config, TakesWholeNumbersForIntegersAndOneForAPair) {
  const Config config("Dense", fields, {{"units", 4.0}, {"strides", std::int64_t{3}}});
  EXPECT_EQ(config.integer("units"), 4);
  EXPECT_EQ(config.pair("strides"), (std::array<std::int64_t, 2>{3, 3}));
}

TEST(Config, TakesOneNumberAndWholeOnesForAListOfNumbers) {
  const auto levels = [](ConfigValue given) {
    return Config("Dense", fields, {{"units", std::int64_t{4}}, {"levels", std::move(given)}}).numbers("levels");
  };
  EXPECT_EQ(levels(0.3), Numbers{0.3});
  EXPECT_EQ(levels(std::int64_t{1}), Numbers{1});
  EXPECT_EQ(levels(Shape{0, 1}), (Numbers{0, 1}));
  EXPECT_EQ(levels(Numbers{0.3, 0.7}), (Numbers{0.3, 0.7}));
  EXPECT_EQ(to_string(ConfigValue(Numbers{0.3, 1})), "[0.3, 1]");
  EXPECT_ERROR("Dense: option 'levels' must be a list of numbers, got a string (many)", levels(std::string("many")));
  EXPECT_ERROR("Dense: option 'strides' must be a list of integers, got a list of numbers ([0.5])",
               Config("Dense", fields, {{"units", std::int64_t{4}}, {"strides", Numbers{0.5}}}));
}

TEST(Config, RefusesAnUnknownOption) {
  EXPECT_ERROR(
      "Dense: unknown option 'unit' (did you mean 'units'?) "
      "(known: units, rate, strides, padding, use_bias, levels)",
      Config("Dense", fields, {{"unit", std::int64_t{3}}}));
}

TEST(Config, RefusesAMissingOption) {
  EXPECT_ERROR("Dense: option 'units' is required; it is an integer", Config("Dense", fields, {}));
}

TEST(Config, RefusesAWrongType) {
  EXPECT_ERROR("Dense: option 'units' must be an integer, got a string (many)",
               Config("Dense", fields, {{"units", std::string("many")}}));
  EXPECT_ERROR(HasSubstr("got a number (2.5)"), Config("Dense", fields, {{"units", 2.5}}));
}

TEST(Config, RefusesNumbersOutOfRange) {
  const Config config("Dense", fields, {{"units", std::int64_t{0}}, {"rate", 1.0}, {"strides", Shape{1, 0}}});
  EXPECT_ERROR("Dense: units must be at least 1, got 0", config.integer_from("units", 1));
  EXPECT_ERROR("Dense: rate must be at least 0 and below 1, got 1", config.number_within("rate", 0, 1));
  EXPECT_ERROR("Dense: strides must be one or two positive integers, got [1, 0]", config.pair("strides"));
}

}  // namespace
}  // namespace gpubench
