// What the agent inside of a Python job has written (agent/README.md): counters and facts of each process. The files
// are read while they are written and after any end of their process, and a job may write what it likes into them: what
// can be read is read, everything else becomes a fault with its reason.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_names.h"
#include "core/results/info.h"
#include "core/watch/time_span.h"

namespace gpubench {

/// Times of a step that the agent tells apart, in the order of its records (fields 2 to 8, 10 and 13).
enum class JobStepPart : std::uint8_t {
  input_wait,  ///< waited for batches; with num_workers=0 that includes `loading`
  sync,        ///< calls by the user's code that wait for the device or copy to the host
  callbacks,   ///< of the user
  compile,     ///< tracing and compiling
  evaluation,  ///< validation between two training steps
  saving,
  agent,    ///< in the agent
  compute,  ///< forward, backward and optimizer, as the host sees them
  loading,  ///< samples loaded in the process itself: part of the wait for batches
};
inline constexpr EnumNames<JobStepPart, 9> job_step_parts{
    "unknown part of a step",
    {"input wait", "sync", "callbacks", "compile", "evaluation", "saving", "agent", "compute", "loading"}};

enum class SiteKind : std::uint8_t {
  unknown,
  sync,  ///< waits for the device
  callback,
  loading,  ///< loads a sample
  batch,    ///< takes a batch
  saving,
  compile,   ///< is traced or compiled anew
  stack,     ///< the main thread's stack was seen here: `times` are samples
  pipeline,  ///< Python function in a tf.data pipeline
  evaluation,
  loop_other,  ///< of the function that trains, by samples of the stack: no pass, no optimizer; or a line outside of it
  loop_forward,
  loop_backward,  ///< or a whole step in one function
  loop_optimizer,
  own_code,  ///< in a function that the loop calls, of loop_other
};
inline constexpr EnumNames<SiteKind, 15> site_kinds{
    "unknown kind of a site",
    {"unknown", "sync", "callback", "loading", "batch", "saving", "compile", "code", "pipeline", "evaluation", "other",
     "forward", "backward", "optimizer", "own code"}};

/// Whether its times are samples of the main thread's stack, and not calls.
constexpr bool is_sampled(SiteKind kind) {
  return kind == SiteKind::stack || kind >= SiteKind::loop_other;
}

struct AgentStep {
  Clock::time_point end;
  bool is_training = false;  ///< else evaluation
  bool in_window = false, compiled = false, first_of_epoch = false, saved = false, on_kept_batches = false;
  std::uint64_t batches = 0;
  /// Seconds, by JobStepPart.
  std::array<double, job_step_parts.names.size()> parts{};
  /// Of the main thread, since its start.
  double main_thread_cpu_s = 0;
  std::uint64_t involuntary_switches = 0;

  double part(JobStepPart which) const { return parts[static_cast<std::size_t>(which)]; }
};

/// A line of the user's code. Counted from step AgentProcess::sites_since on.
struct AgentSite {
  SiteKind kind = SiteKind::unknown;
  std::uint32_t line = 0;
  std::uint64_t times = 0;
  double seconds = 0, longest_s = 0;
  std::uint64_t last_step = 0;
  std::string function, file;  ///< as the job wrote them: bytes, not safe to show
};

enum class WindowState : std::uint8_t { not_yet, records, written, failed, not_asked_for };

struct AgentProcess {
  /// From the files' names.
  int process = 0;
  std::uint64_t started_ticks = 0;
  /// False where only facts lie: the counters could not be made, or not be read.
  bool has_counters = false;
  std::uint64_t parent = 0;
  std::int64_t rank = -1, ranks = -1, local_rank = -1;  ///< -1: none or unknown
  Clock::time_point loaded;
  /// False while it runs, and where it ended without a word (by a signal, os._exit).
  bool has_ended = false;
  Clock::time_point ended;  ///< if has_ended
  /// `batches`: those that training steps took.
  std::uint64_t steps_in_all = 0, training_steps = 0, batches = 0, stack_samples = 0, agent_faults = 0;
  WindowState window = WindowState::not_yet;
  std::uint64_t window_begin = 0, window_end = 0;  ///< numbers of steps, from 0
  /// Number of the first step that sites count. 0: the warm-up is not over, and they count all.
  std::uint64_t sites_since = 0;
  double agent_s = 0;            ///< in the agent's hooks outside of the window
  double agent_in_window_s = 0;  ///< in the window, with the profiler's start, stop and export
  bool keeps_batches = false;    ///< its last steps run, or ran, on kept batches
  bool kept_batches_done = false;
  std::string step_mark, script;

  /// Steps first_step, first_step + 1, ...: the newest of them, as far as the ring holds them.
  std::uint64_t first_step = 0;
  std::vector<AgentStep> steps;
  std::vector<AgentSite> sites;
  std::vector<Info> facts;
  std::filesystem::path window_folder;

  /// The last fact of this name; null if there is none.
  const Info* fact(std::string_view name) const;
  std::vector<const Info*> facts_named(std::string_view name) const;
  /// Training steps in the window, as the agent counted them; 0 if unknown.
  int window_steps() const;
};

struct AgentFiles {
  /// By start and number.
  std::vector<AgentProcess> processes;
  /// "17-230.counters: version 7; this gpubench reads version 1". At most most_agent_faults, then how many there are
  /// more.
  std::vector<std::string> faults;

  /// Processes that have trained: of each rank the one that was started last; in the order of ranks.
  std::vector<const AgentProcess*> ranks() const;
};
inline constexpr std::size_t most_agent_faults = 20;

enum class AgentDetail : std::uint8_t {
  heads,  ///< counters without steps and sites, no facts: cheap enough to be asked several times a second
  all
};

/// Throws Error only if the folder cannot be read.
AgentFiles read_agent_files(const std::filesystem::path& folder, AgentDetail detail = AgentDetail::all);

}  // namespace gpubench
