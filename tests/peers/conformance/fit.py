"""fit, evaluate and predict: when is validated and with how many batches, the calls of callbacks around all three,
callbacks whose figure is not there after each epoch, steps of training that a script writes, and what TensorBoard
writes."""

import math
import pathlib
import tempfile

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from values import case, drawn, keras, numpy, tf, titled, write

L, slices = keras.layers, tf.data.Dataset.from_tensor_slices

# Name, options of fit, options of evaluate and predict, the stages behind batches of three of what is validated and
# evaluated with ("": tensors).
PASSES = [
    ("validation_freq", {"validation_freq": 2, "epochs": 5}, {}, ""),
    ("validation_freq of 1", {"validation_freq": 1, "epochs": 2}, {}, ""),
    ("validation_freq of epochs", {"validation_freq": [1, 4], "epochs": 5}, {}, ""),
    ("validation_freq beyond the last epoch", {"validation_freq": 7, "epochs": 3}, {}, ""),
    ("validation_freq from another epoch", {"validation_freq": 2, "initial_epoch": 1, "epochs": 4}, {}, ""),
    ("validation_steps", {"validation_steps": 2}, {}, "batch"),
    ("validation_steps of a repeated dataset", {"validation_steps": 5}, {"steps": 5}, "repeated"),
    ("validation_steps and validation_freq", {"validation_steps": 1, "validation_freq": 2}, {}, "batch"),
    ("validation_batch_size", {"validation_batch_size": 4}, {}, ""),
    ("steps of evaluate and predict", {}, {"steps": 2}, "batch"),
    ("steps of evaluate and predict of tensors", {}, {"steps": 2, "batch_size": 4}, ""),
    ("steps beyond the data", {}, {"steps": 9}, "batch"),
]


def passed(options, evaluated, stages):
    x, y = drawn(10, 3), drawn(10, 2)
    model = keras.Sequential([keras.Input((3,)), L.Dense(2)])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    start = [drawn(3, 2), drawn(2)]
    model.set_weights(start)
    batched = slices((x, y)).batch(3)
    data = {"": (x, y), "batch": (batched,), "repeated": (batched.repeat(),)}[stages]
    validation = data if stages == "" else data[0]
    history = model.fit(x, y, batch_size=4, shuffle=False, verbose=0, validation_data=validation,
                        **({"epochs": 2} | options))
    return {"x": x, "y": y, "start": start, "options": options, "evaluate": evaluated, "stages": stages,
            "history": history.history, "after": model.get_weights(),
            "evaluated": model.evaluate(*data, verbose=0, return_dict=True, **evaluated),
            "predicted": model.predict(data[0], verbose=0, **evaluated)}


EVENTS = ["train_begin", "epoch_begin", "train_batch_begin", "train_batch_end", "epoch_end", "train_end", "test_begin",
          "test_batch_begin", "test_batch_end", "test_end", "predict_begin", "predict_batch_begin", "predict_batch_end",
          "predict_end"]


def order(names, **options):
    """All calls of callbacks with these names by fit, evaluate and predict. Epochs and batches count from 1 in
    gpubench."""
    log = []

    def calling(name, event):
        def call(_, *given, logs=None):
            counts = given and isinstance(given[0], int)
            log.append(name + event + (f" {given[0] + 1}" if counts else ""))
        return call

    def callbacks():
        return [type("Log", (keras.callbacks.Callback,), {"on_" + event: calling(name, event) for event in EVENTS})()
                for name in names]

    model = keras.Sequential([keras.Input((1,)), L.Dense(1)])
    model.compile("sgd", "mse")
    x = numpy.ones((5, 1))
    model.fit(x, x, verbose=0, batch_size=2, validation_data=(x, x), callbacks=callbacks(), **options)
    model.evaluate(x, x, verbose=0, batch_size=3, callbacks=callbacks())
    model.predict(x, verbose=0, batch_size=3, callbacks=callbacks())
    return {"names": names, "options": options, "log": log}


BEST = {"restore_best_weights": True}
SLOW, FLAT, RISING = [5, 4.5, 4, 3.5, 2.9, 2.8, 2.7], [5] * 8, [1, 2, 3, 4, 5, 6]
# Class, options, the loss of each epoch, validation_freq.
CALLBACKS = [
    ("EarlyStopping", {"patience": 2, "baseline": 3.0}, SLOW, 1),
    ("EarlyStopping", {"patience": 3, "baseline": 3.0} | BEST, SLOW, 1),
    ("EarlyStopping", {"patience": 2, "baseline": 10.0}, SLOW, 1),
    ("EarlyStopping", {"patience": 2, "baseline": 4.2, "min_delta": 0.3}, [5, 4.1, 4.0, 3.95, 3.9, 3.0, 2.0], 1),
    ("EarlyStopping", {"patience": 2, "baseline": 4.2} | BEST, [5, 6, 7, 8], 1),
    ("EarlyStopping", {"patience": 3, "baseline": 3.0, "mode": "max", "monitor": "loss"}, [1, 2, 4, 3, 2, 1], 1),
    ("EarlyStopping", {"patience": 1, "baseline": 0.5, "mode": "max", "monitor": "loss"} | BEST, [1, 0.2, 0.1], 1),
    ("EarlyStopping", {"patience": 2, "start_from_epoch": 2, "baseline": 1.0} | BEST, RISING, 1),
    ("EarlyStopping", {"patience": 1}, FLAT, 2),
    ("EarlyStopping", {"patience": 1} | BEST, [1, 2, 3, 4, 0, 6, 7, 8], 2),
    ("EarlyStopping", {"patience": 2} | BEST, [9, 8, 7, 6, 5, 6, 7, 8, 9, 9], [1, 3, 4, 6, 9]),
    ("ReduceLROnPlateau", {"patience": 1, "factor": 0.5}, FLAT, 3),
    ("ReduceLROnPlateau", {"patience": 1, "factor": 0.5, "cooldown": 1}, FLAT, 2),
    ("ModelCheckpoint", {"save_best_only": True}, [5, 4, 3, 6, 2, 1], 2),
    ("ModelCheckpoint", {"save_best_only": True, "monitor": "loss"}, [5, 4, 3, 6, 2, 1], 2),
]


def watched(kind, options, figures, freq):
    weights = [math.sqrt(figure) for figure in figures]
    x, y = numpy.ones((2, 1), numpy.float32), numpy.zeros((2, 1), numpy.float32)
    model = keras.Sequential([keras.Input((1,)), L.Dense(1, use_bias=False)])
    rate = 1.0 if "LR" in kind else 0.0
    model.compile(keras.optimizers.SGD(rate), "mse")
    folder = pathlib.Path(tempfile.mkdtemp())
    saving = kind == "ModelCheckpoint"
    made = getattr(keras.callbacks, kind)(
        *[folder / "{epoch:d}.weights.h5"] * saving, **options, **{"save_weights_only": True} if saving else {})

    class Set(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            model.set_weights([numpy.array([[weights[epoch]]])])

    history = model.fit(x, y, batch_size=2, epochs=len(figures), verbose=0, validation_data=(x, y),
                        validation_freq=freq, callbacks=[Set(), made])
    return {"class": kind, "options": options, "weights": weights, "freq": freq, "rate": rate,
            "history": history.history, "final": None if rate else model.get_weights()[0].ravel()[0],
            "saved": [epoch for epoch in range(1, 9) if (folder / f"{epoch}.weights.h5").exists()]}


class Guide(keras.Sequential):
    """The guide's own training step: a loss of its own, metrics of its own."""

    def prepare(self):
        self.loss_tracker, self.mae = keras.metrics.Mean(name="loss"), keras.metrics.MeanAbsoluteError(name="mae")

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            loss = keras.losses.mean_squared_error(y, predicted)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.mae.update_state(y, predicted)
        return {"loss": self.loss_tracker.result(), "mae": self.mae.result()}

    def test_step(self, data):
        x, y = data
        self.mae.update_state(y, self(x))
        return {"mae": self.mae.result()}


class OfCompile(keras.Sequential):
    """compile's loss with weights of the examples; numbers that are no metrics."""

    def train_step(self, data):
        x, y, weights = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True), sample_weight=weights)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"now": loss, "size": tf.reduce_sum(tf.square(gradients[0]))}


class Rival(keras.Sequential):
    """Two optimizers: the model against a weight that makes its loss larger."""

    def prepare(self):
        self.factor = tf.Variable([[1.0, 1.0]])
        self.other = keras.optimizers.Adam(0.1)
        self.other.build([self.factor])

    def train_step(self, data):
        x, y = data
        with tf.GradientTape(persistent=True) as tape:
            gap = tf.reduce_mean(tf.square(self.factor * (y - self(x, training=True))))
            against = tf.reduce_mean(tf.square(self.factor)) - gap
        self.other.apply_gradients([(tape.gradient(against, self.factor), self.factor)])
        gradients = tape.gradient(gap, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"gap": gap, "against": against}


# Name, class, optimizer, loss of compile, whether examples have weights.
STEPS = [("the guide's train_step and test_step", Guide, ("SGD", {"learning_rate": 0.1}), None, False),
         ("compute_loss with weights", OfCompile, ("Adam", {"learning_rate": 0.1}), "mae", True),
         ("two optimizers in a step", Rival, ("SGD", {"learning_rate": 0.05, "momentum": 0.9}), None, False)]


def stepped(kind, optimizer, loss, weighted):
    x, y, weights = drawn(10, 3), drawn(10, 2), numpy.abs(drawn(10))
    penalty = keras.regularizers.L2(0.1) if loss else None
    model = kind([keras.Input((3,)), L.Dense(2, kernel_regularizer=penalty)])
    if hasattr(model, "prepare"):
        model.prepare()
    model.compile(getattr(keras.optimizers, optimizer[0])(**optimizer[1]), loss)
    start = [drawn(3, 2), drawn(2)]
    model.set_weights(start)
    data = slices((x, y, weights) if weighted else (x, y)).batch(4)
    validated = {"validation_data": data} if "test_step" in vars(kind) else {}
    history = model.fit(data, epochs=3, verbose=0, **validated)
    return {"step": kind.__name__, "x": x, "y": y, "weights": weights if weighted else None, "start": start,
            "optimizer": {"class": optimizer[0], "options": optimizer[1]}, "loss": loss, "validated": bool(validated),
            "history": history.history, "after": model.get_weights()}


# Options of TensorBoard, and whether there is validation.
BOARDS = [({}, True), ({}, False), ({"update_freq": "batch"}, True), ({"update_freq": 1}, False)]


def scalars(folder):
    """{"tag step": value}, but for the graph and speeds."""
    found = {}
    accumulator = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    accumulator.Reload()
    for tag in accumulator.Tags()["tensors"]:
        for event in accumulator.Tensors(tag):
            value = tf.make_ndarray(event.tensor_proto)
            if tag != "keras":
                found[f"{tag} {event.step}"] = float(value)
    return found


def board(options, validates):
    x, y = drawn(8, 3), drawn(8, 2)
    model = keras.Sequential([keras.Input((3,)), L.Dense(2)])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    start = [drawn(3, 2), drawn(2)]
    model.set_weights(start)
    folder = pathlib.Path(tempfile.mkdtemp())
    model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0,
              callbacks=[keras.callbacks.TensorBoard(folder, write_graph=False, **options)],
              **({"validation_data": (x, y)} if validates else {}))
    parts = [part for part in ("train", "validation") if (folder / part).exists()]
    return {"class": "TensorBoard", "x": x, "y": y, "start": start, "options": options, "validates": validates,
            "scalars": [{"folder": part, "values": list(scalars(folder / part).values()),
                         "tags": list(scalars(folder / part))} for part in parts]}


def main():
    for name, *arguments in PASSES:
        case("passes", name, passed, *arguments)
    case("orders", "calls of fit, evaluate and predict", order, [""], epochs=1)
    case("orders", "calls of two callbacks, validated after each other epoch", order, ["A ", "B "], epochs=2,
         validation_freq=2)
    for kind, options, figures, freq in CALLBACKS:
        case("callbacks", titled(kind, options, f"validated by {freq}"), watched, kind, options, figures, freq)
    for name, *arguments in STEPS:
        case("steps", name, stepped, *arguments)
    for options, validates in BOARDS:
        name = titled("TensorBoard", options, "with validation" if validates else "")
        case("boards", name, board, options, validates)
    write(__file__)


if __name__ == "__main__":
    main()
