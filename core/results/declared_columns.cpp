// The columns that the program itself fills. A new one is a row here and the line that fills it; docs/columns.md is
// written from these rows by the test ColumnDocs.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

#include "core/results/column.h"
#include "core/results/step_classes.h"

namespace gpubench {
namespace {

constexpr bool with_interval = true;
constexpr bool no_interval = false;
constexpr bool full_tables = true;

/// The shares of a step, which sum to 1. `filled_by`: as Column::filled_by.
std::vector<Column> class_columns(std::string_view filled_by) {
  static const auto descriptions = [] {
    std::array<std::string, step_classes.size()> texts;
    for (std::size_t i = 0; i < texts.size(); ++i)
      texts[i] = fmt::format("share of the step's time in which {}", step_classes[i].meaning);
    return texts;
  }();
  std::vector<Column> columns;
  for (std::size_t i = 0; i < step_classes.size(); ++i) {
    const Better better = step_classes[i].first == SpanClass::compute ? Better::higher : Better::lower;
    columns.push_back({std::string(step_classes[i].column), Unit::share, better, Kind::time, filled_by, descriptions[i],
                       with_interval});
  }
  return columns;
}

std::vector<Column> declared_standard_columns() {
  using enum Unit;
  using enum Better;
  using enum Kind;
  constexpr std::string_view every_row = "every row";
  constexpr std::string_view models = "training, inference";
  constexpr std::string_view traced = "training, loop, inference";
  constexpr std::string_view gpus = "gpus";
  std::vector<Column> columns{
      {"experiment", none, neither, text, every_row, "name of the experiment"},
      {"point", none, neither, setting, every_row, "number of the point in the sweep, from 1", no_interval,
       full_tables},
      {"process", none, neither, setting, every_row, "number of the process that measured, from 0"},
      {"status", none, neither, text, every_row, "ok, out_of_memory, error, timeout or skipped"},
      {"detail", none, neither, text, every_row, "why the status is not ok, or why cells are empty"},
      {"quality", none, neither, text, every_row,
       "ok, or unreliable and why: such a row decides no claim about times, rates, shares or power"},
      {"doubt", none, neither, text, every_row,
       "the kind of what makes `quality` unreliable, in a word that programs can read", no_interval, full_tables},
      {"memory_quality", none, neither, text, every_row,
       "empty, or unreliable and why: such a row decides no claim about memory"},
      {"memory_doubt", none, neither, text, every_row,
       "the kind of what makes `memory_quality` unreliable, in a word that programs can read", no_interval,
       full_tables},
      {"rounds", none, neither, extent, every_row,
       "how many times the point was measured, in turn with the points that it is compared with", no_interval,
       full_tables},
      {"cpu_lost_share", share, neither, time, every_row,
       "share of the processor time that the point wanted and other programs or the hypervisor took", no_interval,
       full_tables},
      {"cpu_clock_hz", hertz, neither, sensor, every_row,
       "mean clock of the busy processors while the point ran, where the kernel tells it", no_interval, full_tables},
      {"emulation", none, neither, text, "emulated devices",
       "the accelerator that is emulated, and how far its calculated times are checked against one"},
      {"device", none, neither, text, "training, loop, inference, kernels, collective", "where the model ran"},
      {"execution", none, neither, text, traced,
       "graph (planned before the first step) or eager (op by op); empty for a loop that is not compiled"},
      {"precision", none, neither, text, models,
       "policy of the model's layers: a type, or mixed_... for 16-bit arithmetic on float32 weights"},
      {"replicas", none, neither, setting, "training, loop, inference, collective",
       "copies of the model that train together"},
      {"batch_size", none, neither, setting, "training, loop, inference",
       "examples in a step, of all replicas together"},
      {"steps", none, neither, extent, "training, loop, kernels, collective",
       "steps that were measured, without warm-up and partial batches"},
      {"examples_per_s", per_second, higher, time, "training, loop, inference", "batch size over the mean step time",
       with_interval},
      {"step_time_s", seconds, lower, time, "training, loop, kernels", "median wall time of a step, input included",
       with_interval},
      {"step_time_p95_s", seconds, lower, time, "training, loop, kernels", "time that 95 % of the steps do not exceed"},
      {"warmup_s", seconds, lower, time, "training, loop, inference",
       "time before the first measured step: planning, and steps until their times are steady", no_interval,
       full_tables},
      {"device_busy", share, higher, time, traced,
       "share of the step in which at least one kernel runs on the device, those of exchanges too"},
      {"flops_per_step", flops, neither, counted, "training, inference, kernels",
       "floating-point operations that a step needs", no_interval, full_tables},
      {"flops_per_s", flops_per_second, higher, time, "training, inference, kernels",
       "flops_per_step over the mean step time", with_interval},
      {"mfu", share, higher, time, "training, inference, kernels",
       "flops_per_s over what the best large matrix product reaches on the devices used", with_interval},
      {"peak_memory_bytes", bytes, lower, memory, "training, loop, inference",
       "most device memory in use while measuring"},
      {"reserved_memory_bytes", bytes, lower, memory, "training, loop, inference",
       "device memory taken from the system, in use or not", no_interval, full_tables},
      {"power_w", watts, lower, sensor, gpus, "mean power that the devices draw"},
      {"energy_j_per_example", joules, lower, sensor, gpus, "energy of the devices over the examples trained"},
      {"loss", none, lower, learned, "training", "mean training loss over the measured steps"},
      {"accuracy", share, higher, learned, "training", "share of right answers over the measured steps, in training"},
      {"verdict", none, neither, text, "training, loop, inference",
       "why the device was not busy: the finding with the largest gain; gpubench explain tells more"},
      {"stop_reason", none, neither, text, "training, loop, inference, pipeline",
       "why measuring ended: precise enough, or out of budget", no_interval, full_tables},
      {"point_time_s", seconds, neither, extent, every_row, "wall time of the point, set-up included", no_interval,
       full_tables},
  };
  const std::vector<Column> shares = class_columns(traced);
  columns.insert(std::ranges::find(columns, "device_busy", &Column::name), shares.begin(), shares.end());
  return columns;
}

std::vector<Column> declared_optional_columns() {
  using enum Unit;
  using enum Better;
  using enum Kind;
  constexpr std::string_view training = "training";
  constexpr std::string_view replicas = "training, loop";  // where replicas train
  constexpr std::string_view traced = "training, loop, inference";
  constexpr std::string_view input_proof = "input_proof";
  constexpr std::string_view inference = "inference";
  constexpr std::string_view traces = "traces of other programs";
  constexpr std::string_view any_trace = "training, loop, inference, traces of other programs";
  constexpr std::string_view collective = "collective";
  constexpr std::string_view pipeline = "pipeline";
  constexpr std::string_view gpus = "gpus";
  return {
      {"skipped_steps", none, lower, counted, training,
       "steps, warm-up included, that changed no weight because scaled gradients overflowed"},
      {"kernels", none, neither, counted, "training, inference", "kernels launched in a step"},
      {"bytes_per_step", bytes, neither, counted, "training, inference",
       "least bytes that the kernels of a step must move", no_interval, full_tables},
      {"bandwidth_share", share, higher, time, "training, inference",
       "bytes_per_step over the mean step time, over the rate of the best copy on the devices used", with_interval},
      {"device_copies", none, lower, counted, "training, inference",
       "copies between devices in a step, because layers that follow each other are on different ones"},
      {"offloaded_bytes", bytes, neither, counted, training,
       "activations of a step that wait in the host's memory for their gradients"},
      {"unaligned_share", share, lower, counted, "training, inference",
       "share of the FLOP in products of tensors whose rows are no multiple of 16 bytes; not on processors"},
      {"own_attention", none, neither, text, "training, inference",
       "why our own kernels compute attention, not cuDNN: float32, mask, dropout, order of sums, no engine"},
      {"own_attention_share", share, lower, time, traced,
       "share of the step in our own kernels of attention, by the names of kernels in a trace of a GPU"},
      {"exchange_bytes", bytes, neither, counted, replicas,
       "bytes that a replica gives to the exchanges of a step, mean over the replicas"},
      {"exchanges", none, neither, counted, replicas, "exchanges between the replicas in a step"},
      {"exchange_time_s", seconds, lower, time, replicas,
       "time of a step's exchanges, each from its last replica's arrival to its end; mean over replicas"},
      {"overlap_share", share, higher, time, replicas, "share of exchange_time_s in which kernels go on running"},
      {"imbalance", share, lower, time, replicas,
       "how much longer the slowest replica computes than the mean of all, exchanges and waits left out"},
      {"last_rank", none, neither, time, replicas, "number of the replica for which the others wait most, from 0"},
      {"last_rank_device", none, neither, text, replicas, "device of that replica"},
      {"last_rank_share", share, neither, time, replicas, "share of the exchanges to which that replica came last"},
      {"weak_efficiency", share, higher, time, "efficiency",
       "X_n / (n X_1), X_n the examples/s of n replicas, each with the batch size of the one", with_interval},
      {"strong_efficiency", share, higher, time, "efficiency",
       "X_n / (n X_1), X_n the examples/s of n replicas that share the batch size of the one", with_interval},
      {"gradient_accumulation_steps", none, neither, setting, training,
       "parts of a batch that a step trains on one after the other, where there are several"},
      {"fixed_flops_per_step", flops, neither, counted, "training, inference",
       "those of flops_per_step that are as many whatever the batch is, such as the update of weights", no_interval,
       full_tables},
      {"memory_of", none, neither, text, "every row",
       "variables, where a device has no memory for weights and optimizer state: no batch is small enough", no_interval,
       full_tables},
      {"steps_of", none, neither, text, traced,
       "model, loop (a function of the script), inference, or foreign (another program's)", no_interval, full_tables},
      {"pipeline_stages", none, neither, text, replicas, "stages of the pipeline, sources first, with their threads",
       no_interval, full_tables},
      {"passes_off", none, neither, text, traced, "passes that the script switched off, or none", no_interval,
       full_tables},
      {"input_slots", none, neither, setting, training,
       "places for inputs on a GPU: with 2 a batch is copied while the step before it computes", no_interval,
       full_tables},
      {"host_time_s", seconds, lower, time, replicas,
       "median time that the host needs to launch a step on a GPU, without waiting for it"},
      {"cpu_share", share, neither, time, "training, loop, inference, pipeline",
       "share of all processors' time that this process used while measuring"},
      {"sm_clock_hz", hertz, neither, sensor, gpus, "mean clock of the multiprocessors, of the slowest GPU used",
       no_interval, full_tables},
      {"memory_clock_hz", hertz, neither, sensor, gpus, "mean clock of the memory, of the slowest GPU used",
       no_interval, full_tables},
      {"temperature_c", celsius, lower, sensor, gpus, "highest temperature of the GPUs used", no_interval, full_tables},
      {"throttle", none, neither, text, gpus, "what held the GPUs' clocks down while measuring"},
      {"nvml_active_share", share, neither, sensor, gpus,
       "share of the driver's sample periods in which any kernel ran; says nothing about how much of it", no_interval,
       full_tables},
      {"sm_share", share, neither, sensor, gpus,
       "share of the GPUs' multiprocessors that was busy (counted by Hopper and later)"},
      {"tensor_share", share, neither, sensor, gpus,
       "share of the GPUs' tensor cores that was busy (counted by Hopper and later)"},
      {"dram_share", share, neither, sensor, gpus,
       "share of the GPU memory's bandwidth that was used (counted by Hopper and later)"},
      {"telemetry_share", share, lower, time, gpus, "share of the measured time spent reading the GPUs' sensors",
       no_interval, full_tables},
      {"small_kernel_share", share, lower, time, traced, "share of the step in kernels that are shorter than 20 us",
       no_interval, full_tables},
      {"traced_step_time_s", seconds, lower, time, traced,
       "mean wall time of the traced steps, which tracing slows down", no_interval, full_tables},
      {"observer_share", share, lower, time, traced,
       "share of the traced steps' time that tracing took; the timed steps are not traced", no_interval, full_tables},
      {"cached_step_time_s", seconds, lower, time, input_proof,
       "mean step time with batches that are ready in host memory"},
      {"resident_step_time_s", seconds, lower, time, input_proof,
       "mean step time with batches that stay on the device"},
      {"input_ratio", none, lower, time, input_proof,
       "mean step time over resident_step_time_s; above 1 the input costs time", with_interval},
      {"input_cause", none, neither, text, input_proof,
       "what the slowest thread of the pipeline does, measured without the model"},
      {"input_cause_kind", none, neither, text, input_proof,
       "the same in a word: reading, processing, main process, workers or unknown", no_interval, full_tables},
      {"thread_wait_share", share, lower, time, "watched jobs",
       "part of the time in which the rank's threads could run that no processor was free for them", no_interval,
       full_tables},
      {"input_processor_share", share, lower, time, "watched jobs",
       "part of the job's processor time that workers of its loaders take, where no processor is idle"},
      {"host_cause_share", share, lower, time, "watched jobs", "the part of host_share that host_cause_kind takes"},
      {"framework_share", share, lower, time, "watched jobs",
       "Python of the framework's own, between operators and steps and as epochs begin; part of other_share"},
      {"rank_threads", none, neither, setting, "watched jobs", "threads with which a rank computes", no_interval,
       full_tables},
      {"local_ranks", none, neither, setting, "watched jobs", "ranks of the job on this machine", no_interval,
       full_tables},
      {"processors", none, neither, setting, "watched jobs", "processors that the job may use", no_interval,
       full_tables},
      {"host_cause", none, neither, text, traces, "what the host did while the device had no work, and where",
       no_interval, full_tables},
      {"host_cause_kind", none, neither, text, traces,
       "the same in a word, such as synchronization, operators, Python or compilation", no_interval, full_tables},
      {"copy_cause", none, neither, text, any_trace, "the copies that take most time", no_interval, full_tables},
      {"copy_cause_kind", none, neither, text, any_trace, "the same in a word, such as offload, pageable or readback",
       no_interval, full_tables},
      {"float32_product_share", share, lower, time, traces,
       "share of the step in float32 products without tensor cores, by the names of kernels", no_interval, full_tables},
      {"launch_lead_s", seconds, higher, time, traces,
       "median time from a launch to its kernel; a few launches' time where the host never leads", no_interval,
       full_tables},
      {"replayed_step_time_s", seconds, lower, time, traces,
       "mean step time of the trace, replayed without the host's work that the first finding is about", no_interval,
       full_tables},
      {"replay_verdict", none, neither, text, traces, "what the replayed steps would wait for", no_interval,
       full_tables},
      {"mode", none, neither, text, inference,
       "how queries were sent: single_stream (one by one) or offline (back to back)"},
      {"concurrency", none, neither, setting, inference, "clients that sent queries at the same time"},
      {"queries", none, neither, extent, inference, "queries that were answered"},
      {"latency_s", seconds, lower, time, inference, "median time of a query, from host memory to host memory",
       with_interval},
      {"latency_p90_s", seconds, lower, time, inference, "time that 90 % of the queries do not exceed"},
      {"latency_p95_s", seconds, lower, time, inference, "time that 95 % of the queries do not exceed"},
      {"latency_p99_s", seconds, lower, time, inference,
       "time that 99 % of the queries do not exceed; empty for fewer than 100"},
      {"latency_max_s", seconds, lower, time, inference, "time of the slowest query"},
      {"weights_bytes", bytes, lower, counted, inference, "size of the model's variables"},
      {"op", none, neither, text, "kernels, collective", "the op whose kernel ran, or the collective"},
      {"shape", none, neither, text, "kernels", "extents of the op's tensors"},
      {"dtype", none, neither, text, "kernels, collective", "type of the tensors' numbers"},
      {"implementation", none, neither, text, "kernels, collective",
       "the kernel that the backend chose, or the communicator"},
      {"algorithm", none, neither, text, collective,
       "how the communicator carried out the collective; empty where it does not say"},
      {"message_bytes", bytes, neither, setting, collective,
       "bytes that each rank puts in; of all_gather and reduce_scatter the bytes of all ranks"},
      {"collective_time_s", seconds, lower, time, collective, "median time of a collective, mean over the ranks",
       with_interval},
      {"fastest_rank_time_s", seconds, lower, time, collective, "mean time on the fastest rank"},
      {"mean_rank_time_s", seconds, lower, time, collective, "mean time on all ranks"},
      {"slowest_rank_time_s", seconds, lower, time, collective, "mean time on the slowest rank"},
      {"algorithm_bytes_per_s", bytes_per_second, higher, time, collective,
       "algorithm bandwidth: message_bytes over collective_time_s", with_interval},
      {"bus_bytes_per_s", bytes_per_second, higher, time, collective,
       "bus bandwidth: the least bytes that a rank must move (all_reduce: 2 (n - 1) / n) over the time", with_interval},
      {"wrong", none, lower, counted, collective, "elements that are not the exact result, of all ranks together"},
      {"bytes_per_s", bytes_per_second, higher, time, "kernels, pipeline",
       "the least bytes that the kernel must move, or the bytes of the pipeline's elements, over the time",
       with_interval},
      {"elements", none, neither, extent, pipeline, "elements that were measured"},
      {"epochs", none, neither, extent, pipeline, "epochs that began while measuring"},
      {"elements_per_s", per_second, higher, time, pipeline, "elements over the time they took", with_interval},
      {"element_time_s", seconds, lower, time, pipeline, "median time of an element"},
      {"first_element_s", seconds, lower, time, pipeline, "time from opening the pipeline to its first element"},
  };
}

/// Each column that has an interval, followed by the columns of the interval's ends.
std::vector<Column> with_ends(const std::vector<Column>& declared) {
  std::vector<Column> all;
  for (const Column& column : declared) {
    all.push_back(column);
    if (!column.has_interval) continue;
    for (const auto& [end, description] :
         {std::pair{"low", "lower end of its 95 % interval"}, std::pair{"high", "upper end of its 95 % interval"}}) {
      all.push_back(
          {interval_end(column, end), column.unit, column.better, column.kind, column.filled_by, description});
    }
  }
  return all;
}

}  // namespace

std::span<const Column> standard_columns() {
  static const std::vector<Column> columns = with_ends(declared_standard_columns());
  return columns;
}

std::span<const Column> optional_columns() {
  static const std::vector<Column> columns = with_ends(declared_optional_columns());
  return columns;
}

}  // namespace gpubench
