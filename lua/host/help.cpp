#include "lua/host/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

#include "lua/host/grammar.h"

namespace gpubench {
namespace {

constexpr std::size_t line_width = 80;

constexpr HelpLine statuses[] = {
    {"0", "done; rows with the status out_of_memory, skipped or timeout may be among the results"},
    {"1",
     "a claim is refuted, with --strict; of nightly: an alarm; of fleet: a machine stands out; of doctor: something "
     "costs speed or is wrong; of compare, report, ab, check: a row is SLOWER or has VANISHED; of explain: a step is "
     "longer, with --fail-if-slower"},
    {"2",
     "wrong usage, unreadable input, an error, a row with the status error, or a point that could not be stopped in time"},
    {"3",
     "nothing to judge: an experiment measured no point, or what --require asks for does not hold; of compare, report, "
     "ab, check: no common row, no baseline, all rows INVALID, or with --strict an AMBIGUOUS one; of tune: no gain "
     "could be judged; of fleet: no machine could be"},
    {"129", "ended by SIGHUP; files are complete"},
    {"130", "interrupted by Ctrl-C; files are complete"},
    {"141", "the reader of the output has left"},
    {"143", "ended by SIGTERM; files are complete"},
    {"153", "a file reached the limit of ulimit -f"},
};

constexpr HelpLine variables[] = {
    {"GPUBENCH_DATA", "folder of data sets, in place of data/"},
    {"GPUBENCH_PATH", "folders of Lua modules that scripts may require, between colons"},
    {"GPUBENCH_PORT", "port by which processes of a run watch each other"},
    {"GPUBENCH_NCCL_TIMEOUT",
     "seconds after which a replica that does not arrive at an NCCL exchange ends the run (60)"},
    {"GPUBENCH_MPI_CUDA_AWARE", "1 or 0: whether MPI can read GPU memory, if Open MPI reports it wrongly"},
    {"NO_COLOR", "no colour, whatever the terminal"},
    {"CUDA_VISIBLE_DEVICES", "GPUs that the program sees, as everywhere"},
    {"OMP_WAIT_POLICY", "how threads of kernels wait, as everywhere"},
    {"TERM", "the terminal, as everywhere"},
};

constexpr HelpLine example_lines[] = {
    {"gpubench batch_size", "run an experiment"},
    {"gpubench batch_size --quick --set batch_size=8,512 --set device=cpu:0", "shorter, with other points"},
    {"gpubench batch_size --dry-run", "list its points and the expected time"},
    {"gpubench run batch_size input_pipeline mine.lua --quick", "several, one after the other"},
    {"gpubench run --workers 2 multi_worker", "with two processes on this machine"},
    {"mpirun -n 4 gpubench experiments/multi_worker.lua", "with four processes of a launcher (or srun)"},
    {"gpubench run batch_size --repeat 10 --tag before", "in ten processes, to compare with later"},
    {"gpubench compare before last", "what became slower, and how sure that is"},
    {"gpubench report before last", "the same as a page"},
    {"gpubench ab \"--set batch_size=8\" \"--set batch_size=9\" -- batch_size", "two settings in turn"},
    {"gpubench check --baseline v1 --confirm", "a gate, after gpubench baseline save v1"},
    {"gpubench list --long", "experiments: questions, times, needs"},
    {"gpubench new my_question", "write a script to start from"},
    {"gpubench show batch_size", "print its newest run again"},
    {"gpubench help show", "options of a command"},
    {"gpubench help measure.training", "a function of scripts; also columns, findings, remedies"},
    {"gpubench help --search shuffle", "what the reference says about a word"},
    {"gpubench nightly quick", "measure the hardware, and report what has changed"},
    {"gpubench history matmul_peak", "its figures over the nights"},
    {"gpubench finish batch_size", "write the report of a run that died"},
    {"gpubench finish batch_size --chart-format png,pdf", "draw its charts for chats and papers"},
    {"gpubench pack batch_size --anonymous", "one archive of a run, to be given away"},
    {"gpubench prune results --keep 30", "remove older runs"},
    {"gpubench tune mine.lua --where batch_size=32", "try remedies on it, and print what helps"},
    {"gpubench completion bash > ~/.local/share/bash-completion/completions/gpubench", "Tab completes commands"},
};

/// The words of a text in lines of at most `width` letters; a longer word has a line of its own.
std::vector<std::string> filled_lines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
    begin = end + 1;
  }
  lines.push_back(std::move(line));
  return lines;
}

/// A name, and its text from column `indent` on: in the next line, if the name reaches there.
std::string two_columns(std::string_view name, std::string_view text, std::size_t indent) {
  std::string lines = fmt::format("  {}", name);
  bool is_beside = lines.size() + 2 <= indent;
  if (is_beside) lines.resize(indent, ' ');
  for (const std::string& line : filled_lines(text, line_width - indent)) {
    if (!is_beside) lines += "\n" + std::string(indent, ' ');
    lines += line;
    is_beside = false;
  }
  return lines + "\n";
}

std::string section(std::string_view title, std::span<const HelpLine> lines, std::size_t indent) {
  std::string text(title);
  text += "\n";
  for (const HelpLine& line : lines) text += two_columns(line.name, line.text, indent);
  return text;
}

/// Without the blank lines that stand for a footer.
std::string without_end(std::string text) {
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

}  // namespace

std::span<const HelpLine> exit_statuses() {
  return statuses;
}

std::span<const HelpLine> environment_variables() {
  return variables;
}

std::span<const HelpLine> examples() {
  return example_lines;
}

std::string exit_status_section() {
  return without_end(section("Exit status (if several apply: 2 before 3 before 1):", statuses, 7));
}

std::string help_footer() {
  return exit_status_section() + "\n\n" + section("Environment:", variables, 27) + "\n" +
         without_end(section("Examples:", example_lines, 6));
}

std::string complete_help(const Grammar& grammar) {
  std::string text = grammar.app().help();
  const std::string run = grammar.command("run").help();
  const std::size_t options = run.find("Options:");
  const std::size_t footer = text.find("Exit status (");
  if (options == std::string::npos || footer == std::string::npos) return text;
  const std::string own = run.substr(options, run.find("Exit status (") - options);
  return text.insert(footer, std::string(own).insert(7, " of run"));
}

std::string command_help(const Grammar& grammar, const std::string& command) {
  return without_end(grammar.command(command).help(grammar.app().get_name()));
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  std::string text;
  for (const std::string& line : filled_lines(app->get_description(), line_width)) text += line + "\n";
  return text;
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return two_columns(command->get_name(), command->get_description(), 20);
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return two_columns(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option),
                     get_column_width());
}

}  // namespace gpubench
