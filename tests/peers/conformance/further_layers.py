"""Layers that layers.py does not have: outputs and gradients with drawn weights, batch normalization of other axes over
training steps, and the spread of random layers."""

import numpy

import layers
from values import case, drawn, keras, titled, write

BORDERS = layers.BORDERS
X, MEMORY = (2, 3, 4), (2, 5, 4)

# As LAYERS of layers.py.
LAYERS = [
    ("BatchNormalization", {"axis": 2, "center": False, "scale": False}, (2, 3, 4)),
    ("BatchNormalization", {"axis": -2, "epsilon": 0.1}, (2, 3, 2, 2)),
    ("BatchNormalization", {"axis": 1, "scale": False}, (2, 3, 2, 2)),
    ("GroupNormalization", {"groups": 2}, (2, 3, 4)),
    ("GroupNormalization", {"groups": 1, "epsilon": 0.1}, (2, 6)),
    ("GroupNormalization", {"groups": -1}, (2, 3, 2, 4)),
    ("GroupNormalization", {"groups": 2, "axis": 1}, (2, 4, 3)),
    ("GroupNormalization", {"groups": 3, "axis": -2, "center": False}, (2, 2, 6, 2)),
    ("GroupNormalization", {"groups": 2, "scale": False}, [drawn(2, 3, 4) + 50], "far from 0"),
    ("GroupNormalization", {"groups": 4, "scale": False, "center": False}, (2, 4)),
    ("Identity", {}, (2, 3)),
    ("Identity", {}, [numpy.array([[3, 1]], numpy.int64)], "whole numbers"),
    ("Cropping1D", {}, (2, 5, 2)),
    ("Cropping1D", {"cropping": 2}, (1, 5, 2)),
    ("Cropping1D", {"cropping": [0, 3]}, (2, 5, 1)),
    ("Cropping2D", {}, (1, 2, 3, 1)),
    ("Cropping2D", {"cropping": 1}, (1, 4, 3, 2)),
    ("Cropping2D", {"cropping": [1, 2]}, (1, 4, 5, 2)),
    ("Cropping2D", {"cropping": [[1, 0], [2, 1]]}, (2, 3, 5, 1)),
    ("ZeroPadding1D", {}, (2, 3, 2)),
    ("ZeroPadding1D", {"padding": 2}, (1, 3, 2)),
    ("ZeroPadding1D", {"padding": [0, 3]}, (2, 2, 1)),
    ("UpSampling1D", {}, (2, 3, 2)),
    ("UpSampling1D", {"size": 3}, (1, 2, 2)),
    ("Conv1DTranspose", {"filters": 2, "kernel_size": 3}, (2, 4, 2)),
    ("Conv1DTranspose", {"filters": 2, "kernel_size": 3, "strides": 2}, (1, 4, 3)),
    ("Conv1DTranspose", {"filters": 3, "kernel_size": 4, "strides": 2, "padding": "same"}, (2, 3, 2)),
    ("Conv1DTranspose", {"filters": 1, "kernel_size": 2, "strides": 3, "use_bias": False}, (1, 3, 2)),
    ("Conv1DTranspose", {"filters": 2, "kernel_size": 3, "dilation_rate": 2, "activation": "relu"}, (1, 5, 2)),
    ("PReLU", {}, (2, 3)),
    ("PReLU", {"shared_axes": [1, 2]}, (2, 2, 3, 2)),
    ("PReLU", {"shared_axes": [1]}, (2, 4, 2)),
    ("PReLU", {"shared_axes": 1}, (2, 4)),
    ("PReLU", {}, [BORDERS], "borders"),
    ("Dot", {"axes": 1}, [(2, 3), (2, 3)]),
    ("Dot", {"axes": 1, "normalize": True}, [(2, 3), (2, 3)]),
    ("Dot", {"axes": -1}, [(2, 3, 4), (2, 2, 4)]),
    ("Dot", {"axes": [1, 2]}, [(2, 3, 2), (2, 4, 3)]),
    ("Dot", {"axes": [2, 1], "normalize": True}, [(2, 2, 3), (2, 3, 4)]),
    ("Dot", {"axes": [1, 1]}, [(2, 3), (2, 3, 2)]),
    ("Dot", {"axes": [3, 1]}, [(2, 2, 2, 3), (2, 3, 2)]),
    ("Resizing", {"height": 4, "width": 6}, (1, 3, 5, 2)),
    ("Resizing", {"height": 2, "width": 2}, (2, 5, 4, 1)),
    ("Resizing", {"height": 3, "width": 7, "interpolation": "nearest"}, (1, 5, 4, 2)),
    ("Resizing", {"height": 2, "width": 7, "interpolation": "bicubic"}, (1, 4, 5, 2)),
    ("Resizing", {"height": 7, "width": 3, "interpolation": "lanczos3"}, (1, 4, 5, 1)),
    ("Resizing", {"height": 4, "width": 4, "crop_to_aspect_ratio": True}, (1, 5, 8, 1)),
    ("Resizing", {"height": 3, "width": 6, "crop_to_aspect_ratio": True}, (1, 7, 4, 2)),
    ("Resizing", {"height": 4, "width": 4, "pad_to_aspect_ratio": True}, (1, 3, 6, 1)),
    ("Resizing", {"height": 5, "width": 2, "pad_to_aspect_ratio": True, "fill_value": 2.0}, (1, 3, 6, 1)),
    ("Resizing", {"height": 3, "width": 3}, (1, 3, 3, 1)),
    ("Resizing", {"height": 2, "width": 3, "antialias": True}, (1, 5, 8, 1)),
    ("Resizing", {"height": 7, "width": 3, "interpolation": "bicubic", "antialias": True}, (1, 4, 7, 2)),
    ("Resizing", {"height": 2, "width": 2, "crop_to_aspect_ratio": True, "antialias": True}, (1, 5, 8, 1)),
    ("Resizing", {"height": 4, "width": 3}, [numpy.arange(20).reshape(1, 4, 5, 1)], "whole numbers"),
    ("GaussianNoise", {"stddev": 0.5}, (2, 3)),
    ("GaussianDropout", {"rate": 0.5}, (2, 3)),
    ("AlphaDropout", {"rate": 0.5}, (2, 3)),
    ("SpatialDropout1D", {"rate": 0.5}, (2, 3, 2)),
    ("SpatialDropout2D", {"rate": 0.5}, (2, 3, 2, 2)),
]

# In inference.
CROPS = [
    ("RandomCrop", {"height": 3, "width": 3}, (1, 5, 8, 1)),
    ("RandomCrop", {"height": 4, "width": 8}, (2, 3, 5, 1)),
    ("RandomCrop", {"height": 2, "width": 4}, (1, 2, 4, 1)),
]

SCORES = [
    ("Attention", {}, [X, MEMORY], None),
    ("Attention", {"use_scale": True}, [X, MEMORY], None),
    ("Attention", {"score_mode": "concat"}, [X, MEMORY], None),
    ("Attention", {"score_mode": "concat", "use_scale": True}, [X, (2, 5, 3), MEMORY], None),
    ("Attention", {}, [X, (2, 5, 2), MEMORY], None),
    ("Attention", {"use_causal_mask": True}, [X, MEMORY], None),
    ("Attention", {"score_mode": "concat", "use_causal_mask": True}, [X, X], None),
    ("Attention", {"dropout": 0.5}, [X, MEMORY], None),
    ("Attention", {}, [X, MEMORY], [[1, 0, 1, 1, 0], [0, 0, 0, 1, 1]]),
    ("Attention", {"score_mode": "concat"}, [X, MEMORY], [[1, 0, 1, 1, 0], [0, 0, 0, 0, 0]]),
    ("Attention", {"use_scale": True, "use_causal_mask": True}, [X, X], [[1, 0, 1], [1, 1, 1]]),
    ("Attention", {}, [(1, 2, 4), (1, 3, 4)], [[0, 0, 0]]),
    ("AdditiveAttention", {}, [X, MEMORY], None),
    ("AdditiveAttention", {"use_scale": False}, [X, (2, 5, 3), MEMORY], None),
    ("AdditiveAttention", {"dropout": 0.3, "use_causal_mask": True}, [X, X], None),
    ("AdditiveAttention", {}, [X, MEMORY], [[1, 0, 1, 1, 0], [0, 0, 0, 1, 1]]),
]

NORMALIZED = [({"axis": 1}, (3, 2, 4)), ({"axis": 1, "momentum": 0.5, "scale": False}, (2, 3, 2, 2)),
              ({"center": False, "momentum": 0.9}, (4, 3)), ({"center": False, "scale": False}, (3, 2))]

TOKENS = numpy.array([[2, 0, 2, 1], [1, 1, 3, 0]])
REVERSED = [{}, {"tie_weights": False}, {"logit_soft_cap": 0.7}, {"tie_weights": False, "logit_soft_cap": 2.0},
            {"reverse_dtype": "float32", "mask_zero": True}]

RANDOM = [
    ("GaussianNoise", {"stddev": 0.3}, (3,)),
    ("GaussianNoise", {"stddev": 0.05}, (2, 2, 1)),
    ("GaussianDropout", {"rate": 0.2}, (3,)),
    ("GaussianDropout", {"rate": 0.7}, (2, 2)),
    ("AlphaDropout", {"rate": 0.3}, (3,)),
    ("AlphaDropout", {"rate": 0.8}, (2, 2, 1)),
    ("SpatialDropout1D", {"rate": 0.4}, (3, 2)),
    ("SpatialDropout2D", {"rate": 0.25}, (2, 2, 2)),
]


def called(kind, options, shapes, mask=None, **call):
    """As layer() of layers.py, with arguments of the call; Keras takes lists of inputs and of masks here."""
    call |= {name: value for name, value in options.items() if name == "use_causal_mask"}
    made = getattr(keras.layers, kind)(**{name: value for name, value in options.items() if name not in call})
    values = [drawn(*shape) for shape in shapes]
    given = [layers.tf.constant(value) for value in values]
    arguments = given[0] if len(given) == 1 else given
    if mask is not None:
        mask = numpy.array(mask, bool)
        call["mask"] = [None, layers.tf.constant(mask)]
    made(arguments, **call)
    weights = [numpy.round(0.6 * drawn(*weight.shape), 2) for weight in made.get_weights()]
    made.set_weights(weights)
    with layers.tf.GradientTape() as tape:
        for value in given:
            tape.watch(value)
        output = made(arguments, **call)
        total = layers.tf.reduce_sum(layers.tf.square(output))
    gradients = tape.gradient(total, given + [weight.value for weight in made.trainable_weights])
    return {"class": kind, "options": options, "inputs": values + ([] if mask is None else [mask]), "weights": weights,
            "output": output.numpy(),
            "gradients": [layers.tf.convert_to_tensor(gradient).numpy() for gradient in gradients]}


def there_and_back(options, tokens):
    """Tokens to vectors, and these in reverse to scores of all tokens."""
    options = {"input_dim": 4, "output_dim": 3} | options
    made = keras.layers.ReversibleEmbedding(**options)
    made(made(tokens), reverse=True)
    weights = [drawn(*weight.shape) for weight in made.get_weights()]
    made.set_weights(weights)
    with layers.tf.GradientTape() as tape:
        output = made(made(tokens), reverse=True)
        total = layers.tf.reduce_sum(layers.tf.square(output))
    gradients = tape.gradient(total, [weight.value for weight in made.trainable_weights])
    return {"class": "ReversibleEmbedding", "options": options, "inputs": [tokens], "weights": weights,
            "output": output.numpy(),
            "gradients": [layers.tf.convert_to_tensor(gradient).numpy() for gradient in gradients]}


def main():
    for kind, options, shapes, *note in LAYERS:
        case("layers", titled(kind, options, *note), layers.layer, kind, options, shapes)
    for number, (kind, options, shapes, mask) in enumerate(SCORES):
        case("layers", titled(kind, options, f"number {number}" + (" masked" if mask else "")), called, kind,
             options, shapes, mask)
    for kind, options, shape in CROPS:
        case("layers", titled(kind, options, f"of {shape[1]} x {shape[2]}"), called, kind, options, [shape],
             training=False)
    for options in REVERSED:
        case("layers", titled("ReversibleEmbedding", options), there_and_back, options, TOKENS)
    for options, shape in NORMALIZED:
        case("batch_normalization", titled("BatchNormalization", options, "training"), layers.training_steps, options,
             shape)
    for kind, options, shape in RANDOM:
        case("random", titled(kind, options, "random"), layers.moments, kind, options, shape)
    write(__file__)


if __name__ == "__main__":
    main()
