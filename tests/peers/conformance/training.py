"""Training: fit with weights, regularizers, parts of epochs and datasets; callbacks whose figures are set epoch by
epoch; models of layers with masks, frozen statistics and functions; gradients of gradients."""

import csv
import math
import pathlib
import tempfile

from values import case, drawn, keras, numpy, tf, titled, write

L = keras.layers
DATASETS = {"batch": lambda d: d.batch(4), "batch, repeated": lambda d: d.batch(4).repeat(),
            "repeated, batch": lambda d: d.repeat().batch(4)}
THREE, BINARY = "sparse_categorical_crossentropy", "binary_crossentropy"
WEIGHTS = {"class_weight": {0: 2.0, 1: 0.5, 2: 3.0}}

# Name, options of fit, and what else: compile's options, a dataset's stages, the number of examples.
FITS = [
    ("partial last batch, evaluation in others", {}, {"metrics": ["mae", "mse"], "evaluate": 3}),
    ("validation_split", {"validation_split": 0.3}, {"metrics": ["mae"]}),
    ("validation_split of a number that does not divide", {"validation_split": 0.25}, {"count": 11}),
    ("initial_epoch", {"initial_epoch": 2, "epochs": 5}, {}),
    ("initial_epoch at the end", {"initial_epoch": 3, "epochs": 3}, {}),
    ("batch larger than the data", {"batch_size": 64}, {}),
    ("loss_weights", {}, {"loss_weights": [0.3]}),
    ("steps_per_epoch of tensors", {"steps_per_epoch": 2, "epochs": 3}, {}),
    ("steps_per_epoch of a dataset", {"steps_per_epoch": 2, "epochs": 3}, {"dataset": "batch"}),
    ("steps_per_epoch of a repeated dataset", {"steps_per_epoch": 2, "epochs": 3}, {"dataset": "batch, repeated"}),
    ("steps_per_epoch of repeated examples", {"steps_per_epoch": 3}, {"dataset": "repeated, batch"}),
    ("steps_per_epoch beyond the dataset's end", {"steps_per_epoch": 5, "epochs": 3}, {"dataset": "batch"}),
    ("dataset", {}, {"dataset": "batch"}),
    ("L2", {}, {"regularizers": {"kernel_regularizer": ("L2", {"l2": 0.1})}}),
    ("L1 of a class", {}, {"regularizers": {"kernel_regularizer": ("L1", {})}, "loss": THREE}),
    ("L1L2 and the bias's L2", {}, {"regularizers": {"kernel_regularizer": ("L1L2", {"l1": 0.02, "l2": 0.1}),
                                                     "bias_regularizer": ("L2", {"l2": 0.3})}, "loss": THREE}),
    ("sample_weight", {"sample_weight": True}, {"loss": THREE, "weighted_metrics": ["accuracy"]}),
    ("sample_weight and the sum of a batch", {"sample_weight": True},
     {"loss": ("MeanSquaredError", {"reduction": "sum"}), "metrics": ["mae"], "weighted_metrics": ["mae"]}),
    ("sample_weight of 0 in one batch", {"sample_weight": [0, 0, 0, 0, 1, 2, 1, 0.5, 3]}, {"loss": THREE, "count": 9}),
    ("sample_weight of 0", {"sample_weight": [0] * 9}, {"loss": THREE, "count": 9}),
    ("sample_weight and validation_split", {"sample_weight": True, "validation_split": 0.3}, {"loss": THREE}),
    ("class_weight", WEIGHTS, {"loss": THREE, "metrics": ["accuracy"]}),
    ("class_weight without a class", {"class_weight": {0: 2.0, 2: 0.5}}, {"loss": THREE, "count": 9}),
    ("class_weight of one-hot labels", WEIGHTS, {"loss": "categorical_crossentropy"}),
    ("class_weight of labels [batch, 1]", WEIGHTS, {"loss": THREE, "labels": (10, 1)}),
    ("class_weight and validation_data", WEIGHTS, {"loss": THREE, "validation": True}),
    ("class_weight of two classes", {"class_weight": {0: 1.0, 1: 4.0}}, {"loss": BINARY}),
]


def object_of(module, pair):
    return getattr(module, pair[0])(**pair[1]) if isinstance(pair, tuple) else pair


def named(pair):
    return {"class": pair[0], "options": pair[1]} if isinstance(pair, tuple) else pair


def labelled(loss, count):
    """Labels and the activation of the outputs."""
    kinds = numpy.arange(count) * 2 % 3
    if loss == BINARY:
        return (kinds > 0).astype(numpy.float32).reshape(-1, 1), "sigmoid"
    if loss == THREE:
        return kinds, "softmax"
    if loss == "categorical_crossentropy":
        return numpy.eye(3, dtype=numpy.float32)[kinds], "softmax"
    return drawn(count, 2), None


def fitted(given, count=10, loss="mse", dataset=None, validation=None, evaluate=4, regularizers=None, labels=None,
           **compiled):
    x, (y, activation) = drawn(count, 3), labelled(loss, count)
    y, outputs = y.reshape(labels or y.shape), 3 if activation == "softmax" else y.shape[1]
    options = {name: numpy.abs(drawn(count)) if value is True else value for name, value in given.items()}
    if "sample_weight" in options:
        options["sample_weight"] = numpy.array(options["sample_weight"], numpy.float32)
    penalties = {name: object_of(keras.regularizers, value) for name, value in (regularizers or {}).items()}
    model = keras.Sequential([keras.Input((3,)), L.Dense(outputs, activation=activation, **penalties)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss=object_of(keras.losses, loss), **compiled)
    start = [drawn(3, outputs), drawn(outputs)]
    model.set_weights(start)
    called = {"epochs": 2, "verbose": 0} | options | ({"validation_data": (x, y)} if validation else {})
    if dataset:
        history = model.fit(DATASETS[dataset](tf.data.Dataset.from_tensor_slices((x, y))), **called)
    else:
        history = model.fit(x, y, **({"batch_size": 4, "shuffle": False} | called))
    return {"x": x, "y": y, "start": start, "activation": activation, "loss": named(loss), "compiled": compiled,
            "regularizers": {name: named(value) for name, value in (regularizers or {}).items()}, "options": options,
            "dataset": dataset, "validation": validation, "history": history.history,
            "epochs": [epoch + 1 for epoch in history.epoch], "after": model.get_weights(), "evaluate": evaluate,
            "evaluated": model.evaluate(x, y, batch_size=evaluate, verbose=0, return_dict=True)}


NAN, BEST = float("nan"), {"restore_best_weights": True}
SLOW, FLAT = [5, 4.5, 4, 3.5, 2.9], [5] * 10
# Class, options, the loss of each epoch.
CALLBACKS = [
    ("EarlyStopping", {}, [5, 4, 4.5, 3, 2]),
    ("EarlyStopping", {"patience": 2} | BEST, [5, 3, 4, 3.5, 1, 1]),
    ("EarlyStopping", {"min_delta": 0.5, "patience": 2}, [5, 4.7, 4.6, 4.1, 3.9, 3.8]),
    ("EarlyStopping", {"min_delta": 0.5, "patience": 1}, [5, 4.5, 4.0, 3.5, 3.5, 3.5]),
    ("EarlyStopping", {"start_from_epoch": 3, "patience": 1}, [1, 2, 3, 4, 5, 6, 7]),
    ("EarlyStopping", {"start_from_epoch": 2, "patience": 2} | BEST, [1, 2, 9, 8, 8.5, 8.7, 3]),
    ("EarlyStopping", {"patience": 10} | BEST, [5, 3, 4, 3.5]),
    ("EarlyStopping", {"monitor": "loss", "mode": "max", "patience": 1}, [1, 2, 1.5, 1.2]),
    ("EarlyStopping", {"patience": 2, "mode": "min"}, [5, NAN, 4, 3, 5, 6]),
    ("EarlyStopping", {"patience": 1}, [NAN, NAN, NAN]),
    ("ReduceLROnPlateau", {"monitor": "loss", "patience": 2, "cooldown": 2, "factor": 0.5, "min_lr": 0.2}, FLAT),
    ("ReduceLROnPlateau", {"monitor": "loss", "patience": 1, "min_delta": 0.1}, [5, 4.96, 4.92, 4.88, 4.84, 4.8, 4.76]),
    ("ReduceLROnPlateau", {"monitor": "loss", "patience": 1, "mode": "max", "factor": 0.25}, [1, 2, 1.5, 1.2, 3]),
    ("LearningRateScheduler", {"factors": [1.0, 0.5, 0.5, 2.0]}, [5, 4, 3, 2]),
    ("ModelCheckpoint", {"file": "{epoch}"}, [5, 4, 4.5]),
    ("ModelCheckpoint", {"file": "{epoch:d}"}, [5, 4, 4.5]),
    ("ModelCheckpoint", {"file": "{epoch:d}", "save_best_only": True}, [5, 4, 4.5, 3, 3]),
    ("ModelCheckpoint", {"file": "{epoch:d}", "save_best_only": True, "monitor": "loss", "mode": "max"},
     [5, 4, 6, 3, 7]),
    ("TerminateOnNaN", {}, [5, 4, NAN, 3]),
    ("CSVLogger", {"separator": ";"}, [5, 4, 3]),
]


def scheduled(kind, options, figures, x=numpy.ones((2, 1)), y=numpy.zeros((2, 1)), activation=None, loss="mse",
              metrics=()):
    """`figures`: losses, which are the squares of a weight, or kernels and biases of the epochs."""
    weights = [(math.sqrt(figure), 0.0) if numpy.isscalar(figure) else figure for figure in figures]
    x, y = x.astype(numpy.float32), y.astype(numpy.float32)
    rate = 1.0 if "Rate" in kind or "LR" in kind else 0.0
    model = keras.Sequential([keras.Input((1,)), L.Dense(1, activation=activation)])
    model.compile(keras.optimizers.SGD(rate), loss, metrics=[object_of(keras.metrics, metric) for metric in metrics])
    folder = pathlib.Path(tempfile.mkdtemp())
    keywords = {name: value for name, value in options.items() if name != "file"}
    files = [folder / "log.csv"] if kind == "CSVLogger" else []
    if kind == "ModelCheckpoint":
        files, keywords = [folder / (options["file"] + ".weights.h5")], keywords | {"save_weights_only": True}
    if kind == "LearningRateScheduler":
        made = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * options["factors"][epoch])
    else:
        made = getattr(keras.callbacks, kind)(*files, **keywords)

    class Set(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            model.set_weights([numpy.array([[weights[epoch][0]]]), numpy.array([weights[epoch][1]])])

    history = model.fit(x, y, batch_size=len(x), epochs=len(figures), verbose=0, validation_data=(x, y),
                        callbacks=[Set(), made])
    columns = None
    if kind == "CSVLogger":
        rows = list(csv.DictReader(open(folder / "log.csv"), delimiter=options["separator"]))
        columns = {name: [float(row[name]) + (name == "epoch") for row in rows] for name in rows[0]}
    return {"class": kind, "options": options, "x": x, "y": y, "activation": activation, "loss": loss, "rate": rate,
            "metrics": [named(metric) for metric in metrics], "weights": weights, "history": history.history,
            "saved": [epoch for epoch in range(1, 9) if (folder / f"{epoch}.weights.h5").exists()],
            "columns": columns, "final": [values.ravel()[0] for values in model.get_weights()] if rate == 0 else None}


# Figures of two classes for which larger is better, and those of a metric's name.
POINTS = numpy.linspace(-1, 1, 8).reshape(-1, 1)
MONITORS = [("val_auc", ("AUC", {})), ("val_precision", ("Precision", {})), ("val_recall", ("Recall", {})),
            ("val_binary_accuracy", "binary_accuracy")]
EPOCHS = [(-1.0, 0.0), (-0.5, -2.0), (0.1, 0.0), (1.0, -0.3), (1.0, 3.0), (0.2, -0.5), (-1.0, -1.0)]


def order():
    """What fit calls. Epochs and batches count from 1 in gpubench."""
    log = []

    class Log(keras.callbacks.Callback):
        def on_train_begin(self, logs=None): log.append("train_begin")
        def on_epoch_begin(self, epoch, logs=None): log.append(f"epoch_begin {epoch + 1}")
        def on_train_batch_begin(self, batch, logs=None): log.append(f"train_batch_begin {batch + 1}")
        def on_train_batch_end(self, batch, logs=None): log.append(f"train_batch_end {batch + 1}")
        def on_epoch_end(self, epoch, logs=None): log.append(f"epoch_end {epoch + 1} " + ",".join(sorted(logs)))
        def on_train_end(self, logs=None): log.append("train_end")

    model = keras.Sequential([keras.Input((1,)), L.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    x = numpy.ones((5, 1))
    model.fit(x, x, batch_size=2, epochs=2, verbose=0, validation_data=(x, x), callbacks=[Log()])
    return {"log": log}


class Scaled(L.Layer):
    def build(self, shape):
        self.scale = self.add_weight(name="scale", shape=(shape[-1],), initializer="ones")

    def call(self, x):
        return x * self.scale


def operators():
    a, b = keras.Input((3,)), keras.Input((3,))
    shared = L.Dense(4, name="shared", activation=lambda x: tf.maximum(x, 0.1 * x))
    first, second = shared(a), shared(b)
    joined = keras.ops.concatenate([first * 2 - second, keras.ops.mean(first, axis=-1, keepdims=True)], axis=-1)
    scaled = Scaled(name="scaled")(joined)
    return keras.Model([a, b], [L.Dense(2, name="points")(L.Lambda(lambda x: x / (1 + keras.ops.abs(x)))(scaled)),
                                L.Dense(3, name="last", activation="softmax")(-scaled)])


def tokens(*layers):
    words = L.Embedding(5, 3, mask_zero=True, name="words")
    return keras.Sequential([keras.Input((4,), dtype="int32"), words, *layers])


def resized():
    return keras.Sequential([
        keras.Input((4, 3, 1)), L.Conv2D(2, 3, padding="same", name="first"),
        L.Lambda(lambda x: keras.ops.image.resize(x, (7, 5))), L.Conv2D(1, 1, name="last")])


TOKENS = numpy.array([[3, 1, 0, 0], [2, 0, 0, 0], [4, 1, 2, 3], [1, 1, 4, 0]])
LOSSES = {"points": "mse", "last": THREE}
# Name, model, inputs and labels (shapes are drawn), loss, metrics.
MODELS = [
    ("operators on symbols, a shared layer, functions, a custom layer, two outputs", operators, [(6, 3), (6, 3)],
     [(6, 2), numpy.array([0, 1, 2, 2, 1, 0])], LOSSES, {"last": ["accuracy"]}),
    ("frozen batch normalization infers in training", lambda: keras.Sequential([
        keras.Input((3,)), L.BatchNormalization(trainable=False, momentum=0.5, name="norm"), L.Dense(1, name="last")]),
     [(6, 3)], [(6, 1)], "mse", None),
    ("tokens as masks of LSTM and GRU", lambda: tokens(
        L.LSTM(2, return_sequences=True, name="lstm"), L.GRU(2, name="gru"), L.Dense(1, name="last")),
     [TOKENS], [(4, 1)], "mse", None),
    ("masks in the loss of sequences", lambda: tokens(
        L.LSTM(2, return_sequences=True, name="lstm"), L.Dense(1, name="last")),
     [TOKENS], [(4, 4, 1)], "mse", None),
    ("resized images between convolutions", resized, [(2, 4, 3, 1)], [(2, 7, 5, 1)], "mse", None),
]


def model_of(build, inputs, labels, loss, metrics):
    inputs, labels = ([drawn(*values) if isinstance(values, tuple) else values for values in side]
                      for side in (inputs, labels))
    model = build()
    start = [drawn(*weight.shape) for weight in model.weights]
    start = [numpy.abs(values) if "variance" in weight.path else values for values, weight in zip(start, model.weights)]
    model.set_weights(start)
    x, y = (side[0] if len(side) == 1 else side for side in (inputs, labels))
    predicted = model.predict(x, verbose=0)
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss=loss, metrics=metrics)
    history = model.fit(x, y, batch_size=len(inputs[0]), epochs=2, shuffle=False, verbose=0).history
    paths = [[part for part in weight.path.split("/") if not part.startswith("sequential")] for weight in model.weights]
    return {"inputs": inputs, "labels": labels, "loss": loss, "metrics": metrics,
            "names": [f"{path[0]}/{path[-1]}" for path in paths],
            "start": start, "predicted": predicted if len(labels) > 1 else [predicted],
            "history": history, "after": model.get_weights(), "parameters": model.count_params()}


def gradient_of_gradient(function):
    """Of the sum of squares of d function(v a) b / d v, by a and by b."""
    v, a, b = (tf.Variable(drawn(*shape)) for shape in ((3, 2), (2, 3), (3, 1)))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            total = tf.reduce_sum(function(v @ a) @ b)
        penalty = tf.reduce_sum(tf.square(inner.gradient(total, v)))
    found = outer.gradient(penalty, [a, b])
    return {"v": v.numpy(), "a": a.numpy(), "b": b.numpy(),
            "gradients": [False if gradient is None else gradient.numpy() for gradient in found]}


FUNCTIONS = {
    "linear": lambda x: x, "relu": tf.nn.relu, "tanh": tf.tanh, "sigmoid": tf.sigmoid, "gelu": keras.activations.gelu,
    "silu": tf.nn.silu, "softmax": tf.nn.softmax, "exp": tf.exp, "square": tf.square,
    "maximum": lambda x: tf.maximum(x, 0.2 * x), "sqrt": lambda x: tf.sqrt(tf.square(x) + 1),
    "log": lambda x: tf.math.log(tf.square(x) + 1), "division": lambda x: x / (tf.square(x) + 1),
    "power": lambda x: x ** 3,
}


def main():
    for name, options, more in FITS:
        case("fits", name, fitted, options, **more)
    for kind, options, figures in CALLBACKS:
        case("callbacks", titled(kind, options), scheduled, kind, options, figures)
    for monitor, metric in MONITORS:
        options = {"monitor": monitor, "patience": 2} | BEST
        case("callbacks", titled("EarlyStopping", options), scheduled, "EarlyStopping", options, EPOCHS, POINTS,
             POINTS > 0, "sigmoid", BINARY, [metric])
    case("orders", "order of calls", order)
    for name, *arguments in MODELS:
        case("models", name, model_of, *arguments)
    for name, function in FUNCTIONS.items():
        case("second_order", f"second order, {name}", lambda: {"op": name} | gradient_of_gradient(function))
    write(__file__)


if __name__ == "__main__":
    main()
