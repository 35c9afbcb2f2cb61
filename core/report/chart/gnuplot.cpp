#include "core/report/chart/gnuplot.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/program.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

constexpr int not_installed = 127;

// Both ends of a pipe, closed when they go out of scope.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw Error("gnuplot: no pipe: " + std::generic_category().message(errno));
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_write();
    ::close(ends_[0]);
  }

  int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  std::string read_all() const {
    std::string text;
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t size = ::read(ends_[0], buffer.data(), buffer.size());
      if (size > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(size));
      } else if (size == 0 || errno != EINTR) {
        return text;
      }
    }
  }

 private:
  std::array<int, 2> ends_{};
};

struct Outcome {
  int status = 0;
  std::string output;
};

// Runs `gnuplot -d arguments` inside a folder; -d leaves the user's own start-up file unread. The gnuplot of a bundle
// comes before that of the PATH.
Outcome call_gnuplot(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  Pipe pipe;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipe.write_end(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, pipe.write_end(), STDERR_FILENO);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::vector<std::string> words = carried_program("gnuplot");
  if (words.empty()) words.emplace_back("gnuplot");
  words.emplace_back("-d");
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> texts;
  for (std::string& word : words) texts.push_back(word.data());
  texts.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, texts[0], &actions, nullptr, texts.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return {not_installed, ""};
  if (error != 0) throw Error("gnuplot: cannot start: " + std::generic_category().message(error));

  pipe.close_write();
  Outcome outcome{0, pipe.read_all()};
  while (::waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
  }
  return outcome;
}

}  // namespace

ChartFormats drawable_formats() {
  const Outcome outcome = call_gnuplot({"-e", "print ' '.GPVAL_TERMINALS.' '"}, ".");
  ChartFormats formats;
  if (outcome.status != 0) return formats;
  for (const ChartFormat format : {ChartFormat::svg, ChartFormat::png, ChartFormat::pdf})
    if (outcome.output.find(fmt::format(" {} ", terminal_of(format))) != std::string::npos) formats.push_back(format);
  return formats;
}

void run_gnuplot(const std::filesystem::path& script, const std::filesystem::path& folder) {
  const Outcome outcome = call_gnuplot({std::filesystem::absolute(script).string()}, folder);
  if (outcome.status == 0) return;
  throw Error(fmt::format("gnuplot failed on '{}': {}", script.string(),
                          outcome.status == not_installed ? "not installed" : one_line(outcome.output)));
}

}  // namespace gpubench
