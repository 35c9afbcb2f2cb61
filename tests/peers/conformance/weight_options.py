"""Regularizers of activities and constraints of weights: losses of fit and evaluate, and the weights that some updates
leave."""

import numpy

from values import case, drawn, keras, titled, write

# Options of a layer, by its class and its input's shape.
OPTIONS = [
    ("Dense", {"units": 3}, {"activity_regularizer": ("L2", {"l2": 0.05})}, (4,)),
    ("Dense", {"units": 3, "activation": "relu"}, {"activity_regularizer": ("L1", {"l1": 0.02})}, (4,)),
    ("Dense", {"units": 2}, {"activity_regularizer": ("L1L2", {"l1": 0.01, "l2": 0.03}),
                             "kernel_regularizer": ("L2", {"l2": 0.1})}, (3,)),
    ("Conv1D", {"filters": 2, "kernel_size": 2}, {"activity_regularizer": ("L2", {"l2": 0.05})}, (4, 2)),
    ("Dense", {"units": 3}, {"kernel_constraint": ("MaxNorm", {"max_value": 0.5})}, (4,)),
    ("Dense", {"units": 3}, {"kernel_constraint": ("MaxNorm", {"max_value": 0.5, "axis": 1})}, (4,)),
    ("Dense", {"units": 3}, {"kernel_constraint": ("MaxNorm", {}), "bias_constraint": ("NonNeg", {})}, (4,)),
    ("Dense", {"units": 3}, {"kernel_constraint": ("UnitNorm", {})}, (4,)),
    ("Dense", {"units": 3}, {"kernel_constraint": ("NonNeg", {})}, (4,)),
    ("Dense", {"units": 3}, {"kernel_constraint": ("MinMaxNorm", {"min_value": 0.8, "max_value": 1.1})}, (4,)),
    ("Dense", {"units": 3}, {"kernel_constraint": ("MinMaxNorm", {"min_value": 0.5, "rate": 0.5})}, (4,)),
    ("Conv1D", {"filters": 2, "kernel_size": 2}, {"kernel_constraint": ("UnitNorm", {"axis": [0, 1]})}, (4, 2)),
    ("LSTM", {"units": 2}, {"kernel_constraint": ("MaxNorm", {"max_value": 0.5}),
                            "recurrent_constraint": ("UnitNorm", {}), "bias_constraint": ("NonNeg", {})}, (3, 2)),
    ("LayerNormalization", {}, {"gamma_constraint": ("NonNeg", {}), "beta_constraint": ("MaxNorm", {"max_value": 0.1})},
     (4,)),
]


def fitted(kind, options, more, shape):
    made = {}
    for name, (of, arguments) in more.items():
        made[name] = getattr(keras.constraints if name.endswith("constraint") else keras.regularizers, of)(**arguments)
    model = keras.Sequential([keras.Input(shape), getattr(keras.layers, kind)(**options, **made), keras.layers.Flatten(),
                              keras.layers.Dense(1)])
    weights = [numpy.round(0.6 * drawn(*weight.shape), 2) for weight in model.get_weights()]
    model.set_weights(weights)
    model.compile(optimizer=keras.optimizers.SGD(0.2), loss="mse")
    x, y = drawn(6, *shape), drawn(6, 1)
    evaluated = model.evaluate(x, y, batch_size=6, verbose=0)
    history = model.fit(x, y, batch_size=3, epochs=2, shuffle=False, verbose=0).history["loss"]
    return {"class": kind, "options": options,
            "more": {name: {"class": of, "options": arguments} for name, (of, arguments) in more.items()}, "x": x,
            "y": y, "weights": weights, "evaluated": evaluated, "losses": history, "after": model.get_weights()}


def main():
    for kind, options, more, shape in OPTIONS:
        note = " ".join(f"{name} {titled(*given)}" for name, given in more.items())
        case("fitted", titled(kind, options, note), fitted, kind, options, more, shape)
    write(__file__)


if __name__ == "__main__":
    main()
