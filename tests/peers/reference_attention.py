"""Writes reference_attention_values.lua: what Keras computes in layers of transformers, with the same weights. Run by
hand, as reference.py; conformance_attention_test.lua holds gpubench against the file, without Python."""

import pathlib

from reference import drawn, keras, lua, numpy, tf


def gradients(layer, arguments, options):
    """The output, and the gradients of the sum of its squares by the floating inputs and by the weights."""
    floating = [value for value in arguments if value.dtype.is_floating]
    with tf.GradientTape() as tape:
        for value in floating:
            tape.watch(value)
        output = layer(*arguments, **options)
        total = tf.reduce_sum(tf.square(output))
    found = tape.gradient(total, floating + layer.trainable_weights)
    found = [tf.convert_to_tensor(value).numpy() for value in found]
    return output.numpy(), found[: len(floating)], found[len(floating):]


def case(kind, options, inputs, call=None, mask=None):
    """`call`: options of Keras' call, which are options of the layer here."""
    layer = getattr(keras.layers, kind)(**options)
    given = [tf.constant(values) for values in inputs]
    called = dict(call or {})
    if mask is not None:
        called["attention_mask"] = tf.constant(mask)
    layer(*given, **called)
    weights = [numpy.round(drawn(*weight.shape) * 0.5, 2) for weight in layer.get_weights()]
    layer.set_weights(weights)
    output, by_inputs, by_weights = gradients(layer, given, called)
    row = {"class": kind, "options": options | (call or {}), "inputs": list(inputs), "weights": weights,
           "output": output, "input_gradients": by_inputs, "weight_gradients": by_weights}
    return row | ({"mask": mask.astype(int)} if mask is not None else {})


def cases():
    lower = numpy.tril(numpy.ones((1, 3, 3), bool))
    padding = numpy.array([[[True, True, False, True]]])
    x, memory = drawn(1, 3, 4), drawn(1, 4, 3)
    return [
        case("LayerNormalization", {}, [drawn(2, 4)]),
        case("LayerNormalization", {"epsilon": 0.1, "center": False}, [drawn(1, 2, 3)]),
        case("LayerNormalization", {"scale": False}, [drawn(2, 3) + 5]),
        case("RMSNormalization", {}, [drawn(2, 4)]),
        case("RMSNormalization", {"epsilon": 0.1}, [drawn(1, 2, 3)]),
        case("Embedding", {"input_dim": 4, "output_dim": 2}, [numpy.array([[3, 0, 3]], numpy.int32)]),
        case("MultiHeadAttention", {"num_heads": 2, "key_dim": 2}, [x, x]),
        case("MultiHeadAttention", {"num_heads": 1, "key_dim": 2, "value_dim": 3, "use_bias": False}, [x, memory]),
        case("MultiHeadAttention", {"num_heads": 2, "key_dim": 1, "output_shape": 2}, [x, memory, drawn(1, 4, 2)]),
        case("MultiHeadAttention", {"num_heads": 2, "key_dim": 2}, [x, x], call={"use_causal_mask": True}),
        case("MultiHeadAttention", {"num_heads": 2, "key_dim": 2}, [x, x], mask=lower),
        case("MultiHeadAttention", {"num_heads": 1, "key_dim": 3}, [x, memory], mask=padding),
        case("GroupQueryAttention", {"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2}, [x, x]),
        case("GroupQueryAttention", {"head_dim": 2, "num_query_heads": 2, "num_key_value_heads": 1, "use_bias": False},
             [x, memory], call={"use_causal_mask": True}),
    ]


def main():
    rows = cases()
    path = pathlib.Path(__file__).with_name("reference_attention_values.lua")
    head = (f"-- Written by reference_attention.py from Keras {keras.__version__} on TensorFlow {tf.__version__}. "
            "Do not edit.\n")
    path.write_text(f"{head}return {lua(rows)}\n")
    print(f"wrote {path.name}: {len(rows)} cases")


if __name__ == "__main__":
    main()
