#include "core/results/run_fields.h"

#include <array>

namespace gpubench {

std::span<const RunField> run_fields() {
  constexpr std::string_view always = "always", in_scripts = "the script has it", at_end = "at the end";
  static constexpr std::array fields{
      RunField{"schema", always, "a number that grows when a field changes its meaning"},
      RunField{"experiment", always, "its name, as the folder has it"},
      RunField{"title", always, "what the experiment shows"},
      RunField{"run", always, "name of the run's folder"},
      RunField{"status", always, "running, done, error, interrupted or died"},
      RunField{"detail", "a run that did not end well", "why"},
      RunField{"started", always, "UTC, as 2026-11-21T04:17:00Z"},
      RunField{"finished", always, "the same; null while the run goes on"},
      RunField{"rows", always, "how many results.csv has at the end"},
      RunField{"axis_names", always, "names of the axes, the last one varies fastest"},
      RunField{"columns", at_end, "those with values: `name`, `unit`, `better`, `kind`, `threshold`, `description`"},
      RunField{"program", always, "`version`, `commit`, `compiler`, `build`, `libraries`, `file`"},
      RunField{"machine", always, "`host`, `kernel`, `cpu_model`, `cpus`, `memory_bytes` and more facts"},
      RunField{"process", at_end, "share of the processors, context switches and memory of the process"},
      RunField{"question", in_scripts, "the headline of the report"},
      RunField{"cause", in_scripts, "why it costs time or memory"},
      RunField{"remedy", in_scripts, "what to do about it"},
      RunField{"reading", in_scripts, "how to read the charts"},
      RunField{"figures", always, "columns that claims and charts are about"},
      RunField{"tags", "`--tag`", "words of the user"},
      RunField{"params", in_scripts, "values of `gb.param` by name"},
      RunField{"changed_params", "`--set` changed some", "their names"},
      RunField{"group", "fresh processes of one command", "`id`, `process`, `processes`, `varied`"},
      RunField{"arguments", always, "the command line"},
      RunField{"options", always,
               "what decides how long a point takes: `quick`, `budget_s`, `timeout_s`, `threads`, ..."},
      RunField{"axes", always, "`name` and `values` of each"},
      RunField{"seed", always, "of the random numbers"},
      RunField{"floatx", always, "type of tensors unless a script says another"},
      RunField{"dtype_policy", always, "the same for layers"},
      RunField{"devices", always,
               "`name`, `description`, `library`, `memory_bytes`, `allows_tf32`, "
               "`shares_host_memory`, `peaks`, `details`"},
      RunField{"no_gpu", "no GPU can be used", "why"},
      RunField{"unusable_gpus", "GPUs that cannot be used", "which and why"},
      RunField{"machine_checks", "`gpubench doctor` finds something",
               "`name`, `device`, `state`, `found`, `consequence`, `remedy`, `problem`"},
      RunField{"processes", "several processes", "a line for each: machine, process, threads"},
      RunField{"data", "data sets were read", "by data set: `source`, `directory`, `examples`, `checksum`"},
      RunField{"best_matmul_flops_per_s", "measured", "peaks by device, threads and type"},
      RunField{"best_copy_bytes_per_s", "measured", "the same of copies in a device's memory"},
      RunField{"emulated_profiles", "emulated devices", "the numbers of their profiles"},
      RunField{"traces", "`gpubench explain TRACE`",
               "of each rank: `file`, `format`, `framework`, `step_rule`, `steps_that_count`, `window_s`, `issues`"},
      RunField{
          "jobs", "`gpubench watch`",
          "of each rank: `script`, `framework`, `step_mark`, `steps_that_count`, `kinds`, `parts`, `sites`, `agent_s`"},
      RunField{"trace_ranks", "traces of several ranks",
               "`exchanges`, `residual_s`, and by rank `waiting_s`, `transfer_s`, `last`, `clock_offset_s`"},
      RunField{
          "trace_difference", "`gpubench explain TRACE --against TRACE`, `gpubench watch --against RUN`",
          "`sentence`, `before_s`, `after_s`, `slower`, and changes of `classes`, `kernels`, `idle`, of watched jobs `parts`, `lines`"},
      RunField{"trace_notes", "`gpubench explain TRACE`", "files that were left out, and why"},
      RunField{"charts", always, "what each shows: `name`, `title`, `kind`, `x`, `y`, `series`, ..."},
      RunField{"expectations", always, "claims: `id`, `claim`, `verdict`, `reason`, `answer`"},
      RunField{
          "answers", "claims have answers",
          "`answer` and `verdict`; of claims that are not decided also `why` and `remedy`; the first is the headline"},
      RunField{"warnings", "something spoils all figures", "sentences that stand above everything else"},
      RunField{"notes", at_end, "what could not be drawn or written"}};
  return fields;
}

}  // namespace gpubench
