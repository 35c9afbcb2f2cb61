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

# Name, options of fit, and what else: compile's options, a dataset's stages, the number of examples, what is validated
# with (True: the same; "dataset": batches of three of it).
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
    ("class_weight of a dataset", WEIGHTS, {"loss": THREE, "dataset": "batch"}),
    ("class_weight and weighted_metrics", WEIGHTS, {"loss": THREE, "weighted_metrics": ["accuracy"],
                                                    "metrics": ["accuracy"]}),
    ("sample_weight of a dataset", {"sample_weight": True}, {
        "loss": THREE, "dataset": "batch", "weighted_metrics": ["accuracy"]}),
    ("sample_weight and an L2 of the kernel", {"sample_weight": True}, {
        "loss": THREE, "regularizers": {"kernel_regularizer": ("L2", {"l2": 0.1})}}),
    ("sample_weight and loss_weights", {"sample_weight": True}, {"loss_weights": [0.3]}),
    ("validation_data", {}, {"validation": True, "metrics": ["mae"]}),
    ("validation_data is a dataset", {}, {"validation": "dataset", "metrics": ["mae"]}),
    ("validation_data of a dataset is a dataset", {}, {"dataset": "batch", "validation": "dataset", "loss": THREE,
                                                       "metrics": ["accuracy"]}),
    ("validation_split beside an L1", {"validation_split": 0.3}, {
        "regularizers": {"kernel_regularizer": ("L1", {"l1": 0.1})}}),
    ("one batch of one example", {"batch_size": 1, "epochs": 1}, {"count": 3, "evaluate": 1}),
    ("run_eagerly", {}, {"run_eagerly": True, "metrics": ["mae"]}),
    ("steps_per_epoch of a repeated dataset with validation", {"steps_per_epoch": 2, "epochs": 3}, {
        "dataset": "batch, repeated", "validation": True}),
    ("bias's L1", {}, {"regularizers": {"bias_regularizer": ("L1", {"l1": 0.2})}}),
    ("L1L2 of a class", {}, {"regularizers": {"kernel_regularizer": ("L1L2", {})}}),
    ("L2 of a class", {}, {"regularizers": {"kernel_regularizer": ("L2", {})}}),
    ("mae", {}, {"loss": "mae", "metrics": ["mse", "cosine_similarity"]}),
    ("huber", {}, {"loss": "huber", "metrics": [("RootMeanSquaredError", {})]}),
    ("cosine_similarity", {}, {"loss": "cosine_similarity", "metrics": ["mae"]}),
    ("kl_divergence", {}, {"loss": "kl_divergence", "labels_of": "categorical_crossentropy", "metrics": ["accuracy"]}),
    ("smoothed labels", {}, {"loss": ("CategoricalCrossentropy", {"label_smoothing": 0.1}),
                             "labels_of": "categorical_crossentropy",
                             "metrics": ["categorical_accuracy", ("TopKCategoricalAccuracy", {"k": 2}),
                                         ("F1Score", {"average": "macro"})]}),
    ("metrics of class indices", {}, {"loss": THREE, "metrics": [
        "sparse_categorical_accuracy", ("SparseTopKCategoricalAccuracy", {"k": 2})]}),
    ("metrics of two classes", {}, {"loss": BINARY, "validation": True, "metrics": [
        "accuracy", ("AUC", {}), ("Precision", {}), ("Recall", {})]}),
    ("Adam", {}, {"optimizer": ("Adam", {"learning_rate": 0.1, "weight_decay": 0.1})}),
    ("AdamW", {}, {"optimizer": ("AdamW", {"learning_rate": 0.1, "clipnorm": 0.2})}),
    ("RMSprop", {}, {"optimizer": ("RMSprop", {"learning_rate": 0.1, "momentum": 0.5})}),
    ("Lion", {}, {"optimizer": ("Lion", {"learning_rate": 0.1})}),
    ("SGD and the norm of all gradients", {"sample_weight": True}, {
        "optimizer": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "global_clipnorm": 0.1})}),
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
           labels_of=None, optimizer=("SGD", {"learning_rate": 0.1}), metrics=None, **compiled):
    x, (y, activation) = drawn(count, 3), labelled(labels_of or loss, count)
    y, outputs = y.reshape(labels or y.shape), 3 if activation == "softmax" else y.shape[1]
    options = {name: numpy.abs(drawn(count)) if value is True else value for name, value in given.items()}
    if "sample_weight" in options:
        options["sample_weight"] = numpy.array(options["sample_weight"], numpy.float32)
    penalties = {name: object_of(keras.regularizers, value) for name, value in (regularizers or {}).items()}
    model = keras.Sequential([keras.Input((3,)), L.Dense(outputs, activation=activation, **penalties)])
    model.compile(optimizer=object_of(keras.optimizers, optimizer), loss=object_of(keras.losses, loss),
                  metrics=metrics and [object_of(keras.metrics, metric) for metric in metrics], **compiled)
    start = [drawn(3, outputs), drawn(outputs)]
    model.set_weights(start)
    slices = tf.data.Dataset.from_tensor_slices
    validated = {True: (x, y), "dataset": slices((x, y)).batch(3)}
    called = {"epochs": 2, "verbose": 0} | options | ({"validation_data": validated[validation]} if validation else {})
    if dataset:
        weights = [called.pop("sample_weight")] if "sample_weight" in called else []
        history = model.fit(DATASETS[dataset](slices((x, y, *weights))), **called)
    else:
        history = model.fit(x, y, **({"batch_size": 4, "shuffle": False} | called))
    return {"x": x, "y": y, "start": start, "activation": activation, "loss": named(loss), "compiled": compiled,
            "optimizer": named(optimizer), "metrics": metrics and [named(metric) for metric in metrics],
            "regularizers": {name: named(value) for name, value in (regularizers or {}).items()}, "options": options,
            "dataset": dataset, "validation": validation, "history": history.history,
            "epochs": [epoch + 1 for epoch in history.epoch], "after": model.get_weights(), "evaluate": evaluate,
            "evaluated": model.evaluate(x, y, batch_size=evaluate, verbose=0, return_dict=True),
            "predicted": model.predict(x, batch_size=evaluate, verbose=0)}


def batches(loss, metrics):
    """What train_on_batch, test_on_batch and predict_on_batch give, for batches of different sizes. Keras' figures
    are the means since the last reset, which is in front of each call here."""
    y, activation = labelled(loss, 9)
    x, outputs = drawn(9, 3), 3 if activation == "softmax" else y.shape[1]
    model = keras.Sequential([keras.Input((3,)), L.Dense(outputs, activation=activation)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss=loss, metrics=metrics)
    start = [drawn(3, outputs), drawn(outputs)]
    model.set_weights(start)
    trained, tested = [], []
    for part in (slice(0, 4), slice(4, 6), slice(6, 9)):
        model.reset_metrics()
        trained.append(model.train_on_batch(x[part], y[part], return_dict=True))
        model.reset_metrics()
        tested.append(model.test_on_batch(x[part], y[part], return_dict=True))
    return {"x": x, "y": y, "loss": loss, "metrics": metrics, "activation": activation, "start": start,
            "trained": trained, "tested": tested, "predicted": model.predict_on_batch(x), "after": model.get_weights()}


NAN, BEST = float("nan"), {"restore_best_weights": True}
SLOW, FLAT = [5, 4.5, 4, 3.5, 2.9], [5] * 10
# Class, options, the loss of each epoch, and what tells cases of the same options apart.
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
    ("EarlyStopping", {"patience": 2} | BEST, [NAN, 4, 3, 5, NAN, 2], "not a number first"),
    ("EarlyStopping", BEST, [5, 4, 4.5, 3]),
    ("EarlyStopping", {"patience": 1, "min_delta": -0.5}, [5, 4.7, 4.1, 3.8]),
    ("EarlyStopping", {"start_from_epoch": 9} | BEST, [3, 4, 5]),
    ("EarlyStopping", {"monitor": "loss", "mode": "max", "min_delta": 0.5, "patience": 1}, [1, 1.5, 2.25, 2.5, 9]),
    ("EarlyStopping", {"monitor": "val_loss", "patience": 2, "start_from_epoch": 1}, [1, 5, 5, 5, 5]),
    ("EarlyStopping", {"patience": 3, "baseline": 3.0}, SLOW),
    ("ReduceLROnPlateau", {"monitor": "loss", "patience": 2, "cooldown": 2, "factor": 0.5, "min_lr": 0.2}, FLAT),
    ("ReduceLROnPlateau", {"monitor": "loss", "patience": 1, "min_delta": 0.1}, [5, 4.96, 4.92, 4.88, 4.84, 4.8, 4.76]),
    ("ReduceLROnPlateau", {"monitor": "loss", "patience": 1, "mode": "max", "factor": 0.25}, [1, 2, 1.5, 1.2, 3]),
    ("ReduceLROnPlateau", {}, [5] * 12),
    ("ReduceLROnPlateau", {"patience": 1, "cooldown": 1, "factor": 0.5}, [5, 6, 6, 6, 4, 4, 4]),
    ("ReduceLROnPlateau", {"patience": 2, "factor": 0.5, "min_lr": 0.3, "min_delta": 0.5},
     [5, 4.6, 4.4, 4.2, 4, 3.8, 3]),
    ("ReduceLROnPlateau", {"monitor": "loss", "patience": 1, "factor": 0.5}, [5, NAN, 6, NAN, 4, 4]),
    ("LearningRateScheduler", {"factors": [1.0, 0.5, 0.5, 2.0]}, [5, 4, 3, 2]),
    ("LearningRateScheduler", {"factors": [0.0, 1.0, 1.0]}, [5, 4, 3]),
    ("ModelCheckpoint", {"file": "{epoch}"}, [5, 4, 4.5]),
    ("ModelCheckpoint", {"file": "{epoch:02d}-{val_loss:.2f}"}, [5, 4, 4.5]),
    ("ModelCheckpoint", {"file": "{epoch:03d}-{loss:.3e}", "save_best_only": True, "monitor": "loss"},
     [5, 4, 4.5, 0.25]),
    ("ModelCheckpoint", {"file": "loss{loss:08.3f}-{epoch:d}", "save_best_only": True}, [NAN, 4, NAN, 3]),
    ("ModelCheckpoint", {"file": "{epoch:d}"}, [5, 4, 4.5]),
    ("ModelCheckpoint", {"file": "{epoch:d}", "save_best_only": True}, [5, 4, 4.5, 3, 3]),
    ("ModelCheckpoint", {"file": "{epoch:d}", "save_best_only": True, "monitor": "loss", "mode": "max"},
     [5, 4, 6, 3, 7]),
    ("TerminateOnNaN", {}, [5, 4, NAN, 3]),
    ("TerminateOnNaN", {}, [5, math.inf, 3], "infinity"),
    ("CSVLogger", {"separator": ";"}, [5, 4, 3]),
    ("CSVLogger", {}, [5, 4, 0.001]),
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
        rows = list(csv.DictReader(open(folder / "log.csv"), delimiter=options.get("separator", ",")))
        columns = {name: [float(row[name]) + (name == "epoch") for row in rows] for name in rows[0]}
    return {"class": kind, "options": options, "x": x, "y": y, "activation": activation, "loss": loss, "rate": rate,
            "metrics": [named(metric) for metric in metrics], "weights": weights, "history": history.history,
            "saved": [epoch for epoch in range(1, 9) if (folder / f"{epoch}.weights.h5").exists()],
            "names": sorted(path.name.removesuffix(".weights.h5") for path in folder.glob("*.weights.h5")),
            "columns": columns, "final": [values.ravel()[0] for values in model.get_weights()] if rate == 0 else None}


# Figures of two classes for which larger is better, and those of a metric's name.
POINTS = numpy.linspace(-1, 1, 8).reshape(-1, 1)
MONITORS = [("val_auc", ("AUC", {})), ("val_precision", ("Precision", {})), ("val_recall", ("Recall", {})),
            ("val_binary_accuracy", "binary_accuracy")]
WATCHING = [("EarlyStopping", {"patience": 2} | BEST), ("ReduceLROnPlateau", {"patience": 1, "factor": 0.5}),
            ("ModelCheckpoint", {"file": "{epoch:d}", "save_best_only": True})]
EPOCHS = [(-1.0, 0.0), (-0.5, -2.0), (0.1, 0.0), (1.0, -0.3), (1.0, 3.0), (0.2, -0.5), (-1.0, -1.0)]


def order(names, **options):
    """What fit calls of callbacks with these names. Epochs and batches count from 1 in gpubench."""
    log = []

    class Log(keras.callbacks.Callback):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def add(self, event): log.append(self.name + event)
        def on_train_begin(self, logs=None): self.add("train_begin")
        def on_epoch_begin(self, epoch, logs=None): self.add(f"epoch_begin {epoch + 1}")
        def on_train_batch_begin(self, batch, logs=None): self.add(f"train_batch_begin {batch + 1}")
        def on_train_batch_end(self, batch, logs=None): self.add(f"train_batch_end {batch + 1}")
        def on_epoch_end(self, epoch, logs=None): self.add(f"epoch_end {epoch + 1} " + ",".join(sorted(logs)))
        def on_train_end(self, logs=None): self.add("train_end")

    model = keras.Sequential([keras.Input((1,)), L.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    x, options = numpy.ones((5, 1)), {"batch_size": 2, "epochs": 2} | options
    model.fit(x, x, verbose=0, validation_data=(x, x), callbacks=[Log(name) for name in names], **options)
    return {"names": names, "options": options, "log": log}


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


def residual():
    x = keras.Input((4, 4, 2))
    first = L.Conv2D(3, 3, padding="same", use_bias=False, name="first")(x)
    first = L.ReLU()(L.BatchNormalization(momentum=0.8, name="norm")(first))
    joined = L.Add()([first, L.Conv2D(3, 1, name="side")(x)])
    return keras.Model(x, L.Dense(3, activation="softmax", name="last")(L.GlobalAveragePooling2D()(joined)))


def autoencoder():
    return keras.Sequential([
        keras.Input((6, 6, 2)), L.DepthwiseConv2D(3, padding="same", activation="relu", name="each"), L.MaxPooling2D(2),
        L.SeparableConv2D(3, 2, name="pair"), L.ZeroPadding2D(((1, 0), (0, 1))),
        L.Conv2DTranspose(2, 3, strides=2, padding="same", name="larger"), L.LeakyReLU(),
        L.UpSampling2D((2, 1), interpolation="bilinear"), L.AveragePooling2D((2, 1)), L.Conv2D(2, 1, name="last")])


def transformer():
    x = keras.Input((4,), dtype="int32")
    words = L.Embedding(5, 4, name="words")(x)
    before = L.LayerNormalization(name="before")(words)
    attended = L.Add()([words, L.MultiHeadAttention(2, 2, name="attention")(before, before, use_causal_mask=True)])
    wide = L.Dense(6, activation="gelu", name="wide")(L.RMSNormalization(name="behind")(attended))
    return keras.Model(x, L.Dense(5, activation="softmax", name="last")(
        L.Add()([attended, L.Dense(4, name="narrow")(wide)])))


def wrapped():
    return keras.Sequential([
        keras.Input((4, 3)), L.Conv1D(3, 2, padding="causal", activation="tanh", name="first"),
        L.Bidirectional(L.LSTM(2, return_sequences=True), name="both"), L.TimeDistributed(L.Dense(2), name="steps"),
        L.Bidirectional(L.GRU(2), merge_mode="sum", name="end"), L.Dense(1, name="last")])


def penalized():
    weights, some = keras.regularizers.L1L2(0.02, 0.1), keras.regularizers.L1(0.05)
    return keras.Sequential([
        keras.Input((4,), dtype="int32"), L.Embedding(5, 3, embeddings_regularizer=weights, name="words"),
        L.LSTM(2, recurrent_regularizer=some, bias_regularizer=weights, return_sequences=True, name="lstm"),
        L.LayerNormalization(gamma_regularizer=some, name="norm"),
        L.Conv1D(2, 2, kernel_regularizer=weights, name="pairs"), L.GlobalMaxPooling1D(), L.Dense(1, name="last")])


def attended():
    x, y = keras.Input((3, 2)), keras.Input((4, 2))
    shared = L.GroupQueryAttention(2, 4, 2, name="shared")
    joined = L.Concatenate()([shared(x, y), x])
    return keras.Model([x, y], L.Dense(1, name="last")(L.GlobalAveragePooling1D()(joined)))


TOKENS = numpy.array([[3, 1, 0, 0], [2, 0, 0, 0], [4, 1, 2, 3], [1, 1, 4, 0]])
LOSSES = {"points": "mse", "last": THREE}
# Name, model, inputs and labels (shapes are drawn), loss, metrics, factors of the losses.
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
    ("weights of two losses", operators, [(6, 3), (6, 3)], [(6, 2), numpy.array([0, 1, 2, 2, 1, 0])], LOSSES,
     {"points": ["mae"]}, {"points": 0.3, "last": 2.0}),
    ("residual convolutions with batch normalization", residual, [(4, 4, 4, 2)], [numpy.array([0, 2, 1, 1])], THREE,
     ["accuracy"]),
    ("convolutions that shrink and grow images", autoencoder, [(2, 6, 6, 2)], [(2, 6, 6, 2)], "mae", ["mse"]),
    ("a transformer's block", transformer, [TOKENS], [TOKENS[:, ::-1].copy()], THREE, ["accuracy"]),
    ("layers around layers", wrapped, [(4, 4, 3)], [(4, 1)], "mse", None),
    ("penalties of layers of sequences", penalized, [TOKENS], [(4, 1)], "mse", None),
    ("attention to another input", attended, [(4, 3, 2), (4, 4, 2)], [(4, 1)], "huber", ["mae"]),
    ("tokens as masks of Bidirectional", lambda: tokens(
        L.Bidirectional(L.LSTM(2), name="both"), L.Dense(1, name="last")), [TOKENS], [(4, 1)], "mse", None),
    ("tokens as masks of pooling", lambda: tokens(L.GlobalAveragePooling1D(), L.Dense(1, name="last")),
     [TOKENS], [(4, 1)], "mse", None),
]


def model_of(build, inputs, labels, loss, metrics, loss_weights=None):
    inputs, labels = ([drawn(*values) if isinstance(values, tuple) else values for values in side]
                      for side in (inputs, labels))
    model = build()
    start = [drawn(*weight.shape) for weight in model.weights]
    start = [numpy.abs(values) if "variance" in weight.path else values for values, weight in zip(start, model.weights)]
    model.set_weights(start)
    x, y = (side[0] if len(side) == 1 else side for side in (inputs, labels))
    predicted = model.predict(x, verbose=0)
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss=loss, metrics=metrics, loss_weights=loss_weights)
    history = model.fit(x, y, batch_size=len(inputs[0]), epochs=2, shuffle=False, verbose=0).history
    paths = [[part for part in weight.path.split("/") if not part.startswith("sequential")] for weight in model.weights]
    return {"inputs": inputs, "labels": labels, "loss": loss, "metrics": metrics, "loss_weights": loss_weights,
            "layers": [path[0] for path in paths],
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
    "power": lambda x: x ** 3, "erf": tf.math.erf, "log_softmax": tf.nn.log_softmax,
    "approximate gelu": lambda x: tf.nn.gelu(x, approximate=True), "rsqrt": lambda x: tf.math.rsqrt(tf.square(x) + 1),
    "variance": lambda x: x * tf.math.reduce_variance(x, -1, True),
    "std": lambda x: x * tf.math.reduce_std(x, -1, True), "mean": lambda x: x * tf.reduce_mean(tf.square(x), -1, True),
    "max": lambda x: x * tf.reduce_max(x, -1, True), "cumsum": lambda x: tf.square(tf.cumsum(x, 1)),
    "matmul": lambda x: x @ tf.transpose(x), "where": lambda x: tf.where(x > 0, x ** 3, tf.square(x)),
    "clip": lambda x: tf.square(tf.clip_by_value(x, -0.5, 0.5)), "abs": lambda x: x * tf.abs(x),
    "concat": lambda x: tf.square(tf.concat([x, 2 * x], -1))[:, 1:4],
    "gather": lambda x: tf.square(tf.gather(x, [2, 0, 2], axis=1)), "exponent": lambda x: 2.0 ** x,
    "minimum": lambda x: tf.minimum(x, tf.square(x)), "normalization": keras.layers.LayerNormalization(),
}


def assigned():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(10.0)
    return [tape.gradient(y, v)]


def updated_in_between():
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        first, second = a * b * b, a * a * b
    found = tape.gradient(first, b)
    b.assign(100.0)
    return [found, tape.gradient(second, a)]


def of_constants():
    v, w = tf.Variable([0.3, 1.7]), tf.Variable([2.0, 5.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.round(v) * w)
    return tape.gradient(y, [v, w])


def of_nothing():
    v, w = tf.Variable([0.3, 1.7]), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    return tape.gradient(y, [w, v])


def assigned_before():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        v.assign(10.0)
        y = v * v
    return [tape.gradient(y, v)]


# What tapes give around variables that change, and of what nothing depends on.
TAPES = {"a variable that is assigned after it was read": assigned,
         "an update between two gradients of one tape": updated_in_between,
         "a variable that is assigned before it is read": assigned_before,
         "rounded numbers are constant": of_constants, "a variable that is not read": of_nothing}


def main():
    for name, options, more in FITS:
        case("fits", name, fitted, options, **more)
    for kind, options, figures, *note in CALLBACKS:
        case("callbacks", titled(kind, options, *note), scheduled, kind, options, figures)
    for kind, more in WATCHING:
        for monitor, metric in MONITORS:
            options = {"monitor": monitor} | more
            case("callbacks", titled(kind, options), scheduled, kind, options, EPOCHS, POINTS, POINTS > 0, "sigmoid",
                 BINARY, [metric])
    for loss, metrics in (("mse", ["mae"]), (THREE, ["accuracy"]), (BINARY, ["accuracy"])):
        case("batches", f"batches of {loss}", batches, loss, metrics)
    case("orders", "order of calls", order, [""])
    case("orders", "order of two callbacks' calls", order, ["A ", "B "])
    case("orders", "order of calls from another epoch", order, [""], initial_epoch=1, epochs=3, batch_size=8)
    for name, *arguments in MODELS:
        case("models", name, model_of, *arguments)
    for name, function in FUNCTIONS.items():
        case("second_order", f"second order, {name}", lambda: {"op": name} | gradient_of_gradient(function))
    for name, function in TAPES.items():
        case("tapes", name, lambda: {"gradients": [
            False if gradient is None else gradient.numpy() for gradient in function()]})
    write(__file__)


if __name__ == "__main__":
    main()
