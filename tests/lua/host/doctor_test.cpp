// gpubench doctor as a user runs it. The machine under the test may be busy or not: only faults that the test makes
// count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "core/results/info.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DoctorCommand : public FolderTest {
 protected:
  struct Answer {
    int status;
    bool problem;
    std::map<std::string, Info> checks;
  };
  Answer ask(const std::vector<std::string>& environment, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"doctor", "--json"});
    const Ended ended = run_program(options, path(), environment);
    const Info parsed = parse_json(ended.out, "doctor --json");
    Answer answer{ended.status, parsed.text("problem") == "true", {}};
    for (const Info& one : *parsed.find("checks")->list()) answer.checks.emplace(one.text("name"), one);
    return answer;
  }
};

TEST_F(DoctorCommand, NamesAFaultWithItsCostAndRemedy) {
  const Ended ended = run_program({"doctor"}, path(), {"ONEDNN_MAX_CPU_ISA=SSE41", "PATH=/nothing"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out,
              AllOf(StartsWith("1 thing is wrong, "),
                    HasSubstr("here.\ngnuplot: there is no program gnuplot on the PATH\n    costs   "),
                    HasSubstr("environment: ONEDNN_MAX_CPU_ISA=SSE41\n    costs   kernels on the CPU use fewer "
                              "instructions than the processor has\n    remedy  unset ONEDNN_MAX_CPU_ISA\n"),
                    HasSubstr("\nok: "), HasSubstr("shared_memory")));
  EXPECT_THAT(ended.err, "");
}

TEST_F(DoctorCommand, TheStatusIsThatOfTheChecks) {
  const Answer sound = ask({}), faulty = ask({"OMP_THREAD_LIMIT=1", "ONEDNN_VERBOSE=0", "DNNL_MAX_CPU_ISA=SSE41"});
  bool problem = false;
  for (const auto& [name, one] : sound.checks)
    problem = problem || one.text("state") == "costs speed" || one.text("state") == "wrong";
  EXPECT_EQ(sound.status, problem ? 1 : 0);
  EXPECT_EQ(sound.problem, problem);
  EXPECT_EQ(sound.checks.at("environment").text("state"), "ok");
  EXPECT_EQ(faulty.status, 1);
  const Info& environment = faulty.checks.at("environment");
  EXPECT_EQ(environment.text("state"), "costs speed");
  EXPECT_NE(environment.text("consequence"), "");
  EXPECT_NE(environment.text("remedy"), "");
}

TEST_F(DoctorCommand, VerifiesTheArithmetic) {
  const Answer answer = ask({}, {"--verify"});
  const Info& arithmetic = answer.checks.at("arithmetic");
  EXPECT_THAT(arithmetic.text("found"), HasSubstr("are right"));
  EXPECT_EQ(arithmetic.text("state"), "ok");
}

TEST_F(DoctorCommand, WrongUsageIsAnError) {
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"doctor", "--verfy"}, {"doctor", "gpu:0"}}) {
    const Ended ended = run_program(wrong, path());
    EXPECT_EQ(ended.status, 2) << wrong.back();
    EXPECT_THAT(ended.err, HasSubstr("doctor"));
  }
}

TEST_F(DoctorCommand, ADeviceThatIsMissingSaysWhy) {
  const Ended ended = run("require('gpubench').device('gpu:0', function() end)");
  if (ended.status == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_THAT(ended.err, AllOf(HasSubstr("there is no device gpu:0"), Not(HasSubstr("no GPU is to be used")),
                               AnyOf(HasSubstr("driver"), HasSubstr("CUDA"), HasSubstr("/dev/nvidia"))));
}

}  // namespace
}  // namespace gpubench
