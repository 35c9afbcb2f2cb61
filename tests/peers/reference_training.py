"""Writes reference_training_values.lua: what Keras computes for optimizers with limits, schedules, losses with weights,
metrics and regularizers. Run by hand, like reference.py; conformance_training_test.lua holds gpubench against the
file."""

import pathlib

from reference import drawn, lua, probabilities

import keras
import numpy
import tensorflow as tf

OPTIMIZERS = [
    ("SGD", {"learning_rate": 0.1, "clipnorm": 1.0}),
    ("SGD", {"learning_rate": 0.1, "clipvalue": 0.4}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "global_clipnorm": 1.0}),
    ("Adam", {"learning_rate": 0.1, "global_clipnorm": 0.5}),
    ("RMSprop", {"learning_rate": 0.1, "clipnorm": 0.5}),
    ("AdamW", {"learning_rate": 0.1, "weight_decay": 0.1, "clipnorm": 0.5}),
    ("Lion", {"learning_rate": 0.1}),
    ("Lion", {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.9, "weight_decay": 0.1}),
]


def updates():
    """Two variables, so that a norm of each and one of all differ."""
    rows = []
    for kind, options in OPTIMIZERS:
        start, gradients = [drawn(3), drawn(2)], [[drawn(3), drawn(2)] for _ in range(3)]
        optimizer = getattr(keras.optimizers, kind)(**options)
        variables = [keras.Variable(values) for values in start]
        after = []
        for gradient in gradients:
            optimizer.apply_gradients(list(zip([tf.constant(g) for g in gradient], variables)))
            after.append([variable.numpy() for variable in variables])
        rows.append({"class": kind, "options": options, "start": start, "gradients": gradients, "after": after})
    return rows


def excluded_decay():
    options = {"learning_rate": 0.1, "weight_decay": 0.1}
    optimizer = keras.optimizers.AdamW(**options)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    start, gradient = [drawn(2, 1), drawn(1)], [drawn(2, 1), drawn(1)]
    variables = [keras.Variable(start[0], name="kernel"), keras.Variable(start[1], name="bias")]
    optimizer.apply_gradients(list(zip([tf.constant(g) for g in gradient], variables)))
    return {"options": options, "start": start, "gradient": gradient, "after": [v.numpy() for v in variables]}


SCHEDULES = [
    ("CosineDecay", [0.01, 10], {"alpha": 0.1, "warmup_target": 0.1, "warmup_steps": 5}),
    ("PolynomialDecay", [0.1, 10], {"end_learning_rate": 0.01, "power": 2.0}),
    ("PolynomialDecay", [0.1, 4], {"cycle": True}),
    ("PiecewiseConstantDecay", [[3, 7], [0.1, 0.01, 0.001]], {}),
]


def schedules():
    steps = [0, 1, 3, 4, 5, 7, 8, 12, 20]
    rows = []
    for kind, arguments, options in SCHEDULES:
        schedule = getattr(keras.optimizers.schedules, kind)(*arguments, **options)
        rates = [float(schedule(step)) for step in steps]
        rows.append({"class": kind, "arguments": arguments, "options": options, "steps": steps, "rates": rates})
    return rows


def losses():
    classes = numpy.array([0, 3, 1])
    one_hot = numpy.eye(4, dtype=numpy.float32)[classes]
    bits = numpy.array([[1, 0], [0, 1], [1, 1]], numpy.float32)
    chances = numpy.array([[0.9, 0.2], [0.4, 0.6], [0.99, 0.01]], numpy.float32)
    weights = numpy.array([0.5, 2, 0], numpy.float32)
    cases = [
        ("MeanAbsoluteError", {}, drawn(3, 4), drawn(3, 4)),
        ("MeanAbsoluteError", {"reduction": "sum"}, drawn(3, 4), drawn(3, 4)),
        ("MeanSquaredError", {"reduction": "sum"}, drawn(3, 4), drawn(3, 4)),
        ("MeanSquaredError", {"reduction": "none"}, drawn(3, 4), drawn(3, 4)),
        ("Huber", {}, drawn(3, 4), 2 * drawn(3, 4)),
        ("Huber", {"delta": 0.5}, drawn(3, 4), 2 * drawn(3, 4)),
        ("KLDivergence", {}, probabilities(3, 4), probabilities(3, 4)),
        ("KLDivergence", {}, one_hot, probabilities(3, 4)),
        ("CosineSimilarity", {}, drawn(3, 4), drawn(3, 4)),
        ("BinaryCrossentropy", {"label_smoothing": 0.2}, bits, chances),
        ("BinaryCrossentropy", {"label_smoothing": 0.2, "from_logits": True}, bits, drawn(3, 2)),
        ("CategoricalCrossentropy", {"label_smoothing": 0.1, "from_logits": True}, one_hot, drawn(3, 4)),
        ("CategoricalCrossentropy", {"label_smoothing": 0.1, "from_logits": True, "reduction": "sum"}, one_hot,
         drawn(3, 4)),
    ]
    rows = []
    for kind, options, labels, predictions in cases:
        loss = getattr(keras.losses, kind)(**options)
        given = tf.constant(predictions)
        with tf.GradientTape() as tape:
            tape.watch(given)
            value = loss(labels, given)
            total = tf.reduce_sum(value)
        row = {"class": kind, "options": options, "labels": labels, "predictions": predictions, "value": value.numpy(),
               "gradient": tape.gradient(total, given).numpy()}
        if options.get("reduction") != "none":
            row |= {"weights": weights, "weighted": loss(labels, predictions, sample_weight=weights).numpy()}
        rows.append(row)
    return rows


def metrics():
    bits = numpy.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]], numpy.float32)
    guesses = numpy.array([[0.9, 0.2, 0.4], [0.1, 0.7, 0.55], [0.3, 0.8, 0.5], [0.6, 0.1, 0.95]], numpy.float32)
    column, scores = bits.reshape(-1, 1), numpy.round(numpy.random.default_rng(3).random((12, 1)), 3).astype(numpy.float32)
    classes = numpy.array([0, 2, 1, 2])
    one_hot = numpy.eye(3, dtype=numpy.float32)[classes]
    cases = [
        ("Precision", {}, bits, guesses),
        ("Precision", {"thresholds": 0.6}, bits, guesses),
        ("Precision", {"class_id": 1}, bits, guesses),
        ("Recall", {}, bits, guesses),
        ("Recall", {"thresholds": 0.35, "class_id": 0}, bits, guesses),
        ("AUC", {}, column, scores),
        ("AUC", {"curve": "PR"}, column, scores),
        ("AUC", {"num_thresholds": 5}, column, scores),
        ("AUC", {"num_thresholds": 5, "curve": "PR"}, column, scores),
        ("F1Score", {"average": "macro"}, one_hot, guesses),
        ("F1Score", {"average": "micro", "threshold": 0.5}, bits, guesses),
        ("F1Score", {"average": "weighted", "threshold": 0.5}, bits, guesses),
        ("MeanAbsoluteError", {}, bits, guesses),
        ("RootMeanSquaredError", {}, bits, guesses),
        ("KLDivergence", {}, probabilities(4, 3), probabilities(4, 3)),
        ("CosineSimilarity", {}, bits, guesses),
        ("SparseTopKCategoricalAccuracy", {"k": 2}, classes, guesses),
    ]
    rows = []
    for kind, options, labels, predictions in cases:
        metric = getattr(keras.metrics, kind)(**options)
        half = len(labels) // 2
        metric.update_state(labels[:half], predictions[:half])
        metric.update_state(labels[half:], predictions[half:])
        rows.append({"class": kind, "options": options, "labels": labels, "predictions": predictions,
                     "result": float(metric.result())})
    return rows


def fit():
    """Weights of the model after an epoch in batches of 4, by how examples are weighted."""
    images, classes = drawn(8, 3), numpy.array([0, 1, 2, 0, 1, 2, 0, 1])
    weights = numpy.abs(drawn(8))
    start = [drawn(3, 3), drawn(3)]
    rows = []
    for options, more, regularizers in [
        ({"sample_weight": weights}, {}, {}),
        ({"class_weight": {0: 1.0, 1: 3.0, 2: 0.5}}, {}, {}),
        ({}, {"loss_weights": [0.25]}, {}),
        ({}, {}, {"kernel_regularizer": keras.regularizers.L1L2(0.02, 0.1), "bias_regularizer": keras.regularizers.L2(0.3)}),
        ({}, {}, {"kernel_regularizer": "l1"}),
    ]:
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3, activation="softmax", **regularizers)])
        model.compile(optimizer=keras.optimizers.SGD(0.1), loss="sparse_categorical_crossentropy", **more)
        model.set_weights(start)
        history = model.fit(images, classes, batch_size=4, epochs=1, shuffle=False, verbose=0, **options).history
        row = {"options": {}, "loss": history["loss"][0], "weights_after": model.get_weights(),
               "evaluated": float(model.evaluate(images, classes, batch_size=4, verbose=0))}
        if "sample_weight" in options:
            row["sample_weight"] = weights
        if "class_weight" in options:
            row["class_weight"] = [1.0, 3.0, 0.5]
        if more:
            row["loss_weights"] = more["loss_weights"]
        if regularizers:
            text = {"l1": "l1"}
            row["regularizers"] = {
                name: text.get(value, None) or f"l1_l2(l1={float(getattr(value, 'l1', 0)):g}, l2={float(value.l2):g})"
                for name, value in regularizers.items()}
        rows.append(row)
    return {"images": images, "classes": classes, "start": start, "cases": rows}


INITIALIZERS = [
    ("TruncatedNormal", {"mean": 0.1, "stddev": 0.2}),
    ("VarianceScaling", {}),
    ("VarianceScaling", {"scale": 2.0, "mode": "fan_avg", "distribution": "uniform"}),
    ("VarianceScaling", {"scale": 0.5, "mode": "fan_out", "distribution": "untruncated_normal"}),
    ("LecunNormal", {}),
    ("LecunUniform", {}),
]


def initializers():
    """Spread and bounds of many values; the draws themselves cannot agree."""
    rows = []
    for kind, options in INITIALIZERS:
        values = numpy.concatenate([getattr(keras.initializers, kind)(**options)((300, 200)).numpy().ravel() for _ in range(10)])
        rows.append({"class": kind, "options": options, "shape": [300, 200], "mean": float(numpy.round(values.mean(), 2)) + 0.0,
                     "deviation": float(values.std()), "largest": float(numpy.abs(values).max())})
    return rows


def main():
    values = {"optimizers": updates(), "excluded_decay": excluded_decay(), "schedules": schedules(), "losses": losses(),
              "metrics": metrics(), "fit": fit(), "initializers": initializers()}
    path = pathlib.Path(__file__).with_name("reference_training_values.lua")
    head = (f"-- Written by reference_training.py from Keras {keras.__version__} on TensorFlow {tf.__version__}. "
            "Do not edit.\n")
    path.write_text(f"{head}return {lua(values)}\n")
    print(f"wrote {path.name}: {sum(len(part) for part in values.values())} cases")


if __name__ == "__main__":
    main()
