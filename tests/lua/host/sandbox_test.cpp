// lua/gpubench/sandbox.lua and lua/api/output_path.cpp, through the program.
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
  run("local f = io.open('code.lua', 'wb') f:write(string.dump(function() end)) f:close()");
  EXPECT_THAT(run("dofile 'code.lua'").err, HasSubstr("attempt to load a binary chunk"));
  EXPECT_THAT(run("assert(loadfile 'code.lua')").err, HasSubstr("attempt to load a binary chunk"));
  EXPECT_THAT(run("require 'code'").err, HasSubstr("attempt to load a binary chunk"));
  EXPECT_THAT(run_program({"code.lua"}, path()).err, HasSubstr("attempt to load a binary chunk"));
  EXPECT_EQ(run("assert(load('x = 1', 'n', 't', {}))").status, 0);
}

TEST_F(Sandbox, WritingEndsAtTheOutputFolder) {
  EXPECT_EQ(run("assert(io.open('inside.txt', 'w')):write('x')").status, 0);
  EXPECT_EQ(read("inside.txt"), "x");
  const std::string refused = "is not below the output folder";
  EXPECT_THAT(run("io.open('../outside.txt', 'w')").err,
              HasSubstr("script.lua:1: io.open: '../outside.txt' " + refused));
  EXPECT_THAT(run("io.open('a/../../outside.txt', 'a')").err, HasSubstr(refused));
  EXPECT_THAT(run("io.open('/tmp/gpubench-outside.txt', 'r+')").err, HasSubstr(refused));
  EXPECT_THAT(run("io.output('/tmp/gpubench-outside.txt')").err, HasSubstr("io.output: '/tmp/"));
  EXPECT_THAT(run("os.remove('/tmp/gpubench-outside.txt')").err, HasSubstr("os.remove: '/tmp/"));
  EXPECT_THAT(run("os.rename('inside.txt', '../outside.txt')").err,
              HasSubstr("os.rename: '../outside.txt' " + refused));
  EXPECT_THAT(run("io.open('inside.txt', 'w')", {"--out", "deeper"}).err, HasSubstr(refused));
  EXPECT_EQ(run("assert(os.rename('inside.txt', 'moved.txt')) assert(os.remove('moved.txt'))").status, 0);
}

TEST_F(Sandbox, ASymbolicLinkIsNoWayOut) {
  std::filesystem::create_directory_symlink("/tmp", path() + "/link");
  EXPECT_THAT(run("io.open('link/gpubench-outside.txt', 'w')").err, HasSubstr("is not below the output folder"));
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
