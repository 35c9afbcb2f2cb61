// One opener per file of this folder.
#pragma once

struct lua_State;

namespace gpubench::lua {

void open_array_files(lua_State* L);
void open_callbacks(lua_State* L);
void open_changes(lua_State* L);
void open_compare(lua_State* L);
void open_compile(lua_State* L);
void open_constraints(lua_State* L);
void open_contention(lua_State* L);
void open_data_choices(lua_State* L);
void open_data_sources(lua_State* L);
void open_data_stages(lua_State* L);
void open_data_files(lua_State* L);
void open_data_images(lua_State* L);
void open_data_records(lua_State* L);
void open_data_tables(lua_State* L);
void open_dataset(lua_State* L);
void open_image_sets(lua_State* L);
void open_imdb(lua_State* L);
void open_device(lua_State* L);
void open_device_config(lua_State* L);
void open_device_details(lua_State* L);
void open_device_facts(lua_State* L);
void open_device_sensors(lua_State* L);
void open_distillation(lua_State* L);
void open_distribute(lua_State* L);
void open_doctor(lua_State* L);
void open_emulation(lua_State* L);
void open_measure_kernels(lua_State* L);
void open_fleet(lua_State* L);
void open_history(lua_State* L);
void open_nights(lua_State* L);
void open_image(lua_State* L);
void open_initializers(lua_State* L);
void open_layers(lua_State* L);
void open_losses(lua_State* L);
void open_lookup_layers(lua_State* L);
void open_lookups(lua_State* L);
void open_lua_function(lua_State* L);
void open_measure_collective(lua_State* L);
void open_measure_copies(lua_State* L);
void open_measure_inference(lua_State* L);
void open_measure_loop(lua_State* L);
void open_measure_pipeline(lua_State* L);
void open_measure_scaling(lua_State* L);
void open_measure_training(lua_State* L);
void open_measured(lua_State* L);
void open_memory(lua_State* L);
void open_model(lua_State* L);
void open_optimizers(lua_State* L);
void open_page(lua_State* L);
void open_processes(lua_State* L);
void open_progress(lua_State* L);
void open_protect(lua_State* L);
void open_pruning(lua_State* L);
void open_quantization(lua_State* L);
void open_reflection(lua_State* L);
void open_reference(lua_State* L);
void open_regularizers(lua_State* L);
void open_results(lua_State* L);
void open_live_runs(lua_State* L);
void open_schedules(lua_State* L);
void open_sequential(lua_State* L);
void open_statistics(lua_State* L);
void open_stored_run_commands(lua_State* L);
void open_watch(lua_State* L);
void open_stored_runs(lua_State* L);
void open_system(lua_State* L);
void open_tensor(lua_State* L);
void open_tensor_functions(lua_State* L);
void open_version(lua_State* L);

}  // namespace gpubench::lua
