"""Writes reference_symbols_values.lua: models of operators on symbols, a shared layer, a custom layer and two outputs with
losses by name, in Keras. Run by hand, in the private environment; conformance_symbols_test.lua holds gpubench against
the file, without Python."""

import pathlib

from reference import drawn, keras, lua, tf


class Scaled(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(name="scale", shape=(shape[-1],), initializer="ones")

    def call(self, x):
        return x * self.scale


def model():
    a, b = keras.Input((3,)), keras.Input((3,))
    shared = keras.layers.Dense(4, name="shared", activation=lambda x: tf.maximum(x, 0.1 * x))
    first, second = shared(a), shared(b)
    joined = keras.ops.concatenate([first * 2 - second, keras.ops.mean(first, axis=-1, keepdims=True)], axis=-1)
    scaled = Scaled(name="scaled")(joined)
    outputs = [
        keras.layers.Dense(2, name="points")(keras.layers.Lambda(lambda x: x / (1 + keras.ops.abs(x)))(scaled)),
        keras.layers.Dense(3, name="kind", activation="softmax")(-scaled),
    ]
    return keras.Model([a, b], outputs)


def main():
    made = model()
    made.set_weights([drawn(*weight.shape) for weight in made.get_weights()])
    a, b, points = drawn(6, 3), drawn(6, 3), drawn(6, 2)
    kinds = [0, 1, 2, 2, 1, 0]
    start = made.get_weights()
    predicted = made.predict([a, b], verbose=0)
    made.compile(
        optimizer=keras.optimizers.SGD(0.1),
        loss={"points": "mse", "kind": "sparse_categorical_crossentropy"},
        metrics={"kind": ["accuracy"]},
    )
    history = made.fit([a, b], [points, tf.constant(kinds)], batch_size=6, epochs=2, shuffle=False, verbose=0).history
    values = {
        "a": a,
        "b": b,
        "points": points,
        "kinds": kinds,
        "names": [weight.path for weight in made.weights],
        "start": start,
        "predicted": predicted,
        "history": {name: list(figures) for name, figures in history.items()},
        "after": made.get_weights(),
        "parameters": made.count_params(),
    }
    text = f"-- Written by reference_symbols.py from Keras {keras.__version__}. Do not edit.\nreturn {lua(values)}\n"
    pathlib.Path(__file__).with_name("reference_symbols_values.lua").write_text(text)


if __name__ == "__main__":
    main()
