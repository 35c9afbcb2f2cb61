#include "core/data/function/parse_example.h"

#include <gmock/gmock.h>

#include "core/codec/example.h"
#include "core/data/map/map.h"
#include "core/data/source/tfrecord.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/ignore_errors.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

class ParseExample : public TemporaryFolder {
 protected:
  /// A dataset of the given examples.
  DatasetPtr examples(const std::vector<std::map<std::string, FeatureValues>>& features) const {
    TfrecordWriter writer(file("x"), TfrecordCompression::none);
    for (const auto& example : features) {
      const std::string bytes = encode_example(example);
      writer.write(std::as_bytes(std::span(bytes)));
    }
    writer.close();
    return tfrecord(std::vector{file("x").string()});
  }
  static std::map<std::string, FeatureValues> example(std::vector<float> x, std::int64_t n, const std::string& name) {
    return {{"x", std::move(x)}, {"n", std::vector{n}}, {"name", std::vector{name}}};
  }
  static const std::vector<FeatureSpec>& specs() {
    static const std::vector<FeatureSpec> list{
        {.name = "n", .dtype = Dtype::i64}, {.name = "x", .shape = {1, 2}}, {.name = "name", .dtype = Dtype::bytes}};
    return list;
  }
};

TEST_F(ParseExample, GivesTheFeaturesInTheirOrder) {
  const DatasetPtr dataset = map(examples({example({1, 2}, 7, "one")}), parse_example(specs()));
  EXPECT_EQ(to_string(dataset->element_types()), "(int64[], float32[1, 2], uint8[?])");
  Element element;
  ASSERT_TRUE(dataset->open()->next(element));
  EXPECT_EQ(element[0].values<std::int64_t>()[0], 7);
  EXPECT_THAT(element[1].values<float>(), ElementsAre(1, 2));
  EXPECT_EQ(text_of(element[2]), "one");
}

TEST_F(ParseExample, WritesIntoTheBatchThatFollows) {
  const DatasetPtr dataset = batch(
      map(examples({example({1, 2}, 7, ""), example({3, 4}, 8, "")}), parse_example({{.name = "x", .shape = {2}}})), 2);
  Element element;
  ASSERT_TRUE(dataset->open()->next(element));
  EXPECT_THAT(element[0].values<float>(), ElementsAre(1, 2, 3, 4));
}

TEST_F(ParseExample, TakesFeaturesAsLongAsTheyAre) {
  const DatasetPtr dataset = map(examples({example({1, 2, 3}, 7, ""), example({}, 8, "")}),
                                 parse_example({{.name = "x", .shape = {varying}}}));
  EXPECT_EQ(to_string(dataset->element_types()), "(float32[?])");
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_THAT(element[0].values<float>(), ElementsAre(1, 2, 3));
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(element[0].elements(), 0);
}

TEST_F(ParseExample, HasDefaultsForWhatIsMissing) {
  const DatasetPtr dataset =
      map(examples({{}}),
          parse_example({{.name = "n", .dtype = Dtype::i64, .default_value = HostTensor::scalar<std::int64_t>(5)},
                         {.name = "name", .dtype = Dtype::bytes, .default_value = byte_string("none")}}));
  Element element;
  ASSERT_TRUE(dataset->open()->next(element));
  EXPECT_EQ(element[0].values<std::int64_t>()[0], 5);
  EXPECT_EQ(text_of(element[1]), "none");
}

TEST_F(ParseExample, NamesTheFeatureThatDoesNotFit) {
  const auto message = [&](std::map<std::string, FeatureValues> example, const std::string& text) {
    const std::unique_ptr<Cursor> cursor = map(examples({std::move(example)}), parse_example(specs()))->open();
    Element element;
    EXPECT_ERROR("parse_example: " + text + " (element 1 of the epoch)", cursor->next(element));
    EXPECT_FALSE(cursor->next(element));
  };
  message({}, "feature 'n': it is missing, and has no default");
  message(example({1, 2, 3}, 7, ""), "feature 'x': it has 3 values, float32[1, 2] needs 2");
  message(example({1}, 7, ""), "feature 'x': it has 1 values, float32[1, 2] needs 2");
  message({{"n", std::vector{1.0F}}}, "feature 'n': holds float32 values, int64 was asked for");
  auto two_names = example({1, 2}, 7, "");
  two_names["name"] = std::vector<std::string>{"a", "b"};
  message(two_names, "feature 'name': it has 2 byte strings, one is expected");
}

TEST(ParseExampleSpecs, AreChecked) {
  const auto message = [](std::vector<FeatureSpec> specs, const std::string& text) {
    EXPECT_ERROR("parse_example: " + text, parse_example(specs));
  };
  message({}, "no features given; at least one is needed");
  message({{.name = "x", .dtype = Dtype::i32}},
          "feature 'x': an example holds no int32 (known: float32, int64, bytes)");
  message({{.name = "x", .shape = {2}, .dtype = Dtype::bytes}},
          "feature 'x': bytes are one value, of shape {}; lists of byte strings are no tensor");
  message({{.name = "x", .shape = {2, varying}}},
          "feature 'x': the shape [2, -1] cannot be; it has given extents, or is {-1} for a feature as long as it is");
  message({{.name = "x"}, {.name = "x"}}, "feature 'x': it is given twice");
  message({{.name = "x", .shape = {2}, .default_value = HostTensor::scalar(1.0F)}},
          "feature 'x': the default is float32[], the feature float32[2]");
}

}  // namespace
}  // namespace gpubench
