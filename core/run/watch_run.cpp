#include "core/run/watch_run.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <system_error>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/report/page/finish.h"
#include "core/results/run_writer.h"
#include "core/run/agent_folder.h"
#include "core/run/job_difference.h"
#include "core/run/job_machine.h"
#include "core/run/job_row.h"
#include "core/run/rank_rows.h"
#include "core/traces/open_traces.h"
#include "core/traces/ranks.h"
#include "core/watch/agent_files.h"
#include "core/watch/job_gpus.h"
#include "core/watch/job_steps.h"
#include "core/watch/job_tree.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// "train" of "python -u train.py --lr 1".
std::string name_of(const std::vector<std::string>& command) {
  std::string name = fs::path(command.front()).stem().string();
  for (const std::string& word : command)
    if (word.ends_with(".py")) {
      name = fs::path(word).stem().string();
      break;
    }
  return folder_name(name, "job");
}

JobCommand command_of(const WatchOptions& options, const fs::path& folder) {
  const std::string at = options.at < 0 ? "auto" : std::to_string(options.at);
  JobCommand command = agent_command(
      options.command, folder, options.window_steps == 0 ? "none" : fmt::format("{},{}", at, options.window_steps),
      options.remedies);
  command.is_quiet = options.is_quiet;
  if (options.prove_steps > 0) command.settings.push_back(fmt::format("GPUBENCH_AGENT_PROVE={}", options.prove_steps));
  return command;
}

std::optional<TraceAnalysis> window_of(const AgentProcess& process, std::vector<std::string>& notes) {
  std::error_code none;
  if (process.window != WindowState::written || !fs::is_directory(process.window_folder, none)) return std::nullopt;
  try {
    OpenedTraces opened = open_traces({process.window_folder});
    if (opened.ranks.empty()) return std::nullopt;
    // The clocks of ranks on one machine are one; the agent knows its rank.
    ForeignTrace& trace = opened.ranks.front();
    if (process.rank >= 0) trace.rank = static_cast<int>(process.rank);
    if (process.ranks > 0) trace.world_size = static_cast<int>(process.ranks);
    trace.file = "window";
    return analyse(std::move(trace), {.known_steps = process.window_steps()});
  } catch (const Error& error) {
    notes.push_back(fmt::format("the window that was recorded cannot be read: {}", error.what()));
    return std::nullopt;
  }
}

std::string why_no_agent(const AgentFiles& files, const std::vector<std::string>& command) {
  if (files.processes.empty() && fs::path(command.front()).filename() == "gpubench")
    return "the job is gpubench itself: its own watch or tune has the job's agent";
  if (files.processes.empty())
    return "no Python process has loaded the agent: the command runs no Python, or Python runs with -S, -I or -E, in an "
           "environment that was cleaned (sudo, env -i), in a container, or as another user, who cannot write the agent's "
           "files";
  std::string frameworks;
  for (const AgentProcess& process : files.processes)
    for (const Info* const fact : process.facts_named("framework")) {
      const std::string name = fact->text("name");
      if (frameworks.find(name) == std::string::npos) frameworks += (frameworks.empty() ? "" : ", ") + name;
    }
  if (frameworks.empty())
    return "the job has imported neither PyTorch nor TensorFlow, Keras or JAX: there are no steps to watch";
  return fmt::format(
      "no step of training was seen, though the job has imported {}: the agent sees steps of "
      "optimizers of PyTorch, batches of Keras' fit, and calls of jitted functions",
      frameworks);
}

class Watcher {
 public:
  Watcher(const WatchOptions& options, const std::function<void(const WatchReport&)>& report)
      : options_(options), report_(report), job_(command_of(options, folder_.path())), tree_(::getpid()) {
    if (!gpu_bus_ids_.empty()) gpus_.emplace(open_nvml(), gpu_bus_ids_);
  }

  JobEnd run() {
    while (job_.wait_until(tree_.next_read())) {
      tree_.read();
      if (gpus_ && !is_reported_) gpus_->read(tree_.processes());
      if (job_.own_end()) {
        // What the job has left behind is waited for, until somebody wants the end of that too.
        if (job_.signal_since_end() != 0) break;
        if (!is_reported_ && has_trained()) report();
      }
      if (!is_reported_ && is_due()) {
        report();
        if (options_.stop) job_.end(Seconds(10));
      }
    }
    tree_.read();
    if (!is_reported_) report();
    JobEnd end = job_.own_end().value_or(JobEnd{});
    // Who asked for the end has it: the job was well until then.
    if (options_.stop && was_due_) end.status = end.signal = 0;
    end.asked = job_.signal_seen();
    return end;
  }

 private:
  /// Whether the window is written and the job has run long enough behind its warm-up.
  bool is_due() {
    if (folder_.path().empty()) return false;
    constexpr Seconds period{0.5};
    const Clock::time_point now = Clock::now();
    if (now < next_look_) return false;
    next_look_ = now + std::chrono::duration_cast<Clock::duration>(period);
    bool is_due = false;
    try {
      const AgentFiles files = read_agent_files(folder_.path(), AgentDetail::heads);
      for (const AgentProcess* const rank : files.ranks()) {
        const bool has_window = rank->window != WindowState::not_yet && rank->window != WindowState::records;
        const bool has_proof = options_.prove_steps == 0 || rank->kept_batches_done;
        if (!has_window || !has_proof) return false;
        if (!since_) since_ = now;
        is_due = now - *since_ >= options_.time;
      }
    } catch (const Error&) {
      return false;  // at the end the reason is told
    }
    was_due_ = is_due;
    return is_due;
  }

  /// Whether what is left behind trains no more: a job may go on in the background, or leave a server.
  bool has_trained() {
    const Clock::time_point now = Clock::now();
    if (folder_.path().empty() || now < next_look_) return false;
    try {
      const AgentFiles files = read_agent_files(folder_.path(), AgentDetail::heads);
      const std::vector<const AgentProcess*> ranks = files.ranks();
      const std::vector<int> running = tree_.processes();
      return !ranks.empty() && std::ranges::none_of(ranks, [&](const AgentProcess* rank) {
        return std::ranges::binary_search(running, rank->process);
      });
    } catch (const Error&) {
      return false;
    }
  }

  void report() {
    is_reported_ = true;
    WatchReport report;
    try {
      report = write();
    } catch (const Error& error) {
      report.why_none = error.what();
    }
    report_(report);
  }

  WatchReport write() {
    if (folder_.path().empty()) return {.run = {}, .why_none = AgentFolder::why_none};
    const AgentFiles files = read_agent_files(folder_.path());
    const std::vector<const AgentProcess*> processes = files.ranks();
    if (processes.empty()) return {.run = {}, .why_none = why_no_agent(files, options_.command)};
    std::vector<std::string> notes = files.faults;
    std::vector<WatchedRank> ranks;
    for (const AgentProcess* const process : processes) {
      constexpr std::size_t most_faults = 3;
      const std::vector<const Info*> faults = process->facts_named("fault");
      for (const Info* const fault : std::span(faults).first(std::min(faults.size(), most_faults)))
        notes.push_back(fmt::format("a part of the agent failed and counts nothing since ({}: {}); the job goes on",
                                    shown_text(fault->text("where"), 100), shown_text(fault->text("error"), 200)));
      WatchedRank rank{.process = process, .steps = job_steps(*process), .window = window_of(*process, notes)};
      rank.use = tree_.use(rank.steps.spans);
      std::vector<int> numbers;
      for (const AgentProcess* const worker : workers_of(files, *process)) numbers.push_back(worker->process);
      const std::vector<JobProcess> workers = rank.use.of(numbers);
      if (!workers.empty()) rank.workers = sum_of(workers);
      rank.worker_sites = worker_sites(files, *process);
      rank.local_ranks = processes.size();
      ranks.push_back(std::move(rank));
    }
    return write(std::move(ranks), std::move(notes));
  }

  WatchReport write(std::vector<WatchedRank> ranks, std::vector<std::string> notes) {
    const std::vector<std::string>& command = options_.command;
    RunWriter writer({.experiment = name_of(command),
                      .title = shown_text(fmt::format("{}", fmt::join(command, " ")), 200),
                      .axes = ranks.size() > 1 ? std::vector<std::string>{"rank"} : std::vector<std::string>{},
                      .extra_columns = {},
                      .out = options_.out});
    Info::List traces, jobs, devices;
    for (const WatchedRank& rank : ranks) {
      traces.push_back(trace_facts(rank));
      jobs.push_back(job_facts(rank));
      if (rank.window) add_devices(devices, rank.window->trace);
    }
    if (devices.empty()) devices.push_back(Info::Fields{{"name", "cpu:0"}, {"shares_host_memory", true}});
    Info::List machine = machine_facts(ranks.front().use, gpus_ ? gpus_->used() : std::vector<JobGpu>{});
    Info::Fields fields{
        {"devices", std::move(devices)}, {"traces", std::move(traces)}, {"machine_checks", std::move(machine)}};
    std::vector<Record> rows;
    for (const WatchedRank& rank : ranks) rows.push_back(job_row(rank));
    if (options_.against) compare(rows, jobs, fields, notes);
    fields.emplace_back("jobs", std::move(jobs));
    fields.emplace_back("trace_notes", Info::List(notes.begin(), notes.end()));
    const bool has_all_windows =
        std::ranges::all_of(ranks, [](const WatchedRank& rank) { return rank.window.has_value(); });
    if (ranks.size() > 1 && has_all_windows) add_waits(ranks, rows, fields);
    writer.set_info(std::move(fields));
    std::vector<RankRow> rank_rows;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const WatchedRank& rank = ranks[i];
      rank_rows.push_back(
          {std::move(rows[i]), rank.window ? &*rank.window : nullptr, static_cast<int>(rank.process->rank), {}});
    }
    write_rank_rows(writer, std::move(rank_rows));
    finish_run(writer, {});
    const bool has_steps = std::ranges::any_of(ranks, [](const WatchedRank& rank) { return rank.steps.steps > 0; });
    WatchReport report{
        .run = writer.directory(), .why_none = has_steps ? "" : ranks.front().steps.why_none, .has_steps = has_steps};
    describe(ranks.front(), report);
    return report;
  }

  void compare(std::span<const Record> rows, const Info::List& jobs, Info::Fields& fields,
               std::vector<std::string>& notes) const {
    try {
      fields.emplace_back("trace_difference", difference_info(job_difference(*options_.against, rows, jobs)));
    } catch (const Error& error) {
      notes.emplace_back(error.what());
    }
  }

  static void describe(const WatchedRank& rank, WatchReport& report) {
    const AgentProcess& process = *rank.process;
    for (const Info* const fact : process.facts_named("remedy")) report.remedies.push_back(*fact);
    const double batches = is_call_of_batches(process) ? std::max(rank.steps.batches_per_step, 1.0) : 1.0;
    const auto in_batches = [&](std::uint64_t steps) {
      return static_cast<std::uint64_t>(std::llround(static_cast<double>(steps) * batches));
    };
    report.step_s = rank.steps.step_s.value / batches;
    report.warm_steps = in_batches(std::max<std::uint64_t>(process.sites_since, rank.steps.warmup_steps));
    if (!rank.steps.spans.empty()) report.start_s = Seconds(rank.steps.spans.front().begin - process.loaded).count();
    std::optional<std::uint64_t> last;
    std::uint64_t training = 0;
    for (const AgentStep& step : process.steps) {
      if (!step.is_training) continue;
      ++training;
      if (!step.first_of_epoch) continue;
      if (last) report.epoch_steps = in_batches(training - *last);
      last = training;
    }
  }

  static Info trace_facts(const WatchedRank& rank) {
    Info facts = rank.window ? facts_of(*rank.window)
                             : Info(Info::Fields{{"file", "counters"}, {"format", "counters of the agent"}});
    facts.set("file", shown_text(rank.process->script, 300));
    facts.set("framework", framework_of(*rank.process));
    if (rank.process->rank >= 0) facts.set("rank", rank.process->rank);
    return facts;
  }

  /// The waits of ranks for each other, from their windows.
  static void add_waits(std::vector<WatchedRank>& ranks, std::vector<Record>& rows, Info::Fields& fields) {
    std::vector<TraceAnalysis> windows;
    for (WatchedRank& rank : ranks) windows.push_back(std::move(*rank.window));
    const RankWaits waits = rank_waits(windows);
    set_waits(rows, waits, windows);
    fields.emplace_back("trace_ranks", waits_info(waits, windows));
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].window = std::move(windows[i]);
  }

  const WatchOptions& options_;
  const std::function<void(const WatchReport&)>& report_;
  AgentFolder folder_;
  Job job_;
  JobTree tree_;
  const std::vector<std::string> gpu_bus_ids_ = JobGpus::bus_ids();
  std::optional<JobGpus> gpus_;
  Clock::time_point next_look_{};
  std::optional<Clock::time_point> since_;
  bool is_reported_ = false, was_due_ = false;
};

/// What is known after hours of a job should not be lost for a folder. Throws Error.
void require_writable(const fs::path& out) {
  std::error_code none;
  fs::path folder = fs::absolute(out / "results", none);
  while (!fs::exists(folder, none) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, none))
    throw Error(fmt::format("watch: --out: {} is no folder", shown_text(folder.string(), 300)));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(fmt::format("watch: --out: nothing can be written in {}: {}", shown_text(folder.string(), 300),
                            std::generic_category().message(errno)));
}

}  // namespace

JobEnd watch_job(const WatchOptions& options, const std::function<void(const WatchReport&)>& report) {
  require_writable(options.out);
  return Watcher(options, report).run();
}

}  // namespace gpubench
