#include "lua/api/modules.h"

#include "lua/api/openers.h"

namespace gpubench::lua {

void open_modules(lua_State* L) {
  open_version(L);
  open_protect(L);
  open_system(L);
  open_reflection(L);
  open_device(L);
  open_device_config(L);
  open_device_facts(L);
  open_device_sensors(L);
  open_tensor(L);
  open_tensor_functions(L);
  open_image(L);
  open_compile(L);
  open_dataset(L);
  open_data_sources(L);
  open_data_stages(L);
  open_data_choices(L);
  open_lookups(L);
  open_lookup_layers(L);
  open_lua_function(L);
  open_data_files(L);
  open_data_images(L);
  open_data_records(L);
  open_data_tables(L);
  open_image_sets(L);
  open_imdb(L);
  open_array_files(L);
  open_measured(L);
  open_results(L);
  open_live_runs(L);
  open_stored_runs(L);
  open_page(L);
  open_reference(L);
  open_contention(L);
  open_doctor(L);
  open_processes(L);
  open_progress(L);
  open_measure_kernels(L);
  open_layers(L);
  open_initializers(L);
  open_constraints(L);
  open_regularizers(L);
  open_model(L);
  open_losses(L);
  open_distillation(L);
  open_optimizers(L);
  open_schedules(L);
  open_sequential(L);
  open_distribute(L);
  open_emulation(L);
  open_callbacks(L);
  open_memory(L);
  open_pruning(L);
  open_quantization(L);
  open_measure_scaling(L);
  open_statistics(L);
  open_measure_training(L);
  open_measure_inference(L);
  open_measure_loop(L);
  open_measure_collective(L);
  open_measure_copies(L);
  open_measure_pipeline(L);
}

void open_command_modules(lua_State* L) {
  open_fleet(L);
  open_history(L);
  open_nights(L);
  open_compare(L);
  open_changes(L);
  open_stored_run_commands(L);
  open_watch(L);
  open_device_details(L);
}

}  // namespace gpubench::lua
