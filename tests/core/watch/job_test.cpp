#include "core/watch/job.h"

#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Seconds long_grace{30};

/// A standard stream of this process is a file, as long as the object lives.
class Redirected {
 public:
  Redirected(int stream, const std::filesystem::path& file, int flags) : stream_(stream), before_(::dup(stream)) {
    const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC, 0600);
    ::dup2(descriptor, stream);
    ::close(descriptor);
  }
  ~Redirected() {
    ::dup2(before_, stream_);
    ::close(before_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  const int stream_, before_;
};

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

class JobTest : public TemporaryFolder {
 protected:
  static JobCommand shell(const std::string& script) { return {.words = {"sh", "-c", script}}; }
  static JobEnd end_of(Job& job) {
    while (job.wait_until(Clock::now() + std::chrono::seconds(1))) {
    }
    return *job.own_end();
  }
  static JobEnd end_of(const JobCommand& command) {
    Job job(command);
    return end_of(job);
  }
  /// Until the job has made the file, and no longer than it runs.
  void wait_for(Job& job, const std::string& name) const {
    while (!std::filesystem::exists(file(name)) && job.wait_until(Clock::now() + std::chrono::milliseconds(5))) {
    }
    EXPECT_TRUE(std::filesystem::exists(file(name)));
  }
  /// Sends a signal to this process from a process of another group.
  static void send_from_elsewhere(int signal) {
    const int target = ::getpid();
    if (::fork() != 0) return;  // the job that lives waits for it
    ::setpgid(0, 0);
    ::kill(target, signal);
    ::_exit(0);
  }
  std::filesystem::path program(const std::string& name, const std::string& text, int mode = 0700) const {
    ::chmod(write(name, text).c_str(), static_cast<mode_t>(mode));
    return file(name);
  }
};

TEST_F(JobTest, TheExitStatusIsThatOfTheJob) {
  const JobEnd end = end_of(shell("exit 7"));
  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.shell_status(), 7);
  EXPECT_GT(end.resident_peak_bytes, 0);
}

TEST_F(JobTest, ASignalThatEndsItIsKnown) {
  const JobEnd end = end_of(shell("kill -KILL $$"));
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_EQ(end.shell_status(), 137);
}

TEST_F(JobTest, ThisProcessEndsAsTheJobDid) {
  EXPECT_EXIT(end_as({.status = 7}), ::testing::ExitedWithCode(7), "");
  EXPECT_EXIT(end_as({.signal = SIGTERM}), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(end_as({.signal = SIGSEGV}), ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(end_as({.signal = SIGWINCH}), ::testing::ExitedWithCode(128 + SIGWINCH), "") << "it ends nothing";
}

TEST_F(JobTest, TheAgentIsFirstOnThePathOfPython) {
  const auto told = [&](const char* before) {
    const Variable path("PYTHONPATH", before);
    JobCommand command = shell("printf '%s' \"$PYTHONPATH|$GPUBENCH_AGENT|$MINE|$TAKEN\" > " + file("told").string());
    command.python_path = "/agent";
    command.settings = {"GPUBENCH_AGENT=/out", "MINE=new"};
    command.removed = {"TAKEN"};
    EXPECT_EQ(end_of(command).status, 0);
    return contents(file("told"));
  };
  const Variable mine("MINE", "old"), taken("TAKEN", "ours");
  EXPECT_EQ(told(nullptr), "/agent|/out|new|");
  EXPECT_EQ(told(""), "/agent|/out|new|") << "an empty entry would be the current folder";
  EXPECT_EQ(told("/mine:/yours"), "/agent:/mine:/yours|/out|new|");
}

TEST_F(JobTest, BytesPassThrough) {
  std::string bytes;
  for (int i = 0; i < 70'000; ++i) bytes += static_cast<char>(i * 37 % 256);
  const Redirected in(STDIN_FILENO, write("in", bytes), O_RDONLY);
  const Redirected out(STDOUT_FILENO, file("out"), O_WRONLY | O_CREAT);
  const Redirected error(STDERR_FILENO, file("error"), O_WRONLY | O_CREAT);
  EXPECT_EQ(end_of(shell("cat; printf 'a\\000b' >&2")).status, 0);
  EXPECT_EQ(contents(file("out")), bytes);
  EXPECT_EQ(contents(file("error")), std::string("a\0b", 3));
}

TEST_F(JobTest, ItIsInTheSameGroupAndSession) {
  Job job(shell("read line"));
  EXPECT_EQ(::getpgid(job.process()), ::getpgrp());
  EXPECT_EQ(::getsid(job.process()), ::getsid(0));
}

TEST_F(JobTest, WhatCannotBeStartedIsSaid) {
  const auto start = [](const std::string& word) { Job job({.words = {word}}); };
  EXPECT_ERROR(HasSubstr("it has no words; write the command behind --"), Job({.words = {}}));
  EXPECT_ERROR(HasSubstr("the job cannot be started: there is no program 'pyhton' on the PATH (/"), start("pyhton"));
  EXPECT_ERROR(HasSubstr("there is no file '/nowhere/python'"), start("/nowhere/python"));
  EXPECT_ERROR(HasSubstr("is a folder; name the program in it"), start(file("").string()));
  EXPECT_ERROR(HasSubstr("/train.py' is not executable: chmod +x it, or write its interpreter first (python "),
               start(program("train.py", "print(1)\n", 0600).string()));
  EXPECT_ERROR(HasSubstr("' is not there: #!/nowhere/python"),
               start(program("shebang", "#!/nowhere/python\n").string()));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(file(""));
  const std::string here = support::error_of([&] { start("train.py"); });
  std::filesystem::current_path(before);
  EXPECT_THAT(here, HasSubstr("'train.py' is not on the PATH, only in this folder: write ./train.py"));
  EXPECT_ERROR(HasSubstr("there is no program '\\x1b[2J'"), start("\x1b[2J"));
}

TEST_F(JobTest, SignalsOfAJobThatCouldNotStartAreAsBefore) {
  struct sigaction before {
  }, after{};
  ::sigaction(SIGTERM, nullptr, &before);
  EXPECT_THROW(Job({.words = {"/nowhere"}}), Error);
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST_F(JobTest, AScriptWithoutAnInterpreterRunsInAShell) {
  EXPECT_EQ(end_of(JobCommand{.words = {program("script", "exit $1\n").string(), "5"}}).status, 5);
}

TEST_F(JobTest, AJobThatNeverEndsIsEnded) {
  Job job(shell("exec sleep 100000"));
  EXPECT_TRUE(job.wait_until(Clock::now() + std::chrono::milliseconds(1)));
  EXPECT_EQ(job.poll(), JobState::runs);
  EXPECT_FALSE(job.own_end());
  EXPECT_TRUE(job.end(long_grace));
  EXPECT_EQ(job.own_end()->signal, SIGTERM);
  EXPECT_EQ(job.poll(), JobState::ended);
  EXPECT_FALSE(job.wait_until(Clock::now() + std::chrono::hours(1)));
}

TEST_F(JobTest, AJobThatIgnoresSignalsIsKilled) {
  Job job(shell("trap '' TERM; : > " + file("ready").string() + "; while :; do sleep 100000; done"));
  wait_for(job, "ready");
  EXPECT_TRUE(job.end(Seconds(0.02)));
  EXPECT_EQ(job.own_end()->signal, SIGKILL);
}

TEST_F(JobTest, AJobThatIsStoppedIsEnded) {
  Job job(shell("kill -STOP $$; exec sleep 100000"));
  EXPECT_TRUE(job.end(long_grace));
  EXPECT_EQ(job.own_end()->signal, SIGTERM);
}

TEST_F(JobTest, AShellEndsBeforeItsProgram) {
  Job job(shell("exec 2> /dev/null; trap 'exit 4' TERM; sleep 100000 & : > " + file("ready").string() + "; wait"));
  wait_for(job, "ready");
  EXPECT_TRUE(job.end(long_grace));
  EXPECT_EQ(job.own_end()->status, 4);
  EXPECT_THAT(job.processes(), IsEmpty());
}

TEST_F(JobTest, WhatLeavesIsFollowed) {
  Job job(shell("(setsid sleep 100000 < /dev/null > /dev/null 2>&1 &) ; exit 3"));
  while (job.poll() == JobState::runs) job.wait_until(Clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(job.poll(), JobState::left);
  EXPECT_EQ(job.own_end()->status, 3);
  EXPECT_THAT(job.processes(), SizeIs(1));
  EXPECT_TRUE(job.wait_until(Clock::now() + std::chrono::milliseconds(1)));
  EXPECT_TRUE(job.end(Seconds(1)));
  EXPECT_EQ(job.poll(), JobState::ended);
  EXPECT_EQ(job.own_end()->status, 3) << "not that of what it has left";
}

TEST_F(JobTest, SignalsOfOthersAreSentOn) {
  for (const char* name : {"TERM", "HUP", "USR1", "USR2", "INT"}) {
    std::filesystem::remove(file("ready"));
    Job job(shell(std::string("trap 'exit 9' ") + name + "; : > " + file("ready").string() +
                  "; while :; do sleep 0.01; done"));
    wait_for(job, "ready");
    const std::map<std::string, int> signals = {
        {"TERM", SIGTERM}, {"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"INT", SIGINT}};
    send_from_elsewhere(signals.at(name));
    EXPECT_EQ(end_of(job).status, 9) << name;
    EXPECT_EQ(job.signal_seen(), name[0] == 'U' ? 0 : signals.at(name));
  }
}

TEST_F(JobTest, ASecondSignalOfTheTerminalIsNotMade) {
  Job job(shell("cd " + file("").string() + "; trap 'exit 9' INT QUIT; : > ready; " +
                "while :; do [ -e asked ] && : > alive; sleep 0.01; done"));
  wait_for(job, "ready");
  for (const int signal : {SIGINT, SIGQUIT}) {
    ::raise(signal);  // as from the same group; this process survives it
    EXPECT_EQ(job.signal_seen(), signal);
  }
  write("asked", "");
  wait_for(job, "alive");
  EXPECT_FALSE(job.own_end());
}

TEST_F(JobTest, WhatTheJobSendsToItsGroupDoesNotComeBack) {
  Job job(shell("cd " + file("").string() + "; exec 2> /dev/null; trap ': > got' TERM; kill -TERM $PPID; : > ready; " +
                "while :; do [ -e asked ] && : > alive; sleep 0.01; done"));
  wait_for(job, "ready");
  EXPECT_EQ(job.signal_seen(), SIGTERM);
  write("asked", "");
  wait_for(job, "alive");
  EXPECT_FALSE(std::filesystem::exists(file("got")));
}

TEST_F(JobTest, AScriptOfTheSameGroupEndsIt) {
  Job job(shell("exec sleep 100000"));
  ::raise(SIGTERM);  // as `kill $!` of a shell without job control
  EXPECT_EQ(end_of(job).signal, SIGTERM);
}

TEST_F(JobTest, WhatIsIgnoredStaysSo) {
  struct sigaction before {
  }, ignored{};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGHUP, &ignored, &before);
  {
    Job job(shell("kill -HUP $$; exit 6"));
    EXPECT_EQ(end_of(job).status, 6) << "as under nohup";
  }
  struct sigaction after {};
  ::sigaction(SIGHUP, &before, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
}

TEST_F(JobTest, DestroyingItEndsTheJob) {
  int process = 0;
  {
    Job job(shell("exec sleep 100000"));
    process = job.process();
  }
  EXPECT_EQ(::kill(process, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace gpubench
