#include "lua/bind/other_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "core/base/known_names.h"

namespace gpubench::lua {
namespace {

struct OtherName {
  std::string_view name;  ///< in Keras, TensorFlow or PyTorch
  std::string_view here;
};

constexpr OtherName other_names[] = {
    {"DataLoader", "gb.data.Dataset: dataset:shuffle(n):batch(n):prefetch(gb.AUTOTUNE)"},
    {"GradientTape", "gb.tape(function(tape) ... end)"},
    {"LogicalDeviceConfiguration", "gb.config.set_logical_devices"},
    {"MirroredStrategy", "gb.distribute.MirroredStrategy"},
    {"TensorBoard", "gb.callbacks.Profiler writes a trace for chrome://tracing and Perfetto, and a profile"},
    {"as_numpy_iterator", "dataset:iter(), or `for x, y in dataset do`"},
    {"backend", "the functions are methods of tensors: x:relu(), x:mean()"},
    {"cardinality", "the property `size`"},
    {"clear_session", "every point of a sweep begins with empty devices; collectgarbage() frees what a script dropped"},
    {"cuda", "x:to('gpu:0') for a tensor; gb.device('gpu:0', function() ... end) for what is made inside"},
    {"experimental", "its members stand one level higher: gb.config, gb.data"},
    {"experimental_distribute_dataset", "strategy:distribute(dataset)"},
    {"from_generator", "gb.data.Dataset.from_generator"},
    {"from_tensor_slices", "gb.data.Dataset.from_tensor_slices"},
    {"from_tensors", "gb.data.Dataset.from_tensor_slices, with one more dimension in front"},
    {"function", "gb.compile(f)"},
    {"get_layer", "model:get_layer(name), or model.layers, by number"},
    {"get_memory_growth",
     "gb.config.set_memory_growth sets it; gb.config.memory_info(device) tells what is reserved and what is in use"},
    {"get_memory_info", "gb.config.memory_info(device)"},
    {"get_soft_device_placement", "gb.config.soft_device_placement()"},
    {"get_visible_devices", "gb.config.list_logical_devices(kind)"},
    {"global_policy", "gb.config.dtype_policy()"},
    {"is_gpu_available", "#gb.config.list_physical_devices('GPU') > 0"},
    {"jit_compile", "execution = 'graph', which is the default, plans and fuses the whole step; 'eager' runs op by op"},
    {"keras", "what Keras has stands in gb itself: gb.Sequential, gb.layers, gb.optimizers"},
    {"list_local_devices", "gb.devices()"},
    {"map_func", "the function is the first argument: dataset:map(f, { num_parallel_calls = gb.AUTOTUNE })"},
    {"mixed_precision", "gb.config.set_dtype_policy('mixed_float16')"},
    {"nn", "gb.layers for layers; functions are methods of tensors: x:relu()"},
    {"num_workers", "num_parallel_calls of dataset:map"},
    {"numpy", "x:to_table(), or x:item() of a single element"},
    {"parallel_interleave", "dataset:interleave(f, { num_parallel_calls = n })"},
    {"profiler", "gb.callbacks.Profiler, model:profile(dataset), or profile = true in gb.measure.training"},
    {"reset_memory_stats",
     "every point of a sweep begins with empty memory, and gb.config.memory_info(device).peak is its own"},
    {"run_functions_eagerly", "execution = 'eager' in model:compile"},
    {"set_global_policy", "gb.config.set_dtype_policy"},
    {"set_log_device_placement", "the property `device` of a tensor, and the column `device` of a row"},
    {"set_logical_device_configuration", "gb.config.set_logical_devices"},
    {"set_virtual_device_configuration", "gb.config.set_logical_devices"},
    {"tf", "names follow Keras and tf.data, and stand in gb itself: gb.Sequential, gb.data.Dataset"},
    {"threading", "--threads for all CPU devices, gb.config.set_logical_devices('cpu:0', { { threads = n } }) for one"},
    {"torch", "names follow Keras and tf.data, and stand in gb itself: gb.Sequential, gb.data.Dataset"},
    {"use_multiprocessing", "num_parallel_calls of dataset:map"},
    {"with_options", "dataset:options"},
    {"workers", "num_parallel_calls of dataset:map"},
};

}  // namespace

std::string no_such(std::string_view what, std::string_view name, std::span<const std::string_view> known) {
  const auto* const found = std::ranges::find(other_names, name, &OtherName::name);
  if (found != std::end(other_names)) return fmt::format("{} '{}'; here: {}", what, name, found->here);
  return fmt::format("{} '{}'{}", what, name, known_names(name, known));
}

}  // namespace gpubench::lua
