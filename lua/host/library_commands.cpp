#include "lua/host/library_commands.h"

#include <CLI/CLI.hpp>
#include <limits>

namespace gpubench {
namespace {

void declare_changes(CommandOptions& options) {
  options.argument("file", "FILE", "JSON lines or CSV with id and values; - is the standard input").required();
}

void declare_list(CommandOptions& options) {
  options.argument("folder", "DIR", "Folder to search; default: the experiments that come with gpubench");
  options.flag("--long", "Print question, title, time and needs of each");
  options.flag("--json", "Print a line of JSON for each");
  options.flag("--names", "Print only the name of each, by which it is run");
  options.text("--settings", "SCRIPT", "Print what --set takes for this script or experiment");
  options.text("--values", "AXIS", "With --settings: print the values of this axis, as the script has them");
  options.out_folder("Folder that holds results/, whose runs tell how long an experiment takes");
}

void declare_help(CommandOptions& options) {
  options
      .arguments("topic", "TOPIC",
                 "A function (measure.training), command, option, column, finding, remedy or exit status; 'columns', "
                 "'layers' and the like list all of a kind")
      .required(false);
  options.text("--search", "WORDS", "List the topics whose text has these words");
  options.flag("--names", "Print the names of all topics, or of those of a kind, one a line");
  options.text("--pages", "DIR", "Write the reference as Markdown pages into this folder");
  options.flag("--man", "Print the manual page, for man -l and packages");
}

void declare_new(CommandOptions& options) {
  options.argument("name", "NAME", "Name of the experiment; the script is NAME.lua").required();
  options.choice("--kind", "KIND", {"training", "fit", "loop", "pipeline", "inference", "compare"},
                 "What it measures: training (the default), fit (a training to its end, with its accuracy), loop (one "
                 "written by hand), pipeline (the input alone), inference, or compare (two settings)");
}

void declare_devices(CommandOptions& options) {
  options.traceback();
}

void declare_doctor(CommandOptions& options) {
  options.flag("--json", "Print one line of JSON with all checks");
  options.flag("--verify", "Check the arithmetic of every device too, in at most 20 s each");
  options.traceback();
}

void declare_show(CommandOptions& options) {
  options.argument("run", "RUN",
                   "A run's folder, archive or name, or an experiment (its newest run); without it, lists the runs");
  options.choice("--format", "FORMAT", {"text", "csv", "json", "markdown", "junit"},
                 "How to print it: text (the default), csv, json, markdown, or junit (its claims as tests)");
  options.out_folder("Folder that holds results/");
  options.text_style();
}

void declare_explain(CommandOptions& options) {
  options
      .arguments("run", "RUN or TRACE",
                 "A run's folder, archive or name, an experiment (its newest run), or traces: files and folders that "
                 "the profilers of PyTorch, TensorFlow, JAX and Nsight Systems wrote")
      .required();
  options.integer("--point", "N", 1, std::numeric_limits<std::int64_t>::max(),
                  "Explain the point of this number; default: the one at which most can be gained");
  options.choice(
      "--words", "WORDS", {"lua", "pytorch", "keras", "jax"},
      "Whose lines of code the remedies are: lua, pytorch, keras or jax (default: the trace's framework, or lua)");
  options.texts("--against", "TRACE", "Traces of the state before: what became longer and shorter; may be repeated");
  options.flag("--fail-if-slower", "End with status 1 if a step is longer than in --against");
  options.text("--step", "NAME", "Of a trace: ranges whose names begin so are the steps (default: they are found)");
  options.choice("--rule", "RULE", {"kineto", "hta", "tracelens"},
                 "Of traces: print the times by class as another tool counts them, and nothing else: kineto (PyTorch's "
                 "plugin for TensorBoard), hta (Holistic Trace Analysis) or tracelens");
  options.flag("--json", "Print all of it as JSON");
  options.out_folder("Folder that holds results/");
  options.text_style();
}

void declare_finish(CommandOptions& options) {
  options.argument("run", "RUN", "The run's folder or name, or an experiment (its newest run)").required();
  options.out_folder("Folder that holds results/ and plots/");
  options.chart_format();
  options.text_style();
}

void verdict_options(CommandOptions& options) {
  options.texts("--figure", "COLUMN",
                "Column to compare, such as step_time_s; may be repeated; default: those of the claims and charts");
  options.flag("--all-figures", "Compare all figures");
  options.texts("--better", "NAME=WORD",
                "Which direction of a column is better: lower or higher, such as fps=higher; may be repeated");
  options.text("--threshold", "PERCENT", "Smaller changes are the same, such as '3 %' (1 %)");
  options.flag("--strict", "Exit with status 3 if a row is AMBIGUOUS");
  options.out_folder("Folder that holds results/ and baselines/");
}

void comparison_options(CommandOptions& options) {
  options.choice("--format", "FORMAT", {"text", "csv", "html", "json", "junit", "markdown"},
                 "How to print it: text (the default), csv, html (a page), json, junit, or markdown (five lines for a "
                 "pull request)");
  verdict_options(options);
  options.text_style();
}

void declare_ab(CommandOptions& options) {
  options
      .arguments("words", "A B -- SCRIPT [OPTION...]",
                 "Two sides, and what both run. A side is one word of settings: options of run ('--set batch_size=8'), "
                 "variables of the environment (NAME=value), or another build's program (a path)")
      .required();
  options.integer("--repeat", "K", 1, 1000, "Processes a side, in ABBA order (10)");
  comparison_options(options);
}

void declare_baseline(CommandOptions& options) {
  options
      .arguments("words", "save NAME [RUN...] | list",
                 "save: keep runs (default: last) as a baseline, one of that name is replaced; list: the baselines")
      .required();
  options.out_folder("Folder that holds results/ and baselines/");
}

void declare_calibrate(CommandOptions& options) {
  options.arguments("words", "SCRIPT [-- OPTION...]", "What to measure, with options of run; or, with --from, nothing")
      .required(false);
  options.integer("--repeat", "K", 14, 1000, "Processes to measure (20)");
  options.text("--from", "SIDE", "Use runs that are there, at least 14 processes");
  options.texts("--figure", "COLUMN",
                "Column to calibrate, such as step_time_s; may be repeated; default: those of the claims and charts");
  options.out_folder("Folder that holds results/ and calibration/");
}

void declare_calibrate_device(CommandOptions& options) {
  options.argument("device", "DEVICE", "The device to measure, such as gpu:0").required();
  options.text("--like", "NAME",
               "The profile from which numbers come that are not measured: a100, h100 (the default), ...");
  options.traceback();
}

void declare_check(CommandOptions& options) {
  options.arguments("runs", "RUN", "Runs to judge; default: the baseline's scripts are measured again");
  options.text("--baseline", "NAME", "What to compare with").required();
  options.flag("--confirm", "Measure again, in fresh processes, what looks SLOWER; only what is SLOWER again counts");
  options.integer("--repeat", "K", 1, 1000, "Processes to measure (as many as the baseline has, but at least 7)");
  options.text("--program", "FILE", "The baseline's program, which --confirm measures beside this one");
  options.flag("--trusted",
               "Let the baseline's scripts (baselines/NAME/*/*/script.lua) run programs and write anywhere");
  comparison_options(options);
}

void declare_compare(CommandOptions& options) {
  options
      .arguments(
          "sides", "SIDE",
          "The baseline, then what is compared with it: runs (a repeated one with all its processes), folders, "
          "archives, experiments, last, tags, baselines, CSV, JSON of Google Benchmark or hyperfine; a,b is one side")
      .required();
  comparison_options(options);
}

void declare_fleet(CommandOptions& options) {
  options
      .arguments("histories", "HISTORY",
                 "Files of nights, results/history.db of one or several machines; default: the one of --out")
      .required(false);
  options.choice("--format", "FORMAT", {"text", "html", "csv", "json"},
                 "How to print it: text (the default), html (a page, fleet.html), csv or json");
  options.text("--file", "FILE", "Write it into this file");
  options.texts("--host", "NAME", "Show only this machine, compared with all; may be repeated");
  options.text("--suite", "SUITE", "Compare only what this suite has measured");
  options.out_folder("Folder that holds results/");
  options.text_style();
}

void declare_history(CommandOptions& options) {
  options.argument("experiment", "EXPERIMENT", "The experiment whose trend is shown; without it, lists all of them");
  options.choice("--format", "FORMAT", {"text", "csv", "json"},
                 "How to print the trend: text (the default), csv or json");
  options.text("--host", "NAME", "Only this machine's figures; without EXPERIMENT, its reported changes");
  options.text("--figure", "COLUMN", "Only this figure, such as step_time_s");
  options.choice("--state", "STATE", {"better", "open", "resolved", "recovered"},
                 "Only figures with a reported change in this state");
  options.flag("--rebuild", "Read all runs below results/ again");
  options
      .texts("--merge", "FILE...",
             "Add the histories of other machines, with what was resolved there; runs that were pruned here come back")
      .allow_extra_args();
  options.integer("--prune", "DAYS", 0, 36500, "Forget runs older than this; what was reported stays");
  options.text("--export", "FILE", "Write all values, or those of EXPERIMENT, into a new CSV file");
  options.text("--backup", "FILE", "Write a copy of the history, whole also while others write it");
  options.text("--resolve", "ID", "Close the open changes of the alarm ID");
  options.text("--note", "TEXT", "With --resolve: why");
  options.flag("--accept-missing", "Nights no longer name the figures, or those of EXPERIMENT, that are missing now");
  options.out_folder("Folder that holds results/");
  options.text_style();
}

void declare_nightly(CommandOptions& options) {
  options.argument("suite", "SUITE", "A suite's file, or the name of one in suites/: hardware, nightly or quick")
      .required();
  options.positive("--minutes", "MINUTES", "How long it may take, in place of what the suite says");
  options.text("--on-alarm", "COMMAND", "Shell command to run after a new alarm, with the summary as its input");
  options.flag("--dry-run", "List what would be run, run nothing");
  options.text("--host", "NAME", "This machine's name in the history (what the system says), for containers");
  options.flag("--json", "Print the whole night as one line of JSON");
  options.text("--junit", "FILE", "Write the night as JUnit's XML too");
  options.out_folder("Folder for results/ and plots/");
}

void declare_pack(CommandOptions& options) {
  options.argument("run", "RUN", "The run's folder or name, or an experiment (its newest run)").required();
  options.text("--file", "FILE", "The archive; default: EXPERIMENT-RUN.tar.gz in the working folder");
  options.flag("--anonymous", "Leave out names of hosts and users, and paths");
  options.out_folder("Folder that holds results/ and plots/");
}

void declare_prune(CommandOptions& options) {
  constexpr std::int64_t most = 1'000'000;
  options.argument("folder", "DIR", "The folder results, or the one that holds it; default: that of --out");
  options.integer("--keep", "N", 0, most, "How many runs of each experiment stay: the newest").required();
  options.flag("--keep-tags", "Keep runs with a tag too, however old they are");
  options.flag("--dry-run", "List the runs that would be removed, and remove none");
  options.out_folder("Folder that holds results/ and plots/");
}

void declare_report(CommandOptions& options) {
  options
      .arguments("sides", "SIDE",
                 "The baseline, then what is compared with it, each as for compare; one side alone is described")
      .required(false);
  options.text("--history", "EXPERIMENT", "In place of sides: the trend of this experiment over the nights");
  options.choice(
      "--format", "FORMAT", {"html", "latex"},
      "How to write it: html (a page, the default) or latex (of one side, for a paper: a table with units and "
      "intervals, and a paragraph of how it was measured)");
  options.text("--file", "FILE", "The file; default: report-NAMES.html or report-NAMES.tex in the working folder");
  verdict_options(options);
}

void declare_tune(CommandOptions& options) {
  options.text("--where", "AXIS=VALUE[,AXIS=VALUE...]",
               "Tune the point with these values (the first that the script does not skip)");
  options.text("--experiment", "NAME", "The experiment to tune, if the script declares several");
  options.text("--figure", "COLUMN", "Column to improve (the first of examples_per_s, bytes_per_s, step_time_s, ...)");
  options.texts("--remedy", "REMEDY", "Try only this remedy; may be repeated");
  options.text_style();
  options.traceback();
}

void declare_watch(CommandOptions& options) {
  constexpr std::int64_t most_steps = 1'000'000'000;
  options.text("--for", "TIME",
               "Seconds of training behind the window, after which the verdict is printed; the job "
               "goes on (60s)");
  options.flag("--stop", "End the job when the verdict is printed");
  options.integer("--at", "STEP", 1, most_steps, "Step with which the window begins (behind the warm-up)");
  options.integer("--steps", "N", 1, 1000, "Steps in the window that the framework's profiler records (12)");
  options.flag("--prove",
               "Then run as many steps on batches that were kept in memory, which proves or refutes that the "
               "input is the cause; the job's results are void then");
  options.text("--against", "RUN", "An earlier run of the job: what became longer or shorter, by class, part and line");
  options.flag("--json", "Print all of it as a line of JSON");
  options.out_folder("Folder that holds results/");
  options.text_style();
}

void declare_tune_job(CommandOptions& options) {
  options.positive("--budget", "SECONDS", "How long all runs of the job may take together (300)");
  options.integer("--steps", "N", 8, 1'000'000,
                  "Steps of training of each run (as many as take 3 s, two epochs if short)");
  options.texts("--remedy", "JOB_REMEDY", "Try only this remedy; may be repeated");
  options.choice("--allow", "WHAT", {"learning"}, "Try remedies that change what is learned too");
  options.flag("--dry-run", "Say what would run, how often and for how long, and run the job once, for what applies");
  options.flag("--json", "Print the result as a line of JSON");
  options.out_folder("Folder that holds results/");
  options.text_style();
}

constexpr bool runs_script = true;

constexpr LibraryCommand commands[] = {
    {"ab", "Measure two settings, environments or builds in turn, and compare them", declare_ab},
    {"baseline", "Save results to compare with later, or list them", declare_baseline},
    {"calibrate", "Measure this machine's noise, for the verdicts of later comparisons", declare_calibrate},
    {"calibrate-device", "Fit the profile of an emulated accelerator to a device of this machine",
     declare_calibrate_device},
    {"check", "Compare with a baseline; for gates: exits with 1 if a row is SLOWER or has VANISHED", declare_check},
    {"compare", "Compare results: what is slower, faster or the same, and how sure that is", declare_compare},
    {"report", "Write a page: a comparison, one side alone, or a trend over the nights; or a table for a paper",
     declare_report},
    {"list", "List experiments and their questions, by topic", declare_list},
    {"new", "Write a commented script to start from", declare_new},
    {"help", "Say what a command, a function, a column or a finding is; search the reference", declare_help},
    {"devices", "List the devices of this machine", declare_devices},
    {"doctor", "Check whether something here costs speed or is wrong, and what to do about it", declare_doctor},
    {"show", "Print a run again: its table, claims and answer", declare_show},
    {"explain", "Explain why the device was not busy: findings, remedies and where a step's time went",
     declare_explain},
    {"watch", "Run a Python job, unchanged, and say why it waits: gpubench watch -- python train.py", declare_watch},
    {"history", "Show how figures changed over the nights, and keep their history", declare_history},
    {"fleet", "Say which machine stands out tonight among others of its model", declare_fleet},
    {"nightly", "Run a suite of experiments on all devices, and report what has changed", declare_nightly},
    {"finish", "Write the report and charts of a run whose program died, or charts in other formats", declare_finish},
    {"changes", "Find lasting changes in series of measurements", declare_changes},
    {"pack", "Write one archive of a run: script, data, charts, report, versions", declare_pack},
    {"prune", "Remove old runs, and keep the newest of each experiment", declare_prune},
    {"tune",
     "Try remedies on a script's point, measure what each gains, and print the lines to change; of a Python job: "
     "gpubench tune -- python train.py (gpubench help tune-job)",
     declare_tune, runs_script},
    {"tune-job", "The same for a Python job that is no script of gpubench: gpubench tune -- python train.py",
     declare_tune_job},
};

}  // namespace

std::span<const LibraryCommand> library_commands() {
  return commands;
}

}  // namespace gpubench
