#include "lua/bind/options.h"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "tests/lua/bind/script.h"

namespace gpubench::lua {
namespace {

struct LayerOptions {
  std::optional<std::string> name;
  static constexpr auto fields = std::tuple{field("name", &LayerOptions::name)};
};
struct ConvOptions : LayerOptions {
  int filters = 0;
  std::vector<int> kernel = {3, 3};
  bool bias = true;
  static constexpr auto fields = std::tuple_cat(
      LayerOptions::fields, std::tuple{required("filters", &ConvOptions::filters),
                                       field("kernel", &ConvOptions::kernel), field("bias", &ConvOptions::bias)});
};
struct StackOptions {
  std::vector<ConvOptions> layers;
  LayerOptions label;
  static constexpr auto fields =
      std::tuple{positional("layers", &StackOptions::layers), field("label", &StackOptions::label)};
};

class OptionTable : public ::testing::Test {
 protected:
  void SetUp() override {
    const Module gb = Module::root(script.state());
    gb.function<[](const ConvOptions& o) {
        return o.name.value_or("unnamed") + std::to_string(o.filters) + "x" + std::to_string(o.kernel.size());
      }>("conv")
        .function<[](int units, const LayerOptions& o) { return o.name.value_or("unnamed") + std::to_string(units); }>(
            "dense")
        .function<[](const StackOptions& o) { return std::to_string(o.layers.size()) + o.label.name.value_or("-"); }>(
            "stack");
  }
  Script script;
};

TEST_F(OptionTable, ReadsNamesDefaultsAndPositions) {
  EXPECT_EQ(script.run("return gb.conv { filters = 8 }"), "unnamed8x2");
  EXPECT_EQ(script.run("return gb.conv { filters = 8, name = 'c', kernel = { 1 } }"), "c8x1");
  EXPECT_EQ(script.run("return gb.dense(4)"), "unnamed4");
  EXPECT_EQ(script.run("return gb.dense(4, { name = 'd' })"), "d4");
  EXPECT_EQ(script.run("return gb.stack { { filters = 1 }, { filters = 2 }, label = { name = 'l' } }"), "2l");
}

TEST_F(OptionTable, RejectsWhatItDoesNotKnow) {
  EXPECT_EQ(script.error("gb.conv { filters = 1, strides = 2 }"),
            "test:1: gb.conv: argument #1: unknown option 'strides' (known: name, filters, kernel, bias)");
  EXPECT_EQ(script.error("gb.conv {}"), "test:1: gb.conv: argument #1: option 'filters' is required");
  EXPECT_EQ(script.error("gb.conv()"), "test:1: gb.conv: argument #1: option 'filters' is required");
  EXPECT_EQ(script.error("gb.conv { 3 }"), "test:1: gb.conv: argument #1: options are named; found a positional value");
  EXPECT_EQ(script.error("gb.conv(3)"),
            "test:1: gb.conv: argument #1: table of options expected, got number; "
            "options are named: { filters = ... }");
  EXPECT_EQ(script.error("gb.conv { filters = 'many' }"),
            "test:1: gb.conv: argument #1: option 'filters': integer expected, got string");
  EXPECT_EQ(script.error("gb.stack { { filters = 1 }, { filter = 2 } }"),
            "test:1: gb.stack: argument #1: option 'layers': element 2: unknown option 'filter' (did you mean "
            "'filters'?) (known: name, filters, kernel, bias)");
}

}  // namespace
}  // namespace gpubench::lua
