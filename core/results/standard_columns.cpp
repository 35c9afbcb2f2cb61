// The columns that the program itself fills, with what they mean. README.md lists the same.
#include <array>

#include "core/results/column.h"

namespace gpubench {
namespace {

constexpr bool text_column = true;

constexpr auto neither = Better::neither;
constexpr auto lower = Better::lower;
constexpr auto higher = Better::higher;

const std::array standard_column_list = {
    Column{"experiment", Unit::none, neither, text_column, "name of the experiment"},
    Column{"point", Unit::none, neither, false, "number of the point in the sweep, from 1"},
    Column{"process", Unit::none, neither, false, "number of the process that measured, from 0"},
    Column{"status", Unit::none, neither, text_column, "ok, out_of_memory, error, timeout or skipped"},
    Column{"detail", Unit::none, neither, text_column, "why the status is not ok, or cells are empty"},
    Column{"quality", Unit::none, neither, text_column,
           "ok, or unreliable and why; such a row confirms no claim about times or memory"},
    Column{"device", Unit::none, neither, text_column, "where the model ran"},
    Column{"execution", Unit::none, neither, text_column, "graph (planned before the first step) or eager (op by op)"},
    Column{"precision", Unit::none, neither, text_column,
           "policy of the model's layers: a type, or mixed_... for 16-bit arithmetic on float32 weights"},
    Column{"replicas", Unit::none, neither, false, "copies of the model that train together"},
    Column{"batch_size", Unit::none, neither, false, "examples in a step, of all replicas together"},
    Column{"steps", Unit::none, neither, false, "steps that were measured, without warm-up and partial batches"},
    Column{"examples_per_s", Unit::per_second, higher, false, "batch size over the mean step time"},
    Column{"examples_low_per_s", Unit::per_second, higher, false, "its 95 % interval: lower end"},
    Column{"examples_high_per_s", Unit::per_second, higher, false, "its 95 % interval: upper end"},
    Column{"step_time_s", Unit::seconds, lower, false, "median wall time of a step, input included"},
    Column{"step_time_low_s", Unit::seconds, lower, false, "its 95 % interval: lower end"},
    Column{"step_time_high_s", Unit::seconds, lower, false, "its 95 % interval: upper end"},
    Column{"step_time_p95_s", Unit::seconds, lower, false, "time that 95 % of the steps do not exceed"},
    Column{"warmup_s", Unit::seconds, lower, false, "time before the first measured step: planning and settling"},
    Column{"compute_share", Unit::share, higher, false, "of the step: kernels run"},
    Column{"communication_share", Unit::share, lower, false, "of the step: replicas exchange, and no kernel runs"},
    Column{"peer_wait_share", Unit::share, lower, false, "of the step: waiting for a replica that is late"},
    Column{"copy_share", Unit::share, lower, false, "of the step: copies and fills alone"},
    Column{"input_wait_share", Unit::share, lower, false, "of the step: waiting for the next batch"},
    Column{"launch_share", Unit::share, lower, false, "of the step: the host launches while the device idles"},
    Column{"host_share", Unit::share, lower, false, "of the step: the host works or waits while the device idles"},
    Column{"other_share", Unit::share, lower, false, "of the step: what none of the other shares explains"},
    Column{"device_busy", Unit::share, higher, false, "of the step: at least one kernel runs"},
    Column{"flops_per_step", Unit::flops, neither, false, "floating-point operations that a step needs"},
    Column{"flops_per_s", Unit::flops_per_second, higher, false, "those operations over the mean step time"},
    Column{"flops_low_per_s", Unit::flops_per_second, higher, false, "its 95 % interval: lower end"},
    Column{"flops_high_per_s", Unit::flops_per_second, higher, false, "its 95 % interval: upper end"},
    Column{"mfu", Unit::share, higher, false,
           "flops_per_s over what the best large matrix product reaches on the devices used"},
    Column{"mfu_low", Unit::share, higher, false, "its 95 % interval: lower end"},
    Column{"mfu_high", Unit::share, higher, false, "its 95 % interval: upper end"},
    Column{"peak_memory_bytes", Unit::bytes, lower, false, "most device memory in use while measuring"},
    Column{"reserved_memory_bytes", Unit::bytes, lower, false, "device memory taken from the system, in use or not"},
    Column{"power_w", Unit::watts, lower, false, "mean power that the devices draw"},
    Column{"energy_j_per_example", Unit::joules, lower, false, "energy of the devices over the examples trained"},
    Column{"loss", Unit::none, lower, false, "mean training loss over the measured steps"},
    Column{"accuracy", Unit::share, higher, false, "right answers over the measured steps, in training"},
    Column{"verdict", Unit::none, neither, text_column, "why the device was not busy, in words"},
    Column{"stop_reason", Unit::none, neither, text_column, "why measuring ended: precise enough, or out of budget"},
};

const std::array optional_column_list = {
    Column{"skipped_steps", Unit::none, lower, false,
           "steps, warm-up included, that changed no weight because scaled gradients overflowed"},
    Column{"kernels", Unit::none, neither, false, "kernels launched in a step (gb.measure.training)"},
    Column{"exchange_bytes", Unit::bytes, neither, false,
           "that a replica puts into the exchanges of a step, mean of all"},
    Column{"exchanges", Unit::none, neither, false, "exchanges among the replicas in a step"},
    Column{"exchange_time_s", Unit::seconds, lower, false,
           "of a step's exchanges from the arrival of the last replica to the end, beside kernels or not; mean of all"},
    Column{"overlap_share", Unit::share, higher, false, "of exchange_time_s: what kernels did not stand still for"},
    Column{"imbalance", Unit::share, lower, false,
           "by how much the slowest replica's own time, exchanges and waiting for others left out, exceeds the mean"},
    Column{"last_rank", Unit::none, neither, false, "the replica that came last to most exchanges, from 0"},
    Column{"last_rank_device", Unit::none, neither, true, "its device"},
    Column{"last_rank_share", Unit::share, neither, false, "of the exchanges: those to which it came last"},
    Column{"weak_efficiency", Unit::share, higher, false,
           "X_n / (n X_1) by examples/s, with as many examples for each replica (gb.measure.efficiency)"},
    Column{"strong_efficiency", Unit::share, higher, false, "T_1 / (n T_n) by step times, with one batch size for all"},
    Column{"gradient_accumulation_steps", Unit::none, neither, false,
           "parts of a batch that a step trains on one after the other, where there are several"},
    Column{"host_time_s", Unit::seconds, lower, false,
           "median time that the host takes to launch a step on a GPU, waiting for nothing"},
    Column{"cpu_share", Unit::share, neither, false, "of all processors: busy with this process while measuring"},
    Column{"sm_clock_hz", Unit::hertz, neither, false, "mean clock of the multiprocessors, of the slowest GPU used"},
    Column{"memory_clock_hz", Unit::hertz, neither, false, "mean clock of the memory, of the slowest GPU used"},
    Column{"temperature_c", Unit::celsius, lower, false, "highest temperature of the GPUs used"},
    Column{"throttle", Unit::none, neither, text_column, "what held the GPUs' clocks down while measuring"},
    Column{"nvml_active_share", Unit::share, neither, false,
           "of the driver's sample periods: any kernel ran at all, which is no measure of use"},
    Column{"sm_share", Unit::share, neither, false, "of the GPUs' multiprocessors: busy (counted by Hopper and later)"},
    Column{"tensor_share", Unit::share, neither, false,
           "of the GPUs' tensor cores: busy (counted by Hopper and later)"},
    Column{"dram_share", Unit::share, neither, false,
           "of the GPU memory's bandwidth: used (counted by Hopper and later)"},
    Column{"telemetry_share", Unit::share, lower, false, "of the measured time: the GPUs' sensors were being read"},
    Column{"traced_step_time_s", Unit::seconds, lower, false,
           "mean wall time of the steps that were traced, which slows them down"},
    Column{"cached_step_time_s", Unit::seconds, lower, false,
           "mean step with batches that lie ready in host memory (gb.measure.input_proof)"},
    Column{"resident_step_time_s", Unit::seconds, lower, false,
           "mean step with batches that stay on the device (gb.measure.input_proof)"},
    Column{"input_ratio", Unit::none, lower, false,
           "mean step over that with resident batches; above 1 the input costs time (gb.measure.input_proof)"},
    Column{"input_ratio_low", Unit::none, lower, false, "its 95 % interval: lower end"},
    Column{"input_ratio_high", Unit::none, lower, false, "its 95 % interval: upper end"},
    Column{"last_loss", Unit::none, lower, false, "what the last call of the loop returned (gb.measure.loop)"},
    Column{"mode", Unit::none, neither, text_column,
           "how queries came: single_stream or offline, back to back (gb.measure.inference)"},
    Column{"concurrency", Unit::none, neither, false, "clients that asked at once (gb.measure.inference)"},
    Column{"queries", Unit::none, neither, false, "queries that were answered (gb.measure.inference)"},
    Column{"latency_s", Unit::seconds, lower, false,
           "median time of a query, from host memory to host memory (gb.measure.inference)"},
    Column{"latency_low_s", Unit::seconds, lower, false, "its 95 % interval: lower end"},
    Column{"latency_high_s", Unit::seconds, lower, false, "its 95 % interval: upper end"},
    Column{"latency_p90_s", Unit::seconds, lower, false, "time that 90 % of the queries do not exceed"},
    Column{"latency_p95_s", Unit::seconds, lower, false, "time that 95 % of the queries do not exceed"},
    Column{"latency_p99_s", Unit::seconds, lower, false,
           "time that 99 % of the queries do not exceed; empty for fewer than 100"},
    Column{"latency_max_s", Unit::seconds, lower, false, "time of the slowest query"},
    Column{"weights_bytes", Unit::bytes, lower, false, "the model's variables (gb.measure.inference)"},
    Column{"op", Unit::none, neither, text_column, "the op whose kernel ran (gb.measure.kernels)"},
    Column{"shape", Unit::none, neither, text_column, "its extents"},
    Column{"dtype", Unit::none, neither, text_column, "its type of numbers"},
    Column{"implementation", Unit::none, neither, text_column, "the kernel that the backend chose"},
    Column{"bytes_per_s", Unit::bytes_per_second, higher, false,
           "bytes that the kernel must move at least, or that the pipeline's elements have, over the time"},
    Column{"bytes_low_per_s", Unit::bytes_per_second, higher, false, "its 95 % interval: lower end"},
    Column{"bytes_high_per_s", Unit::bytes_per_second, higher, false, "its 95 % interval: upper end"},
    Column{"elements", Unit::none, neither, false, "elements that were measured (gb.measure.pipeline)"},
    Column{"epochs", Unit::none, neither, false, "epochs that were opened meanwhile (gb.measure.pipeline)"},
    Column{"elements_per_s", Unit::per_second, higher, false, "elements over the time they took (gb.measure.pipeline)"},
    Column{"elements_low_per_s", Unit::per_second, higher, false, "its 95 % interval: lower end"},
    Column{"elements_high_per_s", Unit::per_second, higher, false, "its 95 % interval: upper end"},
    Column{"element_time_s", Unit::seconds, lower, false, "median time of an element (gb.measure.pipeline)"},
    Column{"first_element_s", Unit::seconds, lower, false,
           "time from opening the pipeline to its first element (gb.measure.pipeline)"},
};

}  // namespace

std::span<const Column> standard_columns() {
  return standard_column_list;
}
std::span<const Column> optional_columns() {
  return optional_column_list;
}

}  // namespace gpubench
