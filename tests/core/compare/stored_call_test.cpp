#include "core/compare/stored_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoredCalls : public TemporaryFolder {
 protected:
  void SetUp() override { write("script.lua", "return 1"); }
  std::filesystem::path folder() const { return file("x").parent_path(); }
  StoredCall call(Info::List arguments) const {
    return stored_call(folder(), Info::Fields{{"arguments", std::move(arguments)}});
  }
  std::string mistake_in(const Info& info) const {
    return support::error_of([&] { stored_call(folder(), info); });
  }
  std::string mistake(Info::List arguments) const {
    return mistake_in(Info::Fields{{"arguments", std::move(arguments)}});
  }
};

TEST_F(StoredCalls, KeepWhatDecidesWhatIsMeasured) {
  const StoredCall all =
      call({"run", "other.lua", "--set", "n=1,2", "--set=text=a b;$(c)", "--device", "gpu:0", "--budget", "0.5",
            "--timeout=60", "--wait-idle", "0", "--seed=7", "--threads", "2", "--quick"});
  EXPECT_EQ(all.script, folder() / "script.lua") << "the copy, whatever the run's own script was";
  EXPECT_THAT(all.options, ElementsAre("--set=n=1,2", "--set=text=a b;$(c)", "--device=gpu:0", "--budget=0.5",
                                       "--timeout=60", "--wait-idle=0", "--seed=7", "--threads=2", "--quick"));
  EXPECT_THAT(all.left_out, IsEmpty());
  EXPECT_THAT(call({"x.lua"}).options, IsEmpty()) << "'run' may be left out";
}

TEST_F(StoredCalls, LeaveOutWhatWritesNamesOrTrusts) {
  const StoredCall all = call({"x.lua", "--trusted", "--tag", "a", "--tag=--trusted", "--out", "/elsewhere", "-q",
                               "--require=ok", "--chart-format", "png", "--strict"});
  EXPECT_THAT(all.options, IsEmpty());
  EXPECT_THAT(all.left_out,
              ElementsAre("--trusted", "--tag", "--out", "-q", "--require", "--chart-format", "--strict"));
}

TEST_F(StoredCalls, AreRefusedForWordsOfAnotherKind) {
  const auto one = [&](const char* option, const char* value) { return mistake({"x.lua", option, value}); };
  EXPECT_THAT(one("--set", "--trusted=1"), HasSubstr("has --set with '--trusted=1', which is not AXIS=VALUE"));
  for (const char* value : {"n", "=1", "n=", "1n=2", "n m=1", "n-m=1", "n=\x1b[31m", "n=\xC2\x9B"})
    EXPECT_THAT(one("--set", value), HasSubstr("which is not AXIS=VALUE[,VALUE...]")) << value;
  EXPECT_THAT(one("--device", "--trusted"), HasSubstr("has --device with '--trusted', which is not a device"));
  for (const char* value : {"", "-1", "1s", "nan", "inf", "0x10", "--quick"})
    EXPECT_THAT(one("--budget", value), HasSubstr("which is not seconds")) << value;
  for (const char* value : {"", "-1", "1.5", "99999999999999999999"})
    EXPECT_THAT(one("--seed", value), HasSubstr("which is not a whole number")) << value;
  EXPECT_THAT(mistake({"x.lua", "--threads"}), HasSubstr("has --threads without a value"));
  EXPECT_THAT(mistake({"x.lua", "--quick=1"}), HasSubstr("has --quick=1, an option without a value"));
  EXPECT_THAT(one("--restart-from", "a"),
              HasSubstr("measured with --restart-from, which is not taken from a run.json"));
  EXPECT_THAT(one("--\x1b", "a"), HasSubstr("has the option --\\x1b, which gpubench run does not have"));
}

TEST_F(StoredCalls, AreRefusedForRunsOfAnotherKind) {
  EXPECT_THAT(mistake({"tune", "x.lua"}), HasSubstr("arguments of one 'gpubench run SCRIPT', but: tune x.lua"));
  const std::string none = "arguments of one 'gpubench run SCRIPT', but: none";
  for (const Info& arguments : {Info("x.lua"), Info(7), Info(), Info(Info::List{}), Info(Info::List{"x.lua", 7}),
                                Info(Info::List{Info(Info::List{"x.lua"})}), Info(Info::Fields{{"1", "x.lua"}})})
    EXPECT_THAT(mistake_in(Info::Fields{{"arguments", arguments}}), HasSubstr(none));
  EXPECT_THAT(mistake_in(Info::Fields{{"processes", Info::List{"0", "1"}}, {"arguments", Info::List{"x.lua"}}}),
              AllOf(HasSubstr("cannot be measured again"), HasSubstr("2 processes have measured it together")));
}

TEST_F(StoredCalls, NeedTheCopyOfTheScript) {
  std::filesystem::rename(file("script.lua"), file("other.lua"));
  EXPECT_THAT(mistake({"x.lua"}), HasSubstr("script.lua, the copy of its script, is not beside it"));
  std::filesystem::create_symlink(file("other.lua"), file("script.lua"));
  EXPECT_THAT(mistake({"x.lua"}), HasSubstr("script.lua beside it is no file"));
}

}  // namespace
}  // namespace gpubench
