"""Makes one trace with TensorFlow's profiler: keras_traces.py NAME FOLDER. As torch_traces.py."""
import os
import pathlib
import sys
import time

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

STEPS = 14


def dataset(batch, width, map_function=None, count=STEPS):
    values = tf.random.normal([batch * count, width]), tf.random.uniform([batch * count], 0, 10, tf.int32)
    data = tf.data.Dataset.from_tensor_slices(values)
    if map_function:
        data = data.map(map_function)
    return data.batch(batch, drop_remainder=True)


def sleeping_map(seconds):
    def make(value):
        time.sleep(seconds)
        return value

    def function(value, label):
        made = tf.numpy_function(make, [value], tf.float32)
        made.set_shape(value.shape)
        return made, label
    return function


def computing_map(value, label):
    """Operators of TensorFlow: they run on the threads on which the model's run, too."""
    matrix = tf.reshape(tf.tile(value, [64 * 10]), [640, 64])
    for _ in range(30):
        matrix = tf.tanh(tf.matmul(tf.matmul(matrix, matrix, transpose_b=True), matrix) / 4e4)
    return matrix[0], label


def model_of(*widths):
    hidden = [keras.layers.Dense(width, activation="relu") for width in widths]
    model = keras.Sequential([*hidden, keras.layers.Dense(10)])
    model.compile(optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def fit(folder, model, data, callbacks=()):
    board = keras.callbacks.TensorBoard(folder, profile_batch=(4, STEPS - 1), write_graph=False)
    model.fit(data, epochs=1, callbacks=[*callbacks, board], verbose=0)


class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.05)


def generator(folder):
    def samples():
        for index in range(STEPS * 8):
            time.sleep(0.008)
            yield tf.fill([64], float(index)), index % 10
    signature = tf.TensorSpec([64], tf.float32), tf.TensorSpec([], tf.int32)
    fit(folder, model_of(64), tf.data.Dataset.from_generator(samples, output_signature=signature).batch(8))


def own_loop(folder, step, inputs, between=lambda: None):
    step(inputs[0])
    tf.profiler.experimental.start(str(folder))
    for number, value in enumerate(inputs[1:]):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(value)
            between()
    tf.profiler.experimental.stop()


def loop(folder):
    weights = tf.Variable(tf.random.normal([64, 64]))

    @tf.function
    def step(value):
        weights.assign_sub(1e-3 * tf.tanh(tf.matmul(value, weights)))
    own_loop(folder, step, [tf.random.normal([64, 64])] * STEPS, lambda: time.sleep(0.04))


def retrace(folder, with_xla):
    weights = tf.Variable(tf.random.normal([64, 64]))

    @tf.function(jit_compile=with_xla)
    def step(value):
        for _ in range(4):
            value = tf.tanh(tf.matmul(value, weights))
        weights.assign_sub(1e-3 * tf.matmul(value, value, transpose_a=True))
    own_loop(folder, step, [tf.random.normal([8 + batch, 64]) for batch in range(STEPS)])


def small_operators(folder):
    """Operator by operator, without a graph."""
    weights = tf.Variable(tf.random.normal([4, 4]))

    def step(value):
        for _ in range(60):
            value = tf.tanh(tf.matmul(value, weights))
        weights.assign_sub(1e-3 * tf.matmul(value, value, transpose_a=True))
    own_loop(folder, step, [tf.random.normal([1, 4])] * STEPS)


CASES = {
    "products": lambda folder: fit(folder, model_of(1024, 1024, 1024), dataset(256, 1024)),
    "map": lambda folder: fit(folder, model_of(64), dataset(8, 64, computing_map)),
    "map_prefetch": lambda folder: fit(folder, model_of(64), dataset(8, 64, sleeping_map(0.008)).prefetch(2)),
    "generator": generator,
    "callback": lambda folder: fit(folder, model_of(64), dataset(8, 64), [Slow()]),
    "loop": loop,
    "retrace": lambda folder: retrace(folder, False),
    "recompile": lambda folder: retrace(folder, True),
    "small_operators": small_operators,
}

if __name__ == "__main__":
    keras.utils.set_random_seed(1)
    CASES[sys.argv[1]](pathlib.Path(sys.argv[2]))
