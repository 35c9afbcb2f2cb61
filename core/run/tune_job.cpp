#include "core/run/tune_job.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/known_names.h"
#include "core/base/resources.h"
#include "core/base/shown_text.h"
#include "core/base/units.h"
#include "core/diagnose/findings.h"
#include "core/measure/shift.h"
#include "core/report/text/explanation.h"
#include "core/results/run_reader.h"
#include "core/run/steps_run.h"
#include "core/run/watch_run.h"
#include "core/watch/agent_files.h"
#include "core/watch/job_tree.h"

namespace gpubench {
namespace {

constexpr std::size_t most_processes = 10;
constexpr std::size_t finalists = 2;

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// How many times as fast `changed` is as `before`; both are seconds of a step, a value a process.
void set_times(TriedRemedy& remedy, const std::vector<double>& before) {
  const auto logarithms = [](const std::vector<double>& values) {
    std::vector<double> logs;
    for (const double value : values) logs.push_back(std::log(value));
    return logs;
  };
  const Shift shift(logarithms(remedy.step_s), logarithms(before));
  remedy.times.value = std::exp(shift.value());
  constexpr double level = 0.05;
  const Interval interval = shift.interval(level);
  remedy.has_interval = std::isfinite(interval.low) && std::isfinite(interval.high);
  if (remedy.has_interval) remedy.times.interval = {std::exp(interval.low), std::exp(interval.high)};
}

RemedyOutcome outcome_of(const TriedRemedy& remedy) {
  if (!remedy.has_interval) return RemedyOutcome::open;  // processes differ by more than most gains
  if (remedy.times.interval.low > least_gain) return RemedyOutcome::helps;
  if (remedy.times.interval.high < 1 / least_gain) return RemedyOutcome::worse;
  return remedy.times.interval.high < least_gain ? RemedyOutcome::no_gain : RemedyOutcome::open;
}

class Tuner {
 public:
  Tuner(const TuneJobOptions& options, const std::function<void(const std::string&)>& say)
      : options_(options), say_(say) {}

  TunedJob tune() {
    check_names();
    if (!look()) return std::move(tuned_);
    choose_steps();
    choose_remedies();
    announce();
    if (options_.is_dry) return std::move(tuned_);
    screen();
    if (!tuned_.as_it_was.empty()) compare_best();
    for (TriedRemedy& remedy : tuned_.remedies)
      if (!remedy.step_s.empty() && remedy.outcome != RemedyOutcome::failed) {
        set_times(remedy, tuned_.as_it_was);
        remedy.outcome = outcome_of(remedy);
      }
    return std::move(tuned_);
  }

 private:
  double left_s() const { return (options_.budget - Seconds(Clock::now() - begin_)).count(); }

  /// Throws Error for a name of no remedy.
  void check_names() const {
    const std::vector<std::string> names = job_remedies();
    for (const std::string& name : options_.only)
      if (std::ranges::find(names, name) == names.end())
        throw_unknown_name("tune: --remedy: there is no remedy", name, names_of(names));
  }

  /// A first run as it is: what it waits for, and which remedies there are.
  bool look() {
    say_(fmt::format("first the job as it is, until its steps are known: {}",
                     shown_text(fmt::format("{}", fmt::join(options_.command, " ")), 200)));
    WatchOptions watch{.command = options_.command, .out = options_.out};
    watch.is_quiet = true;
    watch.time = Seconds(std::min(8.0, options_.budget.count() / 10));
    watch.stop = true;
    const JobEnd end = watch_job(watch, [&](const WatchReport& report) { first_ = report; });
    stop_if_asked(end.asked);
    tuned_.run = first_.run;
    tuned_.why_none = first_.why_none;
    if (first_.run.empty() || !first_.has_steps) {
      if (end.shell_status() != 0)
        tuned_.why_none +=
            fmt::format("; the job ended with status {}: gpubench watch shows what it prints", end.shell_status());
      return false;
    }
    const Run run = read_run(first_.run);
    for (const ExplainedRow& row : explain_rows(run))
      for (const Finding& finding : row.diagnosis.findings)
        if (finding.doubt.empty()) tuned_.causes.emplace_back(finding.rule->name);
    return true;
  }

  void choose_steps() {
    constexpr double measured_s = 3, most_epochs_s = 20;
    constexpr std::uint64_t least = 16, most = 5000, least_warm = 8;
    std::uint64_t warm = std::max<std::uint64_t>(first_.warm_steps, least_warm);
    auto steps = static_cast<std::uint64_t>(
        std::clamp(measured_s / std::max(first_.step_s, 1e-6), static_cast<double>(least), static_cast<double>(most)));
    // What happens once an epoch is part of the time; caches are full behind the first one.
    const double epoch_s = static_cast<double>(first_.epoch_steps) * first_.step_s;
    if (first_.epoch_steps > 1 && epoch_s < most_epochs_s / 2) {
      warm = (warm + first_.epoch_steps - 1) / first_.epoch_steps * first_.epoch_steps;
      steps = (steps + first_.epoch_steps - 1) / first_.epoch_steps * first_.epoch_steps;
    }
    if (options_.steps > 0) steps = options_.steps;
    tuned_.warm_steps = warm;
    tuned_.steps = steps;
    tuned_.expected_s = first_.start_s + static_cast<double>(warm + steps) * first_.step_s + 1;
  }

  void choose_remedies() {
    for (const Info& fact : first_.remedies) {
      if (fact.text("applied") == "true") continue;
      TriedRemedy remedy{.name = fact.text("name"), .changes = fact.text("changes")};
      const std::string value = fact.text("value");
      remedy.settings.push_back(value.empty() ? remedy.name : remedy.name + "=" + value);
      remedy.lines = fact.texts("lines");
      if (remedy.lines.empty() && !fact.text("lines").empty()) remedy.lines.push_back(fact.text("lines"));
      if (const double line = fact.number("line").value_or(0); line > 0)
        remedy.place = fmt::format("{}:{:.0f}", shown_text(fact.text("file"), 300), line);
      remedy.why = why_not(remedy, fact);
      tuned_.remedies.push_back(std::move(remedy));
    }
    const auto is_chosen = [](const TriedRemedy& one) { return one.why.empty(); };
    const auto chosen = std::ranges::count_if(tuned_.remedies, is_chosen);
    // What does not fit the budget in pairs is not begun.
    const double each_s = 2 * tuned_.expected_s;
    const auto most = std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(left_s() / std::max(each_s, 0.1)));
    std::ptrdiff_t count = 0;
    if (chosen > most)
      for (TriedRemedy& remedy : tuned_.remedies)
        if (is_chosen(remedy) && ++count > most) remedy.why = "there is no time left for it: --budget";
  }

  std::string why_not(const TriedRemedy& remedy, const Info& fact) const {
    if (fact.text("applies") != "true")
      return fact.text("why_not").empty() ? "it does not apply" : fact.text("why_not");
    if (!options_.only.empty())
      return std::ranges::find(options_.only, remedy.name) == options_.only.end() ? "--remedy names others" : "";
    if (remedy.changes == "learning" && !options_.allows_learning)
      return "it changes what is learned: --allow learning";
    const std::vector<std::string> cures = fact.texts("causes");
    const bool can_cure = std::ranges::any_of(cures, [&](const std::string& cause) {
      return std::ranges::find(tuned_.causes, cause) != tuned_.causes.end();
    });
    return can_cure ? "" : fmt::format("it is for {}, and that was not found", fmt::join(cures, ", "));
  }

  void announce() {
    std::vector<std::string> names;
    for (const TriedRemedy& remedy : tuned_.remedies)
      if (remedy.why.empty()) names.push_back(setting_of(remedy));
    if (names.empty()) {
      say_("no remedy that can be applied from outside is for what was found");
      return;
    }
    const double pairs_s = (2 * static_cast<double>(names.size()) + 1) * tuned_.expected_s;
    say_(
        fmt::format("then {} runs of its first {} steps, about {} each: as it is, and with each of {}; then the best "
                    "ones again, {} in all at most (--budget). Files, logs and downloads of the job happen each time",
                    2 * names.size() + 1, tuned_.warm_steps + tuned_.steps, format_seconds(tuned_.expected_s),
                    fmt::join(names, ", "), format_seconds(std::max(options_.budget.count(), pairs_s))));
  }

  /// As it is, remedy, as it is, remedy, ...: each remedy lies between two runs as it is.
  void screen() {
    std::vector<TriedRemedy*> chosen;
    for (TriedRemedy& remedy : tuned_.remedies)
      if (remedy.why.empty()) chosen.push_back(&remedy);
    if (chosen.empty()) return;
    std::optional<double> before = measure({});
    if (before) tuned_.as_it_was.push_back(*before);
    for (TriedRemedy* const remedy : chosen) {
      if (left_s() <= 0) {
        remedy->why = "there was no time left for it: --budget";
        continue;
      }
      try_once(*remedy);
      if (const std::optional<double> own = measure({})) tuned_.as_it_was.push_back(*own);
    }
    if (tuned_.as_it_was.empty()) throw Error("tune: the job as it is did not reach its steps a second time");
  }

  void try_once(TriedRemedy& remedy) {
    std::string why;
    if (const std::optional<double> own = measure(remedy.settings, &why)) {
      remedy.step_s.push_back(*own);
      remedy.why.clear();
    } else {
      remedy.outcome = RemedyOutcome::failed;
      remedy.why = why;
    }
  }

  /// The two that looked best, and both together, in turn with the job as it is, until each is settled.
  void compare_best() {
    std::vector<std::size_t> best = best_of_screening();
    const auto settled = [&](std::size_t i) { return !is_open(tuned_.remedies[i]); };
    for (bool is_forward = true;; is_forward = !is_forward) {
      std::erase_if(best, settled);
      // Where not all can be settled in the time that is left, it belongs to the better ones.
      while (best.size() > 1 && rounds_needed(best) * round_s(best) > left_s()) best.pop_back();
      if (best.empty() || left_s() < round_s(best)) break;
      std::vector<std::optional<std::size_t>> order{std::nullopt};
      order.insert(order.end(), best.begin(), best.end());
      if (!is_forward) std::ranges::reverse(order);
      for (const std::optional<std::size_t>& one : order) {
        if (one)
          try_once(tuned_.remedies[*one]);
        else if (const std::optional<double> own = measure({}))
          tuned_.as_it_was.push_back(*own);
      }
    }
  }

  /// Places in tuned_.remedies: the best one, both together if both seem to gain, and the second.
  std::vector<std::size_t> best_of_screening() {
    const double before = median_of(tuned_.as_it_was);
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < tuned_.remedies.size(); ++i) {
      const TriedRemedy& one = tuned_.remedies[i];
      // A pair that was disturbed may hide a gain; one that halves the speed hides none.
      constexpr double hopeless = 0.8;
      if (!one.step_s.empty() && one.outcome != RemedyOutcome::failed && before / one.step_s.front() > hopeless)
        best.push_back(i);
    }
    std::ranges::sort(best, {}, [&](std::size_t i) { return tuned_.remedies[i].step_s.front(); });
    if (best.size() > finalists) best.resize(finalists);
    const bool both_gain = best.size() == finalists && std::ranges::all_of(best, [&](std::size_t i) {
                             return before / tuned_.remedies[i].step_s.front() > least_gain;
                           });
    if (!both_gain) return best;
    const TriedRemedy &first = tuned_.remedies[best[0]], &second = tuned_.remedies[best[1]];
    TriedRemedy both{.name = {}, .settings = first.settings, .changes = first.changes};
    both.settings.insert(both.settings.end(), second.settings.begin(), second.settings.end());
    if (second.changes != first.changes && second.changes != "nothing")
      both.changes = first.changes == "nothing" ? second.changes : first.changes + ", " + second.changes;
    both.why = "there was no time left for it: --budget";
    both.lines = first.lines;
    both.lines.insert(both.lines.end(), second.lines.begin(), second.lines.end());
    tuned_.remedies.push_back(std::move(both));
    return {best[0], tuned_.remedies.size() - 1, best[1]};
  }

  /// How long a process of the job and one of each of these take, by those that were run.
  double round_s(const std::vector<std::size_t>& best) const {
    double seconds = run_s_of({});
    for (const std::size_t i : best) seconds += run_s_of(tuned_.remedies[i].settings);
    return seconds;
  }

  double run_s_of(const std::vector<std::string>& remedies) const {
    const auto found = run_s_.find(fmt::format("{}", fmt::join(remedies, ",")));
    return found == run_s_.end() ? tuned_.expected_s : found->second;
  }

  /// Rounds until each of these has an interval.
  double rounds_needed(const std::vector<std::size_t>& best) const {
    std::size_t fewest = tuned_.as_it_was.size();
    for (const std::size_t i : best) fewest = std::min(fewest, tuned_.remedies[i].step_s.size());
    std::size_t rounds = 1;
    while (!have_interval(fewest + rounds, tuned_.as_it_was.size() + rounds)) ++rounds;
    return static_cast<double>(rounds);
  }

  /// Whether so many processes a side have an interval of 95 % (core/measure/shift.h): the two most extreme
  /// orders of all that there are have at most 5 %.
  static bool have_interval(std::size_t one, std::size_t other) {
    constexpr double least_orders = 2 / 0.05;
    double orders = 1;
    for (std::size_t i = 1; i <= one; ++i) orders *= static_cast<double>(other + i) / static_cast<double>(i);
    return orders >= least_orders;
  }

  bool is_open(TriedRemedy& remedy) const {
    if (remedy.outcome == RemedyOutcome::failed || remedy.step_s.size() >= most_processes) return false;
    if (remedy.step_s.empty()) return true;
    set_times(remedy, tuned_.as_it_was);
    return !remedy.has_interval || outcome_of(remedy) == RemedyOutcome::open;
  }

  /// A signal that the job got meanwhile ends all of it.
  static void stop_if_asked(int signal) {
    if (signal == 0) return;
    request_interrupt(signal);
    check_interrupt();
  }

  /// Mean seconds of a step of one process, behind its warm-up. A run that other programs disturbed is repeated once.
  std::optional<double> measure(const std::vector<std::string>& remedies, std::string* why = nullptr) {
    std::string reason;
    std::optional<double> seconds;
    for (int attempt = 0; attempt < 2; ++attempt) {
      StepsRun run{.command = options_.command,
                   .remedies = remedies,
                   .from = tuned_.warm_steps,
                   .to = tuned_.warm_steps + tuned_.steps,
                   .time = Seconds(std::max(10 * tuned_.expected_s, 60.0))};
      const Clock::time_point begin = Clock::now();
      const StepsOfRun steps = run_steps(run);
      run_s_[fmt::format("{}", fmt::join(remedies, ","))] = Seconds(Clock::now() - begin).count();
      stop_if_asked(steps.asked);
      reason = steps.why_none;
      if (steps.step_s) seconds = steps.step_s;
      say_(fmt::format("{}: {} ({:.0f} s, {:.0f} s left{})",
                       remedies.empty() ? "as it is" : fmt::format("{}", fmt::join(remedies, ",")),
                       steps.step_s ? format_seconds(*steps.step_s) + " a step" : shown_text(reason, 120),
                       run_s_of(remedies), std::max(left_s(), 0.0), steps.is_disturbed ? "; others disturbed it" : ""));
      if (!steps.is_disturbed || left_s() < run_s_of(remedies)) break;
      if (attempt == 0 && !was_disturbed_) {
        was_disturbed_ = true;
        tuned_.notes.emplace_back(
            "other programs used processors meanwhile: runs that they disturbed were repeated once");
      }
    }
    if (why != nullptr) *why = reason;
    return seconds;
  }

  const TuneJobOptions& options_;
  const std::function<void(const std::string&)>& say_;
  const Clock::time_point begin_ = Clock::now();
  WatchReport first_;
  TunedJob tuned_;
  std::map<std::string, double> run_s_;  // seconds of the last process with these remedies
  bool was_disturbed_ = false;
};

}  // namespace

std::vector<std::string> job_remedies() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(resource("agent/gpubench_agent/remedies"))) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".py" && name != "__init__" && name != "judgement") names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

TunedJob tune_job(const TuneJobOptions& options, const std::function<void(const std::string&)>& say) {
  return Tuner(options, say).tune();
}

}  // namespace gpubench
