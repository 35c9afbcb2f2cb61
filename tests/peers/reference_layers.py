"""Writes reference_layers_values.lua and reference_masked_values.lua: what Keras' layers compute with given weights,
without and with a mask. Run by hand as reference.py; conformance_layers_test.lua holds gpubench against the files,
without Python."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

from reference import drawn, lua  # noqa: E402

SAME = {"padding": "same"}
PAIR = [(2, 2, 2, 2), (2, 2, 2, 2)]

LAYERS = [
    ("Conv2D", {"filters": 4, "kernel_size": [3, 3], "groups": 2}, (1, 4, 4, 4)),
    ("Conv2D", {"filters": 2, "kernel_size": [2, 2], "dilation_rate": [2, 2]}, (1, 5, 4, 1)),
    ("Conv1D", {"filters": 2, "kernel_size": 3, "strides": 2} | SAME, (1, 6, 2)),
    ("Conv1D", {"filters": 2, "kernel_size": 2, "padding": "causal", "dilation_rate": 2}, (1, 5, 2)),
    ("DepthwiseConv2D", {"kernel_size": [3, 3]} | SAME, (1, 4, 4, 2)),
    ("DepthwiseConv2D", {"kernel_size": [3, 3], "strides": [2, 2], "depth_multiplier": 2, "activation": "relu6"} | SAME,
     (1, 5, 4, 2)),
    ("SeparableConv2D", {"filters": 3, "kernel_size": [2, 2], "depth_multiplier": 2}, (1, 3, 4, 2)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": [3, 3], "strides": [2, 2]}, (1, 2, 3, 2)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": [3, 3], "strides": [2, 2]} | SAME, (1, 2, 3, 1)),
    ("Conv2DTranspose", {"filters": 1, "kernel_size": [2, 2], "strides": [3, 3]}, (1, 2, 2, 2)),
    ("MaxPooling1D", {"pool_size": 3, "strides": 2} | SAME, (1, 6, 2)),
    ("AveragePooling1D", {"pool_size": 2} | SAME, (1, 5, 2)),
    ("GlobalMaxPooling2D", {}, (2, 3, 2, 2)),
    ("GlobalMaxPooling1D", {"keepdims": True}, (2, 3, 2)),
    ("GlobalAveragePooling1D", {}, (2, 3, 2)),
    ("GlobalAveragePooling2D", {"keepdims": True}, (1, 2, 3, 2)),
    ("ZeroPadding2D", {"padding": [[1, 0], [2, 1]]}, (1, 2, 2, 2)),
    ("UpSampling2D", {"size": [2, 3]}, (1, 2, 2, 2)),
    ("Rescaling", {"scale": 0.5, "offset": -1.0}, (2, 3)),
    ("Permute", {"dims": [2, 1]}, (1, 2, 3)),
    ("RepeatVector", {"n": 2}, (2, 3)),
    ("Softmax", {"axis": 1}, (1, 3, 2)),
    ("ReLU", {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.3}, (2, 6)),
    ("ReLU", {"max_value": 6.0}, (2, 4)),
    ("LeakyReLU", {}, (2, 4)),
    ("ELU", {"alpha": 0.5}, (2, 4)),
    ("Add", {}, [(2, 3, 1), (2, 1, 2)]),
    ("Subtract", {}, PAIR),
    ("Multiply", {}, [(1, 2, 2, 2), (1, 1, 1, 2)]),
    ("Average", {}, PAIR),
    ("Maximum", {}, PAIR),
    ("Minimum", {}, PAIR),
    ("LSTM", {"units": 3}, (2, 4, 2)),
    ("LSTM", {"units": 2, "return_sequences": True, "go_backwards": True}, (2, 3, 2)),
    ("LSTM", {"units": 2, "use_bias": False, "return_sequences": True}, (1, 4, 3)),
    ("GRU", {"units": 3}, (2, 4, 2)),
    ("GRU", {"units": 2, "return_sequences": True, "go_backwards": True}, (2, 3, 2)),
    ("GRU", {"units": 2, "use_bias": False}, (1, 4, 3)),
]

ACTIVATIONS = ["relu6", "leaky_relu", "elu", "selu", "silu", "softplus", "softsign", "exponential", "hard_sigmoid",
               "hard_silu", "hard_tanh", "log_softmax"]

SEQUENCE = {"units": 2, "return_sequences": True}
WRAPPED = [
    ("Bidirectional", {}, "LSTM", {"units": 2}, (2, 3, 2)),
    ("Bidirectional", {"merge_mode": "sum"}, "GRU", SEQUENCE, (1, 3, 2)),
    ("Bidirectional", {"merge_mode": "ave"}, "LSTM", SEQUENCE, (1, 3, 2)),
    ("Bidirectional", {"merge_mode": "mul"}, "GRU", {"units": 2}, (1, 3, 2)),
    ("TimeDistributed", {}, "Dense", {"units": 2, "activation": "tanh"}, (2, 3, 2)),
    ("TimeDistributed", {}, "Conv2D", {"filters": 2, "kernel_size": [2, 2]}, (1, 2, 3, 3, 1)),
]

# Masked steps at the beginning, in between and at the end, and a sequence without any other.
MASK = [[1, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0]]
MASKED = [
    (None, {}, "LSTM", {"units": 2}),
    (None, {}, "LSTM", SEQUENCE),
    (None, {}, "LSTM", SEQUENCE | {"go_backwards": True}),
    (None, {}, "GRU", {"units": 2, "go_backwards": True}),
    (None, {}, "GRU", SEQUENCE),
    ("Bidirectional", {}, "LSTM", {"units": 2}),
    ("Bidirectional", {}, "LSTM", SEQUENCE),
    ("Bidirectional", {"merge_mode": "sum"}, "GRU", SEQUENCE),
]

BILINEAR = [({"size": [2, 3]}, (1, 3, 2, 2)), ({"size": [3, 2]}, (1, 1, 3, 1))]


def row(layer, shapes, mask=None):
    """Weights and inputs are drawn; the gradient is that of the first input."""
    options = {} if mask is None else {"mask": tf.cast(mask, tf.bool)}
    many = isinstance(shapes, list)
    values = [drawn(*shape) for shape in (shapes if many else [shapes])]
    given = [tf.constant(value) for value in values]
    layer(given if many else given[0])
    weights = [drawn(*weight.shape) for weight in layer.get_weights()]
    layer.set_weights(weights)
    with tf.GradientTape() as tape:
        tape.watch(given[0])
        output = layer(given if many else given[0], **options)
        total = tf.reduce_sum(tf.square(output))
    made = {"inputs": values, "weights": weights, "output": output.numpy(),
            "gradient_of_squares": tape.gradient(total, given[0]).numpy()}
    return made if mask is None else made | {"mask": mask}


def write(name, rows):
    head = (f"-- Written by reference_layers.py from Keras {keras.__version__} on TensorFlow {tf.__version__}. "
            "Do not edit.\n")
    pathlib.Path(__file__).with_name(name).write_text(f"{head}return {lua(rows)}\n")
    print(f"wrote {name}: {len(rows)} cases")


def main():
    rows = []
    layers = LAYERS + [("Activation", {"activation": name}, (2, 5)) for name in ACTIVATIONS]
    for kind, options, shapes in layers:
        made = {name: tuple(map(tuple, value)) if name == "padding" and isinstance(value, list) else value
                for name, value in options.items()}
        rows.append({"class": kind, "options": options} | row(getattr(keras.layers, kind)(**made), shapes))
    for kind, options, inner, inner_options, shapes in WRAPPED:
        layer = getattr(keras.layers, kind)(getattr(keras.layers, inner)(**inner_options), **options)
        rows.append({"class": kind, "options": options, "inner": {"class": inner, "options": inner_options}} |
                    row(layer, shapes))
    masked = []
    for kind, options, inner, inner_options in MASKED:
        layer = getattr(keras.layers, inner)(**inner_options)
        case = {"class": inner, "options": inner_options}
        if kind is not None:
            layer = getattr(keras.layers, kind)(layer, **options)
            case = {"class": kind, "options": options, "inner": case}
        masked.append(case | row(layer, (3, 4, 2), MASK))
    for options, shape in BILINEAR:
        options = options | {"interpolation": "bilinear"}
        rows.append({"class": "UpSampling2D", "options": options} |
                    row(keras.layers.UpSampling2D(**options), shape))
    write("reference_layers_values.lua", rows)
    write("reference_masked_values.lua", masked)


if __name__ == "__main__":
    main()
