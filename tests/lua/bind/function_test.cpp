#include "lua/bind/function.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <system_error>
#include <thread>

#include "tests/lua/bind/script.h"

namespace gpubench::lua {
namespace {

using ::testing::HasSubstr;

struct DeviceFull : std::runtime_error {
  using runtime_error::runtime_error;
};

class FunctionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Module gb = Module::root(script->state());
    gb.function<[](const LuaFunction& f, double x) { return f.call<double>(x); }>("apply")
        .function<[](const LuaFunction& f) { return f.call<std::tuple<int, std::string>>(); }>("pair")
        .function<[](const std::function<int(int)>& f) { return f(20) + f(21); }>("twice")
        .function<[] { throw DeviceFull("device full"); }>("fill")
        .function<[]() -> StackFunction {
          return [n = 0](lua_State* L) mutable {
            lua_pushinteger(L, ++n);
            return 1;
          };
        }>("counter");
    Module::root(script->state()).function<[](const Reference& value) { return value; }>("same");
  }
  std::unique_ptr<Script> script = std::make_unique<Script>();
};

TEST_F(FunctionTest, CallsGoBothWays) {
  EXPECT_EQ(script->run("return gb.apply(function(x) return x * 2 end, 4)"), "8.0");
  EXPECT_EQ(script->run("return gb.apply(setmetatable({}, { __call = function(_, x) return x end }), 4)"), "4.0");
  EXPECT_EQ(script->run("local a, b = gb.pair(function() return 1, 'b' end) return a .. b"), "1b");
  EXPECT_EQ(script->run("return gb.twice(function(x) return x end)"), "41");
  EXPECT_EQ(script->run("local c = gb.counter() c() return c()"), "2");
  EXPECT_EQ(script->run("local t = {} return gb.same(t) == t"), "true");
}

TEST_F(FunctionTest, ResultsAreChecked) {
  EXPECT_EQ(script->error("gb.apply(function() return 'x' end, 1)"),
            "test:1: gb.apply: result #1 of the function: number expected, got string");
  EXPECT_EQ(script->error("gb.apply(3, 1)"), "test:1: gb.apply: argument #1: function expected, got number");
}

TEST_F(FunctionTest, ErrorsKeepTheirPlaceAndTraceback) {
  EXPECT_EQ(script->error("gb.apply(function()\n error('odd') end, 1)"), "test:2: odd");
  EXPECT_THAT(Machine::of(script->state()).delivered.traceback, HasSubstr("test:2: in function <test:1>"));
}

TEST_F(FunctionTest, ExceptionsCrossLuaWithTheirType) {
  EXPECT_THROW(script->run("gb.apply(function()\n gb.fill() end, 1)"), DeviceFull);
  EXPECT_EQ(Machine::of(script->state()).delivered.text, "test:2: device full");
  EXPECT_THROW(script->run("local ok, e = pcall(gb.fill) error(e, 0)"), DeviceFull);
  EXPECT_THROW(script->run("pcall(gb.fill) error('other', 0)"), ScriptError);
}

TEST_F(FunctionTest, AnUnusualErrorValueHasAText) {
  EXPECT_THAT(script->error("error({})"), HasSubstr("(the error is a table)"));
  EXPECT_EQ(script->error("error()"), "nil");
  EXPECT_EQ(script->error("error(setmetatable({}, { __tostring = function() return 'its own' end }))"), "its own");
  EXPECT_EQ(script->error("error(setmetatable({}, { __tostring = function() error 'x' end }))"),
            "(the error is a table whose __tostring fails)");
  EXPECT_EQ(script->error("error(setmetatable({}, { __tostring = function() return {} end }))"),
            "(the error is a table whose __tostring fails)");
}

TEST_F(FunctionTest, WordsOfLibrariesAreReplaced) {
  const auto said = [](const std::exception& error) { return text_of(error); };
  EXPECT_EQ(said(std::bad_alloc()), "the machine's memory does not suffice");
  EXPECT_EQ(said(std::length_error("vector::reserve")), "the machine's memory does not suffice");
  EXPECT_EQ(said(std::filesystem::filesystem_error("status", "/x", std::make_error_code(std::errc::permission_denied))),
            "'/x': Permission denied");
  EXPECT_EQ(said(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))),
            "no more threads can be started: Resource temporarily unavailable");
  EXPECT_EQ(said(DeviceFull("device full")), "device full");
}

TEST_F(FunctionTest, AClosureThatWasCollectedSaysSo) {
  script->run("setmetatable({ f = gb.counter() }, { __gc = function(o) saved = o.f end })");
  script->run("collectgarbage() collectgarbage()");
  EXPECT_EQ(script->error("return saved()"),
            "test:1: this function is gone: the collector has ended it, and a finalizer kept it");
}

TEST_F(FunctionTest, RunsOnTheCoroutineThatCalls) {
  EXPECT_EQ(script->run("return coroutine.wrap(function() return gb.apply(function(x) return x + 1 end, 1) end)()"),
            "2.0");
}

TEST_F(FunctionTest, TheCoroutineThatCallsIsTheOneThatRuns) {
  constexpr auto runs = [](lua_State* L) {
    lua_pushboolean(L, Machine::of(L).running() == L);
    return 1;
  };
  Module::root(script->state()).function<runs, 0>("runs");
  EXPECT_EQ(script->run(R"(
    local function check() assert(gb.runs()) assert(gb.apply(function(x) return gb.runs() and x end, 1) == 1) end
    local function closing() return setmetatable({}, { __close = function() coroutine.wrap(check)() check() end }) end
    local function closed() local a <close> = closing() check() coroutine.yield() end
    for _, place in ipairs { function(f) f() end, function(f) coroutine.wrap(f)() end,
                             function(f) gb.apply(function(x) f() return x end, 1) end } do
      place(function()
        local co = coroutine.create(closed)
        coroutine.resume(co)
        coroutine.close(co)
        check()
        pcall(coroutine.wrap(function() local a <close> = closing() gb.fill() end))
        check()
        pcall(gb.apply, function() local a <close> = closing() coroutine.wrap(gb.fill)() end, 1)
        check()
        setmetatable({}, { __gc = check })
        collectgarbage()
        table.sort({ 2, 1 }, function(a, b) check() return a < b end)
      end)
      check()
    end
    return "all"
  )"),
            "all");
  EXPECT_EQ(Machine::of(script->state()).running(), script->state());
}

TEST_F(FunctionTest, AnErrorKeepsItsTypeWhileClosingHandlersCatchOthers) {
  EXPECT_THROW(script->run(R"(
    local other <close> = setmetatable({}, { __close = function()
      pcall(gb.apply, function() error("another") end, 1)
      pcall(gb.apply, error, 1)
      pcall(gb.apply, "x")
    end })
    gb.fill()
  )"),
               DeviceFull);
  EXPECT_EQ(Machine::of(script->state()).delivered.text, "test:7: device full");
  EXPECT_THROW(script->run(R"(
    local other <close> = setmetatable({}, { __close = function() error("instead", 0) end })
    gb.fill()
  )"),
               ScriptError);
}

TEST_F(FunctionTest, ReferencesOutliveTheStateAndEndOnAnyThread) {
  lua_State* L = script->state();
  lua_getglobal(L, "print");
  LuaFunction function = Value<LuaFunction>::read(L, -1);
  std::thread([copy = function]() mutable { EXPECT_THROW(copy.call(), ScriptError); }).join();
  Reference other(L, -1);
  std::thread([moved = std::move(other)] {}).join();
  script.reset();
  EXPECT_THROW(function.call(), ScriptError);
}

}  // namespace
}  // namespace gpubench::lua
