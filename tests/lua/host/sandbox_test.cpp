// lua/host/sandbox.cpp and lua/api/output_path.cpp, through the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Sandbox = FolderTest;

TEST_F(Sandbox, ProgramsAndMachineCodeAreOutOfReach) {
  EXPECT_THAT(run("os.execute('true')").err,
              HasSubstr("script.lua:1: os.execute is not available to scripts (--trusted allows it)"));
  for (const char* name : {"io.popen", "io.tmpfile", "os.exit", "os.tmpname", "os.setlocale", "package.loadlib"}) {
    const Ended ended = run(std::string(name) + "('x', 'y')");
    EXPECT_EQ(ended.status, 2) << name;
    EXPECT_THAT(ended.err, HasSubstr(std::string(name) + " is not available to scripts"));
  }
  EXPECT_THAT(run("debug.sethook()").err, HasSubstr("debug.sethook is not available to scripts"));
  EXPECT_THAT(run("require('debug').getinfo(1)").err, HasSubstr("debug.getinfo is not available to scripts"));
}

TEST_F(Sandbox, BinaryChunksAreRefused) {
  EXPECT_THAT(run("assert(load(string.dump(function() end)))").err,
              HasSubstr("attempt to load a binary chunk (mode is 't')"));
  EXPECT_THAT(run("assert(load(string.dump(function() end), 'x', 'b'))").err,
              HasSubstr("attempt to load a binary chunk"));
  run("local f = io.open('results/code.lua', 'wb') f:write(string.dump(function() end)) f:close()");
  std::filesystem::rename(file("results/code.lua"), file("code.lua"));
  EXPECT_THAT(run("dofile 'code.lua'").err, HasSubstr("attempt to load a binary chunk"));
  EXPECT_THAT(run("assert(loadfile 'code.lua')").err, HasSubstr("attempt to load a binary chunk"));
  EXPECT_THAT(run("require 'code'").err, HasSubstr("attempt to load a binary chunk"));
  EXPECT_THAT(run_program({"code.lua"}, path()).err, HasSubstr("attempt to load a binary chunk"));
  EXPECT_EQ(run("assert(load('x = 1', 'n', 't', {}))").status, 0);
}

TEST_F(Sandbox, WritingEndsAtResultsAndPlots) {
  const auto in = [&](const std::string& script, const std::string& folder) { return run(script, {"--out", folder}); };
  EXPECT_EQ(in("assert(io.open('o/results/inside.txt', 'w')):write('x')", "o").status, 0);
  EXPECT_EQ(read("o/results/inside.txt"), "x");
  EXPECT_EQ(in("assert(io.open('o/plots/inside.txt', 'w')):write('x')", "o").status, 0);
  const std::string refused = "is not below the output folders";
  EXPECT_THAT(in("io.open('../outside.txt', 'w')", ".").err,
              HasSubstr("script.lua:1: io.open: '../outside.txt' " + refused));
  EXPECT_THAT(in("io.open('results/a/../../../outside.txt', 'a')", ".").err, HasSubstr(refused));
  EXPECT_THAT(in("io.open('/tmp/gpubench-outside.txt', 'r+')", ".").err, HasSubstr(refused));
  EXPECT_THAT(in("io.output('/tmp/gpubench-outside.txt')", ".").err, HasSubstr("io.output: '/tmp/"));
  EXPECT_THAT(in("os.remove('/tmp/gpubench-outside.txt')", ".").err, HasSubstr("os.remove: '/tmp/"));
  EXPECT_THAT(in("os.rename('o/results/inside.txt', 'outside.txt')", "o").err,
              HasSubstr("os.rename: 'outside.txt' " + refused));
  EXPECT_THAT(in("io.open('o/results/inside.txt', 'w')", "deeper").err, HasSubstr(refused));
  EXPECT_EQ(
      in("assert(os.rename('o/results/inside.txt', 'o/plots/moved.txt')) assert(os.remove('o/plots/moved.txt'))", "o")
          .status,
      0);
}

// By them later runs are judged.
TEST_F(Sandbox, BaselinesCalibrationsAndHistoriesAreNotForScripts) {
  const std::string found = "local n = require 'gpubench'._native ";
  for (const char* folder : {"o/baselines/v1/new", "o/calibration/new.json", "o/new"}) {
    std::filesystem::create_directories(file(folder).parent_path());
    EXPECT_THAT(run("io.open('" + std::string(folder) + "', 'w')", {"--out", "o"}).err,
                HasSubstr("is not below the output folders"));
  }
  for (const char* name : {"history", "compare", "changes", "device_details"})
    EXPECT_EQ(run(found + "print(n." + name + ")").out, "nil\n") << name;
  for (const char* name : {"render", "explain", "list", "finish", "pack", "prune"})
    EXPECT_EQ(run(found + "print(n.results." + name + ")").out, "nil\n") << name;
  EXPECT_THAT(run("require 'gpubench.commands.check'").err,
              HasSubstr("script.lua:1: require: 'gpubench.commands.check' is a command "
                        "of the program, which no script can call"));
  EXPECT_EQ(run("print(pcall(require, 'gpubench.commands.history'))", {"--trusted"}).out.substr(0, 5), "false");
}

TEST_F(Sandbox, TheOutputFolderItselfStays) {
  for (const char* call : {"os.remove('o/results')", "os.remove('o/results/')", "os.remove('./o/./results/.')",
                           "os.rename('o/results', 'o/results/x')"}) {
    std::filesystem::create_directories(file("o/results"));
    EXPECT_THAT(run(call, {"--out", "o"}).err, HasSubstr("is the output folder, or has it in it")) << call;
    EXPECT_TRUE(std::filesystem::is_directory(file("o/results"))) << call;
  }
  for (const char* call : {"os.remove('o')", "os.rename('o', 'o/results/x')"}) {
    EXPECT_THAT(run(call, {"--out", "o"}).err, HasSubstr("'o' is not below the output folders")) << call;
    EXPECT_TRUE(std::filesystem::is_directory(file("o/results"))) << call;
  }
}

TEST_F(Sandbox, TheRecordOfARunElsewhereStaysAsItIs) {
  const std::string record = "{\"status\":\"running\"}";
  std::filesystem::create_directories(file("victim"));
  write("victim/run.json", record);
  write("victim/results.csv", "a\r\n");
  run("require('gpubench')._native.results.end_abandoned('victim', 'rewritten')", {"--out", "o"});
  EXPECT_EQ(read("victim/run.json"), record);
}

TEST_F(Sandbox, WithoutOutOnlyResultsAndChartsAreWritten) {
  EXPECT_EQ(run("assert(io.open('results/notes.txt', 'w')):write('x')").status, 0);
  EXPECT_EQ(read("results/notes.txt"), "x");
  EXPECT_THAT(run("io.open('script.lua', 'w')").err, HasSubstr("is not below the output folders"));
  EXPECT_THAT(run("io.open('plots/gpubench.gp', 'w')").err, HasSubstr("would be run by gnuplot"));
}

TEST_F(Sandbox, WhatAScriptReplacesIsNotAsked) {
  for (const char* trick : {"string.find = function() end", "type = function() return 'nil' end",
                            "gb._native.system.output_path = function(x) return x end",
                            "getmetatable('').__index = function() return function() end end"}) {
    EXPECT_THAT(run("local gb = require 'gpubench' " + std::string(trick) + " io.open('outside.txt', 'w')").err,
                HasSubstr("is not below the output folder"))
        << trick;
    EXPECT_FALSE(std::filesystem::exists(file("outside.txt")));
  }
}

TEST_F(Sandbox, ACheckpointsFilledPathIsHeldAgainstIt) {
  const std::string script = R"(
    local gb = require "gpubench"
    local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 } }) }
    model:compile { optimizer = "sgd", loss = "mse" }
    local x = gb.ones({ 2, 1 })
    model:fit(x, x, { verbose = 0, callbacks = { gb.callbacks.ModelCheckpoint(%s) } })
  )";
  const auto with = [&](const std::string& path) {
    std::string filled = script;
    return run(filled.replace(filled.find("%s"), 2, "'" + path + "'"));
  };
  for (const char* outside : {"../outside", "results/{epoch}/../../../outside"})
    EXPECT_THAT(with(outside).err,
                HasSubstr("ModelCheckpoint: '" + std::string(outside) + "' is not below the output"));
  EXPECT_EQ(with("results/{epoch}").err, "");
  EXPECT_TRUE(std::filesystem::exists(file("results/01/architecture.json")));
}

TEST_F(Sandbox, ASymbolicLinkIsNoWayOut) {
  std::filesystem::create_directory_symlink("/tmp", path() + "/link");
  EXPECT_THAT(run("io.open('link/gpubench-outside.txt', 'w')", {"--out", "."}).err,
              HasSubstr("is not below the output folder"));
}

TEST_F(Sandbox, ReadingStaysOpen) {
  EXPECT_EQ(run("assert(io.open('/etc/passwd')):read('l') for _ in io.lines('script.lua') do end").status, 0);
}

TEST_F(Sandbox, ModulesComeFromTheScriptsFolder) {
  write("helper.lua", "return { answer = 42 }");
  EXPECT_EQ(run("print(require('helper').answer)").out, "42\n");
  std::filesystem::create_directory(path() + "/elsewhere");
  EXPECT_EQ(run_program({path() + "/script.lua"}, path() + "/elsewhere").out, "42\n");
  const Ended missing = run("require 'lfs'");
  EXPECT_THAT(missing.err, HasSubstr("module 'lfs' not found"));
  EXPECT_THAT(missing.err, Not(HasSubstr(".so")));
}

TEST_F(Sandbox, TrustedLiftsIt) {
  EXPECT_EQ(run("assert(os.execute('true')) assert(debug.getinfo(1)) assert(io.popen('true'))", {"--trusted"}).status,
            0);
}

}  // namespace
}  // namespace gpubench
