#include "core/run/job_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "core/base/shown_text.h"
#include "core/base/units.h"
#include "core/results/column.h"
#include "core/results/doubt.h"
#include "core/results/host_cause.h"
#include "core/results/input_cause.h"
#include "core/results/step_classes.h"
#include "core/results/steps_of.h"
#include "core/run/job_host.h"
#include "core/run/job_settings.h"
#include "core/run/job_sites.h"
#include "core/traces/causes.h"

namespace gpubench {
namespace {

double share_in(const Record& row, std::string_view column) {
  return number_in(row.get(column)).value_or(0);
}

/// The parts of the training's own steps, which sum to 1.
struct Within {
  std::array<double, step_classes.size()> shares{};

  double& of(std::string_view column) {
    const auto found = std::ranges::find(step_classes, column, &StepClass::column);
    return shares[static_cast<std::size_t>(found - step_classes.begin())];
  }
  void scale(double factor) {
    for (double& share : shares) share *= factor;
  }
};

/// Of the window, without its waits for batches where the counters know them.
Within within_window(const Record& row, bool without_input) {
  Within within;
  double sum = 0;
  for (std::size_t i = 0; i < step_classes.size(); ++i) within.shares[i] = share_in(row, step_classes[i].column);
  if (without_input) within.of("input_wait_share") = 0;
  for (const double share : within.shares) sum += share;
  if (sum > 0) within.scale(1 / sum);
  return within;
}

/// What a function of the user takes of a window is Python first, then operators that it calls.
void take_callbacks(Within& within, double share) {
  double& host = within.of("host_share");
  double& compute = within.of("compute_share");
  const double of_host = std::min(host, share);
  host -= of_host;
  compute = std::max(0.0, compute - (share - of_host));
}

class JobRow {
 public:
  explicit JobRow(const WatchedRank& rank) : rank_(rank), steps_(rank.steps) {
    if (rank.window) row_ = row_of(*rank.window);
    row_.set("status", std::string("ok"));
    row_.set("steps_of", std::string(steps_of_names[StepsOf::foreign]));
    if (!row_.has("device")) row_.set("device", std::string("cpu:0"));
  }

  Record make() {
    if (steps_.steps == 0) {
      if (!rank_.window) set_doubt(row_, {DoubtKind::trace, steps_.why_none});
      return std::move(row_);
    }
    const bool is_on_cpu = !rank_.window || rank_.window->is_on_cpu;
    // On processors the counters alone divide the time; the window says what is within operators.
    if (is_on_cpu)
      for (const char* const column : {"doubt", "quality", "detail"}) row_.set(column, Cell{});
    set_times();
    if (const std::string_view execution = execution_of(*rank_.process); !execution.empty())
      row_.set("execution", std::string(execution));
    std::vector<HostPart> parts = parts_beside(steps_, *rank_.process);
    // Lines are samples of the host, which on a device runs ahead of the work.
    if (is_on_cpu && steps_.share_of(JobStepPart::evaluation) == 0) {
      Evaluation evaluation = evaluation_by_lines(steps_);
      parts.push_back({HostCauseKind::evaluation, evaluation.share, std::move(evaluation.text)});
    }
    double beside = 0;
    for (const HostPart& part : parts) beside += part.share;
    // A compilation within a callback is in both.
    if (beside > 1)
      for (HostPart& part : parts) part.share /= beside;
    beside = std::min(beside, 1.0);
    const double input = std::min(steps_.share_of(JobStepPart::input_wait), 1 - beside);
    const double within_share = std::max(0.0, 1 - beside - input);
    Within within = is_on_cpu ? within_on_cpu(within_share, parts) : within_on_device(within_share, parts);
    within.of("input_wait_share") += input;
    const bool is_usual = is_usual_evaluation(steps_);
    for (HostPart& part : parts) {
      if (!is_beside(part)) continue;
      const bool is_work = part.kind == HostCauseKind::evaluation && is_usual;
      const bool is_once = part.kind == HostCauseKind::compilation && is_first_compilation(steps_);
      within.of(is_work ? "compute_share" : is_once ? "other_share" : "host_share") += part.share;
      if (is_once && part.share > 0) row_.set("framework_share", share_in(row_, "framework_share") + part.share);
      if (is_work || is_once) part.share = 0;
    }
    write(within);
    set_host_cause(row_, std::move(parts), steps_.step_s.value);
    set_processors(row_, rank_);
    set_input();
    if (steps_.kept_step_s) set_proof();
    return std::move(row_);
  }

 private:
  /// A cause without a line and a kind must be at least this large to be one.
  static constexpr double little_without_line = 0.2;

  /// Keras' fit on TensorFlow takes its batches within the graph, where no counter sees the wait.
  bool sees_waits() const { return steps_.share_of(JobStepPart::input_wait) > 0; }

  void set_times() {
    row_.set("steps", static_cast<std::int64_t>(steps_.steps));
    row_.set("traced_step_time_s", steps_.step_s.value);
    row_.set("step_time_s", steps_.step_s.value);
    row_.set(interval_end(column_of("step_time_s"), "low"), steps_.step_s.interval.low);
    row_.set(interval_end(column_of("step_time_s"), "high"), steps_.step_s.interval.high);
  }

  /// The window's classes of a device. Its waits for batches count where the counters see none.
  Within within_on_device(double share, std::vector<HostPart>& parts) {
    Within within = within_window(row_, sees_waits());
    const double callbacks = steps_.share_of(JobStepPart::callbacks);
    if (share > 0) take_callbacks(within, callbacks / (share + callbacks));
    double sum = 0;
    for (const double one : within.shares) sum += one;
    within.scale(sum > 0 ? share / sum : 0);
    add_trace_cause(parts, within.of("host_share"));
    return within;
  }

  /// Of time in which no line of the user's was seen: what the framework does at the beginning of epochs, and what its
  /// own loop does where that is little.
  double framework_share(double without_line) const {
    const KindOfSteps* const epochs = steps_.kind(StepKind::first_of_epoch);
    const double of_epochs =
        std::clamp(epochs != nullptr ? epochs->extra_s / steps_.step_s.value : 0.0, 0.0, std::max(without_line, 0.0));
    const double rest = std::max(without_line, 0.0) - of_epochs;
    return of_epochs + (rest < little_without_line ? rest : 0);
  }

  /// Python between operators of the window, for which no line of the user's is known: mostly of the framework's own.
  bool is_frameworks(double between) const {
    const std::string kind = to_text(row_.get("host_cause_kind"));
    return between < little_without_line &&
           (kind == to_string(HostCauseKind::python) || kind == to_string(HostCauseKind::annotation));
  }

  /// Whether the window shows the steps: that of a program which dispatches ahead may end before their work begins.
  bool has_whole_window() const {
    if (!rank_.window) return false;
    constexpr double most_missing = 0.5;
    const KindOfSteps* const plain = steps_.kind(StepKind::training);
    const double step_s = plain != nullptr ? plain->step_s.value : steps_.step_s.value;
    return rank_.window->window_s() > 0 && rank_.window->step_s() / step_s > most_missing;
  }

  /// Forward and backward passes and the optimizer are work, and so is the wait for them; the rest is the user's own
  /// code. A window divides the passes further: into waits of a graph for its input, and Python between operators.
  Within within_on_cpu(double share, std::vector<HostPart>& parts) {
    Within within;
    const double passes = steps_.share_of(JobStepPart::compute) + steps_.share_of(JobStepPart::sync);
    const double of_lines = own_share(steps_);
    double own = std::min(std::max(of_lines, passes > 0 ? steps_.other_share : 0.0), share);
    const double of_framework = framework_share(own - of_lines);
    within.of("other_share") = of_framework;
    if (of_framework > 0) row_.set("framework_share", of_framework);
    share -= of_framework;
    own -= of_framework;
    double left = share - own;
    if (has_whole_window()) {
      Within recorded = within_window(row_, sees_waits());
      const double input = recorded.of("input_wait_share") * left;
      const double exchanges = (recorded.of("communication_share") + recorded.of("peer_wait_share")) * left;
      const double waits = std::max(input, std::min(wait_for_pipeline(), left - exchanges));
      const double callbacks = steps_.share_of(JobStepPart::callbacks);
      // A thread that other programs kept from running is recorded as one that did nothing.
      const double lost = rank_.use.seconds > 0 ? rank_.use.lost_share().value_or(0) : 0;
      const double between = std::clamp((recorded.of("host_share") - lost) * (share + callbacks) - own - callbacks, 0.0,
                                        left - waits - exchanges);
      within.of("input_wait_share") = waits;
      if (waits > input) holds_lock_ = true;
      within.of("communication_share") = exchanges;
      left -= waits + exchanges + between;
      if (is_frameworks(between)) {
        within.of("other_share") += between;
        row_.set("framework_share", of_framework + between);
      } else {
        within.of("host_share") = between;
        add_trace_cause(parts, between);
      }
    }
    within.of("compute_share") = left;
    within.of("host_share") += own;
    std::string lines = own_lines_text(steps_);
    // The thread that looks at stacks runs where the interpreter lets it, mostly in calls of the framework: where that
    // hides the lines, the loop is named by its step.
    const std::vector<const StepSite*> trained = sites_of(steps_, SiteKind::loop_backward);
    if (of_lines < own / 3 && !trained.empty())
      lines = fmt::format("in the loop around {}", place_of(*trained.front()->site));
    if (is_eager() && of_lines < own / 3) {
      parts.push_back({HostCauseKind::operators, own - of_lines, "operators run one by one, " + lines});
      own = of_lines;
    }
    // Of code that reads numbers of the device, the calls say more than the loop's line.
    constexpr double many = 2;
    const std::vector<const StepSite*> syncs = sites_of(steps_, SiteKind::sync);
    if (!syncs.empty() && syncs.front()->times_per_step >= many)
      lines += fmt::format("{}it reads numbers of tensors at {} {:.0f} times a step", lines.empty() ? "" : "; ",
                           place_of(*syncs.front()->site), syncs.front()->times_per_step);
    parts.push_back({HostCauseKind::python, own, std::move(lines)});
    return within;
  }

  /// What the window says of the host.
  void add_trace_cause(std::vector<HostPart>& parts, double share) {
    const std::string kind = to_text(row_.get("host_cause_kind"));
    if (kind.empty() || share <= 0) return;
    HostPart part{host_cause_kinds.parse(kind), share, to_text(row_.get("host_cause"))};
    if (part.kind == HostCauseKind::operators)
      if (const std::string setting = operators_setting(*rank_.process, steps_); !setting.empty())
        part.text = part.text.empty() ? setting : setting + "; " + part.text;
    parts.push_back(std::move(part));
  }

  /// A gradient of a loop that is not compiled marks its steps.
  bool is_eager() const { return rank_.process->step_mark.starts_with("gradient"); }

  /// Of Python functions in a pipeline of tf.data, which runs in threads of this process: they hold the interpreter's
  /// lock, and the thread that trains waits for it in the framework's own code. What operators do not need of that
  /// time.
  double wait_for_pipeline() const {
    constexpr double much = 0.5;
    double python = 0;
    for (const StepSite* const site : sites_of(steps_, SiteKind::pipeline)) python += site->share;
    python = std::min(python, 1.0);
    const double operators = operator_share(rank_.window->trace, rank_.window->window);
    return python > much && operators < much ? std::min(python, 1 - operators) : 0;
  }

  void write(const Within& within) {
    for (std::size_t i = 0; i < step_classes.size(); ++i) {
      const std::string_view column = step_classes[i].column;
      row_.set(column, within.shares[i]);
      for (const char* end : {"low", "high"}) row_.set(interval_end(column_of(column), end), Cell{});
    }
    const Column waits = column_of("input_wait_share");
    if (sees_waits()) {
      const Interval interval = steps_.part(JobStepPart::input_wait).share.interval;
      if (std::isfinite(interval.low) && std::isfinite(interval.high)) {
        row_.set(interval_end(waits, "low"), std::clamp(interval.low, 0.0, 1.0));
        row_.set(interval_end(waits, "high"), std::clamp(interval.high, 0.0, 1.0));
      }
    }
  }

  void set_input() {
    if (share_in(row_, "input_wait_share") <= 0 && !row_.has("input_processor_share")) return;
    InputCauseKind kind = InputCauseKind::unknown;
    if (const std::string known = to_text(row_.get("input_cause_kind")); !known.empty())
      kind = input_cause_kinds.parse(known);
    std::vector<std::string> facts;
    if (const Info* const loader = training_loader()) describe_loader(*loader, kind, facts);
    for (const SiteKind sites : {SiteKind::loading, SiteKind::pipeline})
      if (const std::string where = sites_text(steps_, sites); !where.empty()) facts.push_back(where);
    if (holds_lock_)
      facts.emplace_back(
          "the Python functions of the pipeline hold the interpreter's lock, for which the training waits");
    for (const WorkerSite& site : rank_.worker_sites)
      if (site.kind == SiteKind::loading && site.times > 0) {
        facts.push_back(fmt::format("{}:{} ({}) takes {} a time in {} workers", file_name(site.file), site.line,
                                    shown_text(site.function, 80), format_seconds(site.seconds_per_time()),
                                    site.workers));
        break;
      }
    if (rank_.workers && rank_.use.seconds > 0) describe_workers(*rank_.workers, kind, facts);
    if (std::string traced = to_text(row_.get("input_cause")); !traced.empty() && facts.empty()) {
      if (rank_.window)
        if (const std::string line =
                line_of_stage(*rank_.process, slowest_stage(rank_.window->trace, rank_.window->window));
            !line.empty())
          traced += ", at " + line;
      facts.push_back(std::move(traced));
    }
    std::string text;
    for (const std::string& fact : facts) text += (text.empty() ? "" : "; ") + fact;
    row_.set("input_cause", text);
    row_.set("input_cause_kind", std::string(to_string(kind)));
  }

  const Info* training_loader() const {
    const std::vector<const Info*> loaders = rank_.process->facts_named("loader");
    const auto first =
        std::ranges::find_if(loaders, [](const Info* loader) { return loader->text("is_evaluation") != "true"; });
    return first != loaders.end() ? *first : loaders.empty() ? nullptr : loaders.front();
  }

  static void describe_loader(const Info& loader, InputCauseKind& kind, std::vector<std::string>& facts) {
    const double workers = loader.number("num_workers").value_or(0);
    kind = workers > 0 ? InputCauseKind::workers : InputCauseKind::main_process;
    const std::string made = place_in(loader, "file", "line");
    std::string text = fmt::format("the loader{}{} has num_workers={:.0f}", made.empty() ? "" : " of ", made, workers);
    if (const std::string read = place_in(loader, "getitem_file", "getitem_line"); !read.empty())
      text += fmt::format(", its samples come from {} ({})", read, shown_text(loader.text("dataset"), 60));
    facts.push_back(std::move(text));
  }

  void describe_workers(const JobProcess& workers, InputCauseKind& kind, std::vector<std::string>& facts) const {
    constexpr double much = 0.3;
    const double seconds = rank_.use.seconds, wanted = workers.cpu_s + workers.delayed_s;
    facts.push_back(fmt::format("its workers keep {:.1f} processors busy", workers.cpu_s / seconds));
    if (wanted > 0 && workers.delayed_s > much * wanted) {
      kind = InputCauseKind::processors;
      facts.push_back(fmt::format("{:.0f} % of the time that they could run no processor is free for them",
                                  100 * workers.delayed_s / wanted));
    } else if (workers.storage_bytes && *workers.storage_bytes > 0 && workers.cpu_s < much * seconds) {
      kind = InputCauseKind::disk;
      facts.push_back(fmt::format("they read {}/s from the disk", format_bytes(*workers.storage_bytes / seconds)));
    }
  }

  void set_proof() {
    const Estimate& kept = *steps_.kept_step_s;
    if (kept.value <= 0) return;
    const Estimate& full = steps_.step_s;
    row_.set("resident_step_time_s", kept.value);
    row_.set("input_ratio", full.value / kept.value);
    if (kept.interval.low <= 0 || !std::isfinite(kept.interval.high) || !std::isfinite(full.interval.high)) return;
    const Column ratio = column_of("input_ratio");
    row_.set(interval_end(ratio, "low"), full.interval.low / kept.interval.high);
    row_.set(interval_end(ratio, "high"), full.interval.high / kept.interval.low);
  }

  const WatchedRank& rank_;
  const JobSteps& steps_;
  Record row_;
  bool holds_lock_ = false;  // Python functions of the pipeline, the interpreter's
};

}  // namespace

std::string framework_of(const AgentProcess& process) {
  const std::string& mark = process.step_mark;
  if (mark.starts_with("torch")) return "pytorch";
  if (mark.starts_with("keras")) return "tensorflow";
  if (mark.starts_with("jit")) return "jax";
  for (const Info* const framework : process.facts_named("framework")) {
    const std::string name = framework->text("name");
    if (name == "torch") return "pytorch";
    if (name == "tensorflow" || name == "jax") return name;
  }
  return "unknown";
}

Record job_row(const WatchedRank& rank) {
  return JobRow(rank).make();
}

}  // namespace gpubench
