"""Writes reference_values.lua: what Keras computes in the places where libraries differ. Run by hand, in the private
environment, when Keras' version or the cases change; conformance_test.lua holds gpubench against the file, without
Python."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras  # noqa: E402
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

random = numpy.random.default_rng(7)


def drawn(*shape):
    """A few digits, so that the file stays readable and both sides start from the same numbers."""
    return numpy.round(random.normal(size=shape), 2).astype(numpy.float32)


def lua(value, indent=""):
    """`value` as a Lua expression."""
    deeper = indent + "  "
    if isinstance(value, dict):
        if not any(isinstance(item, (dict, list, numpy.ndarray)) for item in value.values()):
            return "{ " + ", ".join(f"{name} = {lua(item)}" for name, item in value.items()) + " }"
        rows = [f"{deeper}{name} = {lua(item, deeper)},\n" for name, item in value.items()]
        return "{\n" + "".join(rows) + indent + "}" if value else "{}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "{\n" + "".join(f"{deeper}{lua(item, deeper)},\n" for item in value) + indent + "}"
    if isinstance(value, (list, tuple)):
        return "{ " + ", ".join(lua(item, deeper) for item in value) + " }"
    if isinstance(value, numpy.ndarray):
        return lua(value.tolist(), indent)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (int, numpy.integer)):
        return str(value)
    return f"{float(value):.7g}"


SCHEDULES = {
    "CosineDecay": {"initial_learning_rate": 0.1, "decay_steps": 4, "alpha": 0.1},
    "ExponentialDecay": {"initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5},
    "ExponentialDecay_staircase": {"initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5, "staircase": True},
}

OPTIMIZERS = [
    ("SGD", {"learning_rate": 0.1}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    ("Adam", {}),
    ("Adam", {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 0.001}),
    ("Adam", {"learning_rate": 0.1, "weight_decay": 0.1}),
    ("AdamW", {"learning_rate": 0.1}),
    ("RMSprop", {}),
    ("RMSprop", {"learning_rate": 0.1, "rho": 0.8, "epsilon": 0.001}),
    ("RMSprop", {"learning_rate": 0.1, "momentum": 0.9}),
    ("RMSprop", {"learning_rate": 0.1, "momentum": 0.9, "centered": True}),
]


def updates():
    cases = []
    scheduled = [("SGD", {"schedule": name}) for name in SCHEDULES]
    for kind, options in OPTIMIZERS + scheduled:
        start, gradients = drawn(4), [drawn(4) for _ in range(5)]
        made = dict(options)
        if "schedule" in made:
            name = made.pop("schedule")
            made["learning_rate"] = getattr(keras.optimizers.schedules, name.split("_")[0])(**SCHEDULES[name])
        optimizer = getattr(keras.optimizers, kind)(**made)
        variable = keras.Variable(start)
        after = []
        for gradient in gradients:
            optimizer.apply_gradients([(tf.constant(gradient), variable)])
            after.append(variable.numpy())
        case = {"class": kind, "options": options, "start": start, "gradients": gradients, "after": after}
        if "schedule" in options:
            name = case["options"]["schedule"]
            case["options"] = {}
            case |= {"schedule": name.split("_")[0], "schedule_options": SCHEDULES[name]}
        cases.append(case)
    return cases


def probabilities(*shape):
    values = numpy.exp(drawn(*shape))
    return numpy.round(values / values.sum(-1, keepdims=True), 3).astype(numpy.float32)


def losses():
    """Cross-entropy of probabilities is compared behind a softmax, as models have it; what no softmax made is compared
    in tests/lua/api/labels_test.lua."""
    classes = numpy.array([0, 3, 1])
    one_hot = numpy.eye(4, dtype=numpy.float32)[classes]
    soft = numpy.array([[0.5, 0.25, 0.25, 0], [0, 1, 0, 0], [0.25, 0.25, 0.25, 0.25]], numpy.float32)
    bits = numpy.array([[1, 0], [0, 1], [1, 1]], numpy.float32)
    chances = numpy.array([[0.9, 0.2], [0.4, 0.6], [0.99, 0.01]], numpy.float32)
    cases = [
        ("CategoricalCrossentropy", {}, one_hot, drawn(3, 4), "softmax"),
        ("CategoricalCrossentropy", {}, soft, drawn(3, 4), "softmax"),
        ("CategoricalCrossentropy", {}, one_hot, 20 * drawn(3, 4), "softmax"),
        ("CategoricalCrossentropy", {"from_logits": True}, one_hot, 20 * drawn(3, 4), None),
        ("CategoricalCrossentropy", {"from_logits": True}, soft, drawn(3, 4), None),
        ("SparseCategoricalCrossentropy", {}, classes, drawn(3, 4), "softmax"),
        ("SparseCategoricalCrossentropy", {"from_logits": True}, classes, drawn(3, 4), None),
        ("BinaryCrossentropy", {}, bits, chances, None),
        ("BinaryCrossentropy", {"from_logits": True}, bits, 10 * drawn(3, 2), None),
        ("MeanSquaredError", {}, drawn(3, 4), drawn(3, 4), None),
    ]
    rows = []
    for kind, options, labels, predictions, behind in cases:
        loss = getattr(keras.losses, kind)(**options)
        given = tf.constant(predictions)

        @tf.function
        def compute():
            with tf.GradientTape() as tape:
                tape.watch(given)
                value = loss(labels, keras.activations.get(behind)(given))
            return value, tape.gradient(value, given)

        value, gradient = compute()
        row = {"class": kind, "options": options, "labels": labels, "predictions": predictions,
               "value": value.numpy(), "gradient": gradient.numpy()}
        saturated = bool(behind and numpy.abs(predictions).max() > 15)
        rows.append(row | ({"behind": behind, "saturated": saturated} if behind else {}))
    return rows


LAYERS = [
    ("Conv2D", {"filters": 2, "kernel_size": [3, 3], "padding": "same"}, (1, 5, 4, 2)),
    ("Conv2D", {"filters": 2, "kernel_size": [3, 3], "padding": "same", "strides": [2, 2]}, (1, 6, 5, 1)),
    ("Conv2D", {"filters": 1, "kernel_size": [2, 2], "padding": "same", "strides": [2, 2]}, (1, 5, 5, 1)),
    ("Conv2D", {"filters": 2, "kernel_size": [3, 2], "strides": [2, 1], "activation": "relu"}, (1, 6, 5, 1)),
    ("MaxPooling2D", {"pool_size": [2, 2]}, (1, 5, 5, 1)),
    ("MaxPooling2D", {"pool_size": [3, 3], "strides": [2, 2], "padding": "same"}, (1, 6, 5, 1)),
    ("AveragePooling2D", {"pool_size": [2, 2], "padding": "same"}, (1, 5, 5, 1)),
    ("AveragePooling2D", {"pool_size": [3, 3], "strides": [1, 1], "padding": "same"}, (1, 4, 4, 2)),
    ("GlobalAveragePooling2D", {}, (2, 3, 3, 2)),
    ("Activation", {"activation": "gelu"}, (2, 4)),
    ("Activation", {"activation": "softmax"}, (2, 4)),
    ("Activation", {"activation": "sigmoid"}, (2, 4)),
    ("Activation", {"activation": "tanh"}, (2, 4)),
    ("Flatten", {}, (1, 2, 2, 2)),
    ("Dense", {"units": 3, "activation": "relu"}, (2, 4)),
]


def layers():
    rows = []
    for kind, options, shape in LAYERS:
        layer = getattr(keras.layers, kind)(**options)
        values = drawn(*shape)
        layer.build(shape)
        weights = [drawn(*weight.shape) for weight in layer.get_weights()]
        layer.set_weights(weights)
        given = tf.constant(values)
        with tf.GradientTape() as tape:
            tape.watch(given)
            output = layer(given)
            total = tf.reduce_sum(tf.square(output))
        rows.append({"class": kind, "options": options, "input": values, "weights": weights, "output": output.numpy(),
                     "gradient_of_squares": tape.gradient(total, given).numpy()})
    return rows


def batch_normalization():
    rows = []
    for options, shape in [({}, (4, 3)), ({"momentum": 0.8, "epsilon": 0.01}, (2, 2, 2, 2))]:
        layer = keras.layers.BatchNormalization(**options)
        layer.build(shape)
        channels = shape[-1]
        weights = [drawn(channels), drawn(channels), drawn(channels), numpy.abs(drawn(channels)) + 0.5]
        layer.set_weights(weights)
        inputs = [drawn(*shape) for _ in range(2)]
        training = [layer(values, training=True).numpy() for values in inputs]
        rows.append({"options": options, "weights": weights, "inputs": inputs, "training": training,
                     "weights_after": layer.get_weights(), "inference": layer(inputs[0], training=False).numpy()})
    return rows


def initializers():
    """Spread and bounds of many values; the draws themselves cannot agree."""
    rows = []
    for name in ["glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "zeros", "ones"]:
        for kind, shape, build in [("Dense", (300, 200), (None, 300)), ("Conv2D", (3, 3, 32, 64), (None, 8, 8, 32))]:
            values = numpy.concatenate([keras.initializers.get(name)(shape).numpy().ravel() for _ in range(20)])
            rows.append({"name": name, "layer": kind, "shape": list(shape), "input_shape": list(build[1:]),
                         "mean": float(numpy.round(values.mean(), 2)) + 0.0, "deviation": float(values.std()),
                         "largest": float(numpy.abs(values).max())})
    return rows


def metrics():
    classes = numpy.array([0, 3, 1, 2])
    one_hot = numpy.eye(6, dtype=numpy.float32)[classes]
    scores = probabilities(4, 6) + one_hot * numpy.array([[1], [0.1], [1], [0]], numpy.float32)
    bits, guesses = numpy.array([[1, 0], [0, 1]], numpy.float32), numpy.array([[0.5, 0.51], [0.2, 0.7]], numpy.float32)
    cases = [
        ("CategoricalAccuracy", {}, one_hot, scores),
        ("SparseCategoricalAccuracy", {}, classes, scores),
        ("TopKCategoricalAccuracy", {"k": 2}, one_hot, scores),
        ("TopKCategoricalAccuracy", {}, one_hot, scores),
        ("BinaryAccuracy", {}, bits, guesses),
        ("MeanSquaredError", {}, bits, guesses),
    ]
    rows = []
    for kind, options, labels, predictions in cases:
        metric = getattr(keras.metrics, kind)(**options)
        metric.update_state(labels, predictions)
        rows.append({"class": kind, "options": options, "labels": labels, "predictions": predictions,
                     "result": float(metric.result())})
    return rows


def fit():
    """Losses of two epochs of fit whose last batch is smaller, in the given order, and of an evaluation."""
    images, labels = drawn(10, 3), drawn(10, 2)
    start = [drawn(3, 2), drawn(2)]
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mean_squared_error", metrics=["mean_squared_error"])
    model.set_weights(start)
    history = model.fit(images, labels, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    return {"images": images, "labels": labels, "start": start, "batch_size": 4, "loss": history["loss"],
            "weights_after": model.get_weights(), "evaluated": float(model.evaluate(images, labels, batch_size=4, verbose=0)[0])}


def main():
    values = {"optimizers": updates(), "losses": losses(), "layers": layers(),
              "batch_normalization": batch_normalization(), "initializers": initializers(), "metrics": metrics(),
              "fit": fit()}
    path = pathlib.Path(__file__).with_name("reference_values.lua")
    head = (f"-- Written by reference.py from Keras {keras.__version__} on TensorFlow {tf.__version__}. "
            "Do not edit.\n")
    path.write_text(f"{head}return {lua(values)}\n")
    print(f"wrote {path.name}: {sum(len(part) for part in values.values())} cases")


if __name__ == "__main__":
    main()
