#include "core/diagnose/remedy.h"

#include <algorithm>
#include <array>

#include "core/base/enum_names.h"

namespace gpubench {
namespace {

constexpr bool changes_results = true;

constexpr std::string_view none = "";

constexpr std::array rows = {
    RemedyText{Remedy::more_workers,
               "more_workers",
               "let several workers make the batches",
               {"dataset:map(<FUNCTION>, { num_parallel_calls = gb.AUTOTUNE })",
                "DataLoader(<DATASET>, num_workers=<N>, persistent_workers=True)",
                "dataset.map(<FUNCTION>, num_parallel_calls=tf.data.AUTOTUNE)",
                "grain.DataLoader(data_source=<SOURCE>, worker_count=<N>, ...)"}},
    RemedyText{Remedy::parallel_reads,
               "parallel_reads",
               "read several files at the same time",
               {"files:interleave(<READ>, { cycle_length = 8, num_parallel_calls = 8 })",
                "DataLoader(<DATASET>, num_workers=<N>)",
                "files.interleave(<READ>, cycle_length=8, num_parallel_calls=tf.data.AUTOTUNE)",
                "grain.DataLoader(data_source=<SOURCE>, worker_count=<N>, ...)"}},
    RemedyText{
        Remedy::prefetch,
        "prefetch",
        "prepare the next batches while the step computes",
        {"dataset:prefetch(gb.AUTOTUNE)", "DataLoader(<DATASET>, num_workers=<N>, prefetch_factor=4)",
         "dataset.prefetch(tf.data.AUTOTUNE)", "dataset.mp_prefetch(grain.MultiprocessingOptions(num_workers=<N>))"}},
    RemedyText{
        Remedy::cache,
        "cache",
        "keep the elements in memory after the first epoch",
        {"dataset:cache()", "torch.utils.data.TensorDataset(*<TENSORS>)  # decoded once", "dataset.cache()", none}},
    RemedyText{Remedy::batched_map,
               "batched_map",
               "map whole batches instead of single examples",
               {"dataset:batch(<BATCH>):map(<FUNCTION>)", "DataLoader(<DATASET>, collate_fn=<FUNCTION OF A BATCH>)",
                "dataset.batch(<BATCH>).map(<FUNCTION>)", "dataset.batch(<BATCH>).map(<FUNCTION>)"}},
    RemedyText{Remedy::prefetch_to_device,
               "prefetch_to_device",
               "copy the next batches while the step computes",
               {"dataset:prefetch_to_device(\"<DEVICE>\")", "batch.to(\"<DEVICE>\", non_blocking=True)",
                "dataset.apply(tf.data.experimental.prefetch_to_device(\"<DEVICE>\"))",
                "following = jax.device_put(next(batches))  # before the step on the batch at hand"}},
    RemedyText{Remedy::pinned_memory,
               "pinned_memory",
               "make batches in page-locked memory",
               {"model:compile { pin_inputs = true, ... }", "DataLoader(<DATASET>, pin_memory=True)", none, none}},
    RemedyText{Remedy::input_slots,
               "input_slots",
               "give the executor a second place for inputs",
               {"model:compile { input_slots = 2, ... }", none, none, none}},
    RemedyText{Remedy::one_device,
               "one_device",
               "place layers that follow each other on one device",
               {"gb.device(\"<DEVICE>\", function() return <MODEL> end)", "model.to(\"<DEVICE>\")",
                "with tf.device(\"<DEVICE>\"): model = <MODEL>", "params = jax.device_put(params, jax.devices()[0])"}},
    RemedyText{Remedy::larger_batch,
               "larger_batch",
               "train on larger batches",
               {"dataset:batch(<LARGER BATCH>)", "DataLoader(<DATASET>, batch_size=<LARGER BATCH>)",
                "dataset.batch(<LARGER BATCH>)", "dataset.batch(<LARGER BATCH>)"},
               changes_results},
    RemedyText{
        Remedy::graph,
        "graph",
        "plan the step as a graph",
        {"model:compile { execution = \"graph\", ... }", "model = torch.compile(model, mode=\"reduce-overhead\")",
         "model.compile(run_eagerly=False, ...)", "step = jax.jit(step, donate_argnums=(0,))"}},
    RemedyText{Remedy::compiled_step,
               "compiled_step",
               "compile the function of the step",
               {"step = gb.compile(step)", "step = torch.compile(step)", "step = tf.function(step)",
                "step = jax.jit(step, donate_argnums=(0,))"}},
    RemedyText{
        Remedy::fewer_callbacks,
        "fewer_callbacks",
        "run callbacks and other code of the host once in many steps, not in each",
        {"model:fit(dataset, { callbacks = { { on_epoch_end = <FUNCTION> } } })", "if step % <N> == 0: <CALLBACK>()",
         "model.compile(steps_per_execution=<N>, ...)", "if step % <N> == 0: <CALLBACK>()"}},
    RemedyText{Remedy::fewer_synchronizations,
               "fewer_synchronizations",
               "read results of the device once an epoch",
               {"total:assign_add(loss)  -- and total:item() after the epoch",
                "total += loss.detach()  # and total.item() after the epoch",
                "total.assign_add(loss)  # and total.numpy() after the epoch",
                "losses.append(loss)  # and float(sum(losses)) after the epoch"}},
    RemedyText{Remedy::fixed_shapes,
               "fixed_shapes",
               "keep shapes and types, so that nothing is compiled again",
               {"dataset:batch(<BATCH>, { drop_remainder = true })",
                "DataLoader(<DATASET>, drop_last=True)  # or torch.compile(step, dynamic=True)",
                "dataset.batch(<BATCH>, drop_remainder=True)", "dataset.batch(<BATCH>, drop_remainder=True)"}},
    RemedyText{Remedy::kept_allocations,
               "kept_allocations",
               "keep memory instead of freeing and allocating it in every step",
               {"step = gb.compile(step)",
                "os.environ[\"PYTORCH_CUDA_ALLOC_CONF\"] = \"expandable_segments:True\"  # before torch is imported",
                "os.environ[\"TF_GPU_ALLOCATOR\"] = \"cuda_malloc_async\"  # before tensorflow is imported",
                "step = jax.jit(step, donate_argnums=(0,))"}},
    RemedyText{Remedy::rarer_evaluation,
               "rarer_evaluation",
               "evaluate the model less often, or on fewer batches",
               {"if epoch % <N> == 0 then model:evaluate(<DATASET>) end", "if step % <N> == 0: <EVALUATION>()",
                "model.fit(<DATASET>, validation_freq=<N>, ...)", "if step % <N> == 0: <EVALUATION>()"}},
    RemedyText{Remedy::rarer_saving,
               "rarer_saving",
               "save the model less often",
               {"if epoch % <N> == 0 then model:save(\"<FOLDER>\") end",
                "if step % <N> == 0: torch.save(model.state_dict(), <FILE>)",
                "keras.callbacks.ModelCheckpoint(<FILE>, save_freq=\"epoch\")", "if step % <N> == 0: <SAVE>(params)"}},
    RemedyText{Remedy::fewer_threads,
               "fewer_threads",
               "give each rank its part of the processors",
               {"gpubench run --threads <N> <SCRIPT>", "torch.set_num_threads(<N>)",
                "tf.config.threading.set_intra_op_parallelism_threads(<N>)", none}},
    RemedyText{Remedy::larger_buckets,
               "larger_buckets",
               "exchange gradients in larger buckets",
               {"gb.distribute.MirroredStrategy { bucket_bytes = 100 << 20 }",
                "DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True, static_graph=True)",
                none, none}},
    RemedyText{Remedy::compressed_exchanges,
               "compressed_exchanges",
               "exchange gradients in 16 bits",
               {"gb.distribute.MirroredStrategy { compression = \"bfloat16\" }",
                "model.register_comm_hook(None, default_hooks.bf16_compress_hook)", none, none},
               changes_results},
    RemedyText{
        Remedy::device_exchanges,
        "device_exchanges",
        "let the GPUs exchange directly",
        {"gb.distribute.MirroredStrategy { cross_device = \"nccl\" }", "torch.distributed.init_process_group(\"nccl\")",
         "tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.NcclAllReduce())", none}},
    RemedyText{Remedy::balanced_shares,
               "balanced_shares",
               "give each replica a share of the batch by its speed",
               {"gb.distribute.MirroredStrategy { shares = gb.distribute.balanced_shares(row.ranks) }",
                "DataLoader(<DATASET>, batch_size=<SHARE OF THE RANK>)", none, none}},
    RemedyText{Remedy::smaller_batch,
               "smaller_batch",
               "train on smaller batches",
               {"dataset:batch(<SMALLER BATCH>)", "DataLoader(<DATASET>, batch_size=<SMALLER BATCH>)",
                "dataset.batch(<SMALLER BATCH>)", "dataset.batch(<SMALLER BATCH>)"},
               changes_results},
    RemedyText{Remedy::gradient_accumulation,
               "gradient_accumulation",
               "compute a batch in several parts",
               {"model:compile { gradient_accumulation_steps = 4, ... }",
                "(loss / 4).backward()  # and optimizer.step() after every fourth part",
                "keras.optimizers.<OPTIMIZER>(gradient_accumulation_steps=4)",
                "optax.MultiSteps(<OPTIMIZER>, every_k_schedule=4)"}},
    RemedyText{
        Remedy::recomputation,
        "recomputation",
        "compute activations again instead of keeping them",
        {"model:compile { recompute_budget = <BYTES>, ... }",
         "torch.utils.checkpoint.checkpoint(<LAYER>, x, use_reentrant=False)", none, "jax.checkpoint(<FUNCTION>)"}},
    RemedyText{Remedy::no_offload,
               "no_offload",
               "keep activations and weights on the device, or fetch them one layer ahead",
               {"model:compile { offload = false, ... }", "FullyShardedDataParallel(model, cpu_offload=None)", none,
                "params = jax.device_put(params, <DEVICE>)"}},
    RemedyText{Remedy::divided_layers,
               "divided_layers",
               "divide the layers among several devices",
               {"gb.device(\"<OTHER DEVICE>\", function() return <LAYERS> end)", none, none, none}},
    RemedyText{Remedy::mixed_precision,
               "mixed_precision",
               "compute in 16 bits with float32 weights",
               {"gb.config.set_dtype_policy \"mixed_bfloat16\"", "with torch.autocast(\"cuda\", dtype=torch.bfloat16):",
                "keras.mixed_precision.set_global_policy(\"mixed_bfloat16\")",
                "loss = loss_of(jax.tree.map(lambda x: x.astype(jnp.bfloat16), params), batch)"},
               changes_results},
    RemedyText{Remedy::tensor_float32,
               "tensor_float32",
               "let the GPU multiply float32 in TF32",
               {"gb.config.set_tf32(true)", "torch.set_float32_matmul_precision(\"high\")",
                "tf.config.experimental.tensor_float_32_execution_enabled()  # True: TensorFlow uses TF32 by default",
                "jax.config.update(\"jax_default_matmul_precision\", \"tensorfloat32\")"},
               changes_results},
    RemedyText{Remedy::padded_sizes,
               "padded_sizes",
               "use sizes that are multiples of 8",
               {"gb.layers.Dense(<MULTIPLE OF 8>)", "torch.nn.Linear(<IN>, <MULTIPLE OF 8>)",
                "keras.layers.Dense(<MULTIPLE OF 8>)", "flax.nnx.Linear(<IN>, <MULTIPLE OF 8>, rngs=<RNGS>)"},
               changes_results},
    RemedyText{
        Remedy::fused_attention,
        "fused_attention",
        "train attention without dropout of its weights, and causal or on equal lengths instead of with a mask",
        {"gb.layers.MultiHeadAttention(<HEADS>, <DIM>, { dropout = 0, use_causal_mask = true })", none, none, none},
        changes_results},
    RemedyText{Remedy::fused_kernels,
               "fused_kernels",
               "let the passes fuse element-wise operations",
               {"model:compile { execution = \"graph\", passes = {}, ... }", "model = torch.compile(model)",
                "model.compile(run_eagerly=False, jit_compile=True, ...)", "jax.jit(<FUNCTION>)"}},
    RemedyText{Remedy::kernel_search,
               "kernel_search",
               "measure several algorithms of each matrix product",
               {"gb.config.set_matmul_search(8)", "model = torch.compile(model, mode=\"max-autotune\")", none, none}},
};

constexpr EnumNames<Words, 4> words_names{"unknown words", {"lua", "pytorch", "keras", "jax"}};

}  // namespace

std::string_view Wording::in(Words words) const {
  switch (words) {
    case Words::lua:
      return lua;
    case Words::pytorch:
      return pytorch;
    case Words::keras:
      return keras;
    case Words::jax:
      return jax;
  }
  return lua;
}

std::span<const RemedyText> remedies() {
  return rows;
}

const RemedyText& text_of(Remedy remedy) {
  return rows[static_cast<std::size_t>(remedy)];
}

std::string_view to_string(Remedy remedy) {
  return text_of(remedy).name;
}

std::optional<Remedy> remedy_named(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &RemedyText::name);
  return found == rows.end() ? std::nullopt : std::optional(found->remedy);
}

Words parse_words(std::string_view text) {
  return words_names.parse(text);
}

}  // namespace gpubench
