"""Executes each line of Keras once, and looks for its effect. No case depends on a time."""
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
import keras
import numpy as np
import tensorflow as tf

from lines import NoEffect, execute, run

gpus = tf.config.list_physical_devices("GPU")
settings = 'optimizer="sgd", loss="mse"'


def see(effect, what):
    if not effect:
        raise AssertionError(f"no effect: {what}")


def numbers(count=8):
    return tf.data.Dataset.range(count)


def names(**own):
    return {"tf": tf, "keras": keras, **own}


def stage(kind, **values):
    def case(line):
        made = execute(line, names(dataset=numbers(), files=numbers(), double=lambda x: 2 * x,
                                   read=lambda x: tf.data.Dataset.from_tensors(x)), **values)
        see(kind in type(made).__name__, f"the stage is a {type(made).__name__}")
        see(len(list(made)) == 8, "the elements")
    return case


def cache(line):
    calls = []
    dataset = numbers().map(lambda x: tf.numpy_function(lambda v: calls.append(v) or v, [x], tf.int64))
    cached = execute(line, names(dataset=dataset))
    for _ in range(3):
        see(len(list(cached)) == 8, "the elements")
    see(len(calls) == 8, f"{len(calls)} calls in three epochs of 8")


def batched_map(line):
    shapes = []
    made = execute(line, names(dataset=numbers(), f=lambda x: shapes.append(x.shape.rank) or x), batch="4", function="f")
    see(len(list(made)) == 2 and shapes == [1], f"ranks {shapes}")


def batch(**values):
    def case(line):
        see(len(next(iter(execute(line, names(dataset=numbers()), **values)))) == 4, "a batch of 4")
    return case


def prefetch_to_device(line):
    device = "/gpu:0" if gpus else "/cpu:0"
    made = execute(line, names(dataset=numbers()), device=device)
    see(device[1:4].upper() in next(iter(made)).device, "the device of the elements")
    if not gpus:
        raise NoEffect("no GPU: elements stay in host memory")


class Watched(keras.layers.Layer):
    """Keeps whether its calls were eager."""

    def __init__(self):
        super().__init__()
        self.eager = []

    def call(self, x):
        self.eager.append(tf.executing_eagerly())
        return x


def model_of(*layers):
    return keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(2)])


def fit(model, **options):
    model.fit(np.zeros((16, 4), "float32"), np.zeros((16, 2), "float32"), batch_size=2, verbose=0, **options)


def graph(line):
    watched = Watched()
    model = model_of(watched)
    model.compile(run_eagerly=True, optimizer="sgd", loss="mse")
    fit(model)
    see(all(watched.eager[-3:]), "eager before")
    execute(line, names(model=model), rest=settings)
    watched.eager.clear()
    fit(model)
    see(watched.eager and not any(watched.eager), f"calls: {watched.eager}")


def fused_kernels(line):
    model = model_of()
    model.compile(run_eagerly=True, jit_compile=True, optimizer="sgd", loss="mse")
    see(not model.jit_compile or model.run_eagerly, "eager Keras compiles nothing")
    execute(line, names(model=model), rest=settings)
    see(model.jit_compile and not model.run_eagerly, "jit_compile")
    fit(model)


def compiled_step(line):
    traced = []

    def step(x):
        traced.append(1)
        return x + 1

    own = names(step=step)
    execute(line, own)
    for value in range(3):
        see(int(own["step"](tf.constant(value))) == value + 1, "the result")
    see(len(traced) == 1, f"{len(traced)} calls of the function in three steps")


def fewer_threads(line):
    code = f"import tensorflow as tf; {line.replace('<N>', '1')}; print(tf.config.threading.get_intra_op_parallelism_threads())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()
    see(said == "1", f"{said} threads, in a process that has run nothing before")


def rarer_evaluation(line):
    model, calls = model_of(), []
    model.compile(optimizer="sgd", loss="mse")
    data = tf.data.Dataset.from_tensors((np.zeros((4, 4), "float32"), np.zeros((4, 2), "float32")))
    counting = keras.callbacks.LambdaCallback()
    counting.on_test_begin = lambda logs=None: calls.append(1)
    execute(line, names(model=model, data=data, counting=counting), dataset="data", n="2",
            rest="validation_data=data, epochs=4, verbose=0, callbacks=[counting]")
    see(len(calls) == 2, f"{len(calls)} evaluations in four epochs")


def rarer_saving(line):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "{epoch}.weights.h5")
        made = execute(line.replace(", save_freq", ", save_weights_only=True, save_freq"), names(file=file), file="file")
        model = model_of()
        model.compile(optimizer="sgd", loss="mse")
        fit(model, callbacks=[made])
        see(len(os.listdir(folder)) == 1, f"{os.listdir(folder)} after an epoch of 8 batches")


def fewer_callbacks(line):
    def calls_of(model):
        calls = []
        fit(model, callbacks=[keras.callbacks.LambdaCallback(on_train_batch_end=lambda step, logs: calls.append(step))])
        return len(calls)

    model = model_of()
    model.compile(optimizer="sgd", loss="mse")
    see(calls_of(model) == 8, "a call after each of 8 batches")
    execute(line, names(model=model), n="4", rest=settings)
    see(calls_of(model) == 2, "two calls")


def fewer_synchronizations(line):
    total = tf.Variable(1.0)
    execute(line, names(total=total, loss=tf.constant(2.0)))
    see(total.numpy() == 3, "the sum")


def one_device(line):
    own = names(model_of=model_of)
    execute(line, own, device="/cpu:0", model="model_of()")
    see(all("CPU:0" in weight.value.device for weight in own["model"].weights), "the device of the weights")


def device_exchanges(line):
    strategy = execute(line, names())
    see(strategy.num_replicas_in_sync == max(1, len(gpus)), "the replicas")
    if len(gpus) < 2:
        raise NoEffect("fewer than two GPUs exchange nothing")


def gradient_accumulation(line):
    optimizer = execute(line, names(), optimizer="SGD")
    weight = keras.Variable([1.0])
    optimizer.build([weight])
    seen = []
    for _ in range(4):
        optimizer.apply([tf.constant([1.0])], [weight])
        seen.append(float(weight.value[0]))
    see(seen[:3] == [1.0] * 3 and seen[3] < 1, f"the weight: {seen}")


def mixed_precision(line):
    execute(line, names())
    try:
        dense = keras.layers.Dense(2)
        result = dense(tf.zeros((1, 4)))
        see(result.dtype == tf.bfloat16 and dense.kernel.dtype == "float32", f"{result.dtype}, {dense.kernel.dtype}")
    finally:
        keras.mixed_precision.set_global_policy("float32")


def tensor_float32(line):
    see(execute(line, names()) is True, "TF32 is on by default")


def padded_sizes(line):
    layer = execute(line, names(), **{"multiple of 8": "16"})
    layer.build((None, 4))
    see(layer.kernel.shape[-1] % 8 == 0, "the width")


def whole_batches(line):
    made = execute(line, names(dataset=numbers(7)), batch="2")
    see(len(list(made)) == 3, "the last batch is left out")


def kept_allocations(line):
    execute(line, names(os=os))
    see(os.environ.pop("TF_GPU_ALLOCATOR") == "cuda_malloc_async", "the variable")
    if not gpus:
        raise NoEffect("no GPU, whose memory it is about")


cases = {
    "more_workers": stage("ParallelMap", function="double"), "parallel_reads": stage("ParallelInterleave", read="read"),
    "prefetch": stage("Prefetch"), "cache": cache, "batched_map": batched_map, "prefetch_to_device": prefetch_to_device,
    "one_device": one_device, "larger_batch": batch(larger_batch="4"), "smaller_batch": batch(smaller_batch="4"),
    "graph": graph, "compiled_step": compiled_step, "fewer_callbacks": fewer_callbacks,
    "fewer_synchronizations": fewer_synchronizations, "device_exchanges": device_exchanges,
    "gradient_accumulation": gradient_accumulation, "mixed_precision": mixed_precision, "tensor_float32": tensor_float32,
    "padded_sizes": padded_sizes, "fused_kernels": fused_kernels, "fixed_shapes": whole_batches,
    "kept_allocations": kept_allocations, "rarer_evaluation": rarer_evaluation, "rarer_saving": rarer_saving,
    "fewer_threads": fewer_threads,
}
sys.exit(run("keras", cases))
