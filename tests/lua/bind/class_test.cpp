#include "lua/bind/class.h"

#include <gtest/gtest.h>
#include <string>
#include <variant>

#include "tests/lua/bind/script.h"

namespace gpubench::lua {
namespace {

struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
  static inline int alive = 0;
};
struct Named {
  std::string name = "v";
  const std::string& get_name() const { return name; }
};
struct Vector : Named {
  double x = 0;
  Counted counted;
  double scaled(double by) const { return x * by; }
};
using Operand = std::variant<double, std::shared_ptr<Vector>>;

double value_of(const Operand& operand) {
  return operand.index() == 0 ? std::get<0>(operand) : std::get<1>(operand)->x;
}
std::shared_ptr<Vector> make(double x) {
  auto vector = std::make_shared<Vector>();
  vector->x = x;
  return vector;
}
std::shared_ptr<Vector> add(const Operand& a, const Operand& b) {
  return make(value_of(a) + value_of(b));
}
std::shared_ptr<Vector> negate(const Vector& a) {
  return make(-a.x);
}
std::string describe(const Vector& a) {
  return "vector " + std::to_string(static_cast<int>(a.x));
}

}  // namespace

template <>
inline constexpr const char* class_name<Vector> = "Vector";

namespace {

class ClassTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Module gb = Module::root(script->state());
    gb.function<&make>("vector").function<[](const Vector& v) { return v; }>("copy");
    Class<Vector>(script->state())
        .method<&Vector::scaled>("scaled")
        .method<[](Vector& self, double by) { self.x += by; }>("grow")
        .property<&Vector::get_name>("name")
        .property<[](const Vector& v) { return v.x; }, [](Vector& v, double x) { v.x = x; }>("x")
        .meta<&add>("__add")
        .meta<&negate>("__unm")
        .meta<&describe>("__tostring")
        .call<[](const Vector& v, double y) { return v.x + y; }>()
        .index<[](const Vector& v, std::int64_t i) { return v.x * static_cast<double>(i); }>();
  }
  std::unique_ptr<Script> script = std::make_unique<Script>();
};

TEST_F(ClassTest, MethodsPropertiesAndOperators) {
  EXPECT_EQ(script->run("return gb.vector(2):scaled(4)"), "8.0");
  EXPECT_EQ(script->run("local v = gb.vector(2) v:grow(1) return v.x"), "3.0");
  EXPECT_EQ(script->run("return gb.vector(2).name"), "v");
  EXPECT_EQ(script->run("local v = gb.vector(2) v.x = 7 return v.x"), "7.0");
  EXPECT_EQ(script->run("return (1 + gb.vector(2) + gb.vector(3)).x"), "6.0");
  EXPECT_EQ(script->run("return tostring(-gb.vector(2))"), "vector -2");
  EXPECT_EQ(script->run("return gb.vector(2)(5)"), "7.0");
  EXPECT_EQ(script->run("return gb.vector(2)[3]"), "6.0");
  EXPECT_EQ(script->run("local v = gb.vector(1) return v == v and v ~= gb.vector(1)"), "true");
  EXPECT_EQ(script->run("local v = gb.vector(1) return gb.copy(v) == v"), "false");
}

TEST_F(ClassTest, MistakesAreNamed) {
  EXPECT_EQ(script->error("gb.vector(2).scaled(4)"),
            "test:1: Vector:scaled: Vector expected, got number (call methods with ':')");
  EXPECT_EQ(script->error("gb.vector(2):scaled('x')"),
            "test:1: Vector:scaled: argument #1: number expected, got string");
  EXPECT_EQ(script->error("gb.vector(2):scale(2)"),
            "test:1: Vector: no member 'scale' (did you mean 'scaled'?) (known: grow, name, scaled, x)");
  EXPECT_EQ(script->error("gb.vector(2).nme = 1"), "test:1: Vector: cannot set 'nme' (known: grow, scaled, x)");
  EXPECT_EQ(script->error("return gb.vector(2) + {}"),
            "test:1: Vector +: argument #2: number or Vector expected, got table");
  EXPECT_EQ(script->error("gb.copy(io.stdout)"), "test:1: gb.copy: argument #1: Vector expected, got FILE*");
}

TEST_F(ClassTest, ObjectsEndWhenClosedOrCollected) {
  EXPECT_EQ(script->run("local v do local w <close> = gb.vector(1) v = w end return pcall(v.scaled, v, 1)"), "false");
  EXPECT_EQ(Counted::alive, 0);
  EXPECT_EQ(script->error("local v do local w <close> = gb.vector(1) v = w end v:grow(1)"),
            "test:1: Vector:grow: Vector is closed");
  script->run("kept = gb.vector(1)");
  EXPECT_EQ(Counted::alive, 1);
  script.reset();
  EXPECT_EQ(Counted::alive, 0);
}

TEST_F(ClassTest, MetatablesAreOutOfReach) {
  EXPECT_EQ(script->run("return getmetatable(gb.vector(1))"), "false");
  EXPECT_EQ(script->run("return pcall(setmetatable, gb.vector(1), {})"), "false");
  lua_State* const L = script->state();
  {
    const Module gb = Module::root(L);
    lua_newtable(L);
    lua_setfield(L, gb.index(), "inner");
    name_members(L, gb.index(), "gb");
  }
  EXPECT_EQ(script->run("return tostring(getmetatable(gb)) .. tostring(getmetatable(gb.inner))"), "falsefalse");
  EXPECT_EQ(script->run("return pcall(setmetatable, gb, nil)"), "false");
  EXPECT_EQ(script->error("return gb.inner.x"), "test:1: gb.inner: no 'x' (known: none)");
}

}  // namespace
}  // namespace gpubench::lua
