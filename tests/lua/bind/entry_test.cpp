#include "lua/bind/entry.h"

#include <array>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <optional>
#include <variant>
#include <vector>

#include "tests/lua/bind/script.h"

namespace gpubench::lua {

enum class Padding : unsigned char { same, valid };
template <>
inline constexpr std::array enum_names<Padding> = {std::pair{std::string_view("same"), Padding::same},
                                                   std::pair{std::string_view("valid"), Padding::valid}};

namespace {

struct Color {
  std::string name;
};
Color parse_color(std::string_view name) {
  if (name != "red") throw std::runtime_error("unknown color '" + std::string(name) + "' (known: red)");
  return {"red"};
}
std::string to_string(const Color& color) {
  return color.name;
}

}  // namespace

template <>
struct Value<Color> : TextValue<Color, &parse_color> {};

namespace {

class Entry : public ::testing::Test {
 protected:
  void SetUp() override {
    const Module gb = Module::root(script.state());
    gb.function<[](int a, const std::string& b) { return b + std::to_string(a); }>("join")
        .function<[](std::optional<double> x) { return x.value_or(0.5); }>("maybe")
        .function<[](const std::vector<int>& v) { return std::accumulate(v.begin(), v.end(), 0); }>("sum")
        .function<[](const std::vector<std::vector<int>>& v) { return v; }>("nested")
        .function<[](std::array<int, 2> v) { return v[0] * v[1]; }>("area")
        .function<[](const std::map<std::string, bool>& m) { return m.size(); }>("count")
        .function<[](Padding p) { return p == Padding::same ? Padding::valid : Padding::same; }>("other")
        .function<[](const Color& c) { return c; }>("color")
        .function<[](std::uint8_t v) { return v; }>("byte")
        .function<[](const Rest<std::string>& rest) { return rest.values.size(); }>("rest")
        .function<[](const std::variant<std::monostate, bool, std::int64_t, double, std::string>& v) {
          return v.index();
        }>("kind")
        .function<[](const std::variant<int, std::vector<int>>& v) { return v.index(); }>("one_or_many")
        .function<[] {
          return std::tuple{1, std::string("two")};
        }>("both")
        .function<[](lua_State* L) { return lua_gettop(L); }, any_number>("raw")
        .function<[](lua_State* L) { return lua_gettop(L); }, 2>("counted")
        .function<[] { throw std::runtime_error("disk full"); }>("fail")
        .function<[](std::string_view text) { return text.size(); }>("length");
  }
  Script script;
};

TEST_F(Entry, ReadsAndPushesByTheSignature) {
  EXPECT_EQ(script.run("return gb.join(3, 'n')"), "n3");
  EXPECT_EQ(script.run("return gb.maybe() + gb.maybe(1.5)"), "2.0");
  EXPECT_EQ(script.run("return gb.sum { 1, 2, 3.0 }"), "6");
  EXPECT_EQ(script.run("return gb.nested { { 1 }, { 2, 3 } }[2][2]"), "3");
  EXPECT_EQ(script.run("return gb.area { 3, 4 }"), "12");
  EXPECT_EQ(script.run("return gb.count { a = true, b = false }"), "2");
  EXPECT_EQ(script.run("return gb.other 'same'"), "valid");
  EXPECT_EQ(script.run("return gb.color 'red'"), "red");
  EXPECT_EQ(script.run("return gb.rest('a', 'b', 'c')"), "3");
  EXPECT_EQ(script.run("local a, b = gb.both() return a .. b"), "1two");
  EXPECT_EQ(script.run("return select('#', gb.raw(7, 8))"), "2");
  EXPECT_EQ(script.run("return gb.length 'a\\0b'"), "3");
}

TEST_F(Entry, VariantPrefersTheExactType) {
  EXPECT_EQ(script.run("return gb.kind(3) .. gb.kind(3.0) .. gb.kind(true) .. gb.kind('x') .. gb.kind(nil)"), "23140");
  EXPECT_EQ(script.run("return gb.one_or_many(3.0) .. gb.one_or_many { 3 }"), "01");
}

TEST_F(Entry, NamesTheFunctionTheArgumentAndTheLine) {
  EXPECT_EQ(script.error("return\n gb.join('x', 'y')"), "test:2: gb.join: argument #1: integer expected, got string");
  EXPECT_EQ(script.error("gb.join(1)"), "test:1: gb.join: argument #2: string expected, got no value");
  EXPECT_EQ(script.error("gb.join(1.5, '')"), "test:1: gb.join: argument #1: integer expected, got 1.500000");
  EXPECT_EQ(script.error("gb.join(1, '', 3)"), "test:1: gb.join: takes at most 2 arguments, got 3");
  EXPECT_EQ(script.run("return gb.join(1, 'trailing nil is fine', nil)"), "trailing nil is fine1");
  EXPECT_EQ(script.error("gb.counted(1, 2, 3)"), "test:1: gb.counted: takes at most 2 arguments, got 3");
  EXPECT_EQ(script.run("return select('#', gb.counted(1, 2, nil))"), "3");
  EXPECT_EQ(script.error("gb.byte(300)"), "test:1: gb.byte: argument #1: integer 300 is out of range");
  EXPECT_EQ(script.error("gb.fail()"), "test:1: disk full");
}

TEST_F(Entry, NamesTheElementThatDoesNotFit) {
  EXPECT_EQ(script.error("gb.sum { 1, 'b' }"), "test:1: gb.sum: argument #1: element 2: integer expected, got string");
  EXPECT_EQ(script.error("gb.nested { { 1 }, { {} } }"),
            "test:1: gb.nested: argument #1: element 2: element 1: integer expected, got table");
  EXPECT_EQ(script.error("gb.sum { 1, x = 2 }"),
            "test:1: gb.sum: argument #1: array expected, got a table with the key 'x'");
  EXPECT_EQ(script.error("gb.sum { 1, nil, nil, 4, [9] = 3 }"),
            "test:1: gb.sum: argument #1: array expected, got a table with gaps");
  EXPECT_EQ(script.error("gb.area { 1, 2, 3 }"), "test:1: gb.area: argument #1: array of 2 integers expected, got 3");
  EXPECT_EQ(script.error("gb.count { a = 1 }"), "test:1: gb.count: argument #1: 'a': boolean expected, got number");
  EXPECT_EQ(script.error("gb.other 'full'"),
            "test:1: gb.other: argument #1: one of 'same' 'valid' expected, got 'full'");
  EXPECT_EQ(script.error("gb.color 'blue'"), "test:1: gb.color: argument #1: unknown color 'blue' (known: red)");
  EXPECT_EQ(script.error("gb.one_or_many 'x'"),
            "test:1: gb.one_or_many: argument #1: integer or array of integer expected, got string");
  EXPECT_EQ(script.error("gb.rest('a', 2)"), "test:1: gb.rest: argument #2: string expected, got number");
}

TEST_F(Entry, ErrorsAreStringsForScripts) {
  EXPECT_EQ(script.run("local ok, text = pcall(gb.fail) return type(text) .. tostring(ok)"), "stringfalse");
}

}  // namespace
}  // namespace gpubench::lua
