"""Models whose inputs, outputs, labels and weights of examples are dictionaries: what fit, evaluate and predict give,
and in which order values are."""

from values import case, drawn, keras, numpy, write

L = keras.layers
SPARSE = "sparse_categorical_crossentropy"
LOSSES = {"size": "mse", "kind": SPARSE}
# In the order of a model's lists.
SIDES = {"inputs": ["left", "right"], "outputs": ["size", "kind"]}


def sided(values, side, by_name):
    return values if by_name else [values[name] for name in SIDES[side]]


def model_of(form):
    inputs = {name: keras.Input((width,), name=name) for name, width in (("right", 2), ("left", 3))}
    both = L.Concatenate()([inputs["left"], inputs["right"]])
    prefix = form.get("prefix", "")  # other names of layers than of outputs
    outputs = {"size": L.Dense(1, name=prefix + "size")(both),
               "kind": L.Dense(3, activation="softmax", name=prefix + "kind")(both)}
    return keras.Model(sided(inputs, "inputs", "inputs" in form["named"]),
                       sided(outputs, "outputs", "outputs" in form["named"]))


# Batches are of one size: of a loss of one of several outputs, Keras shows the mean over batches and not over examples.
def trained(form, weighted=False, vectors=False, **compiled):
    x = {"left": drawn(8, 3), "right": drawn(8, 2)}
    y = {"size": drawn(8, 1), "kind": drawn(8, 3) if vectors else numpy.arange(8) * 2 % 3}
    weights = {name: numpy.abs(drawn(8)) for name in y} if weighted else None
    model = model_of(form)
    start = [drawn(*weight.shape) for weight in model.weights]
    model.set_weights(start)
    model.compile(keras.optimizers.SGD(0.1), **{"loss": LOSSES} | compiled)
    given = (sided(x, "inputs", "x" in form["named"]), sided(y, "outputs", "y" in form["named"]))
    factors = {"sample_weight": sided(weights, "outputs", "y" in form["named"])} if weighted else {}
    history = model.fit(*given, batch_size=4, epochs=2, shuffle=False, verbose=0, **factors)
    predicted = model.predict(given[0], verbose=0)
    return {"form": form, "x": x, "y": y, "weights": weights, "start": start, "compiled": {"loss": LOSSES} | compiled,
            "paths": [weight.path for weight in model.weights], "history": history.history,
            "evaluated": model.evaluate(*given, verbose=0, return_dict=True, **factors), "after": model.get_weights(),
            "is_named": isinstance(predicted, dict),
            "predicted": predicted if isinstance(predicted, dict) else dict(zip(SIDES["outputs"], predicted)),
            "inputs": [symbol.name for symbol in model.inputs], "outputs": [symbol.shape[-1] for symbol in model.outputs]}


def form(*named, **more):
    return {"named": list(named)} | more


ALL = form("inputs", "outputs", "x", "y")
case("models", "all by name", trained, ALL)
case("models", "names of outputs that no layer has", trained, form(*ALL["named"], prefix="head_"))
case("models", "names of outputs alone", trained, form("outputs", "y"))
case("models", "names of inputs alone", trained, form("inputs", "x"))
case("models", "a list's names", trained, form("x", "y"))
case("models", "labels in a list, in the order of names", trained, ALL, loss={"kind": SPARSE, "size": "mse"})
case("models", "factors of losses", trained, ALL, loss_weights={"size": 0.3, "kind": 2.0})
case("models", "one loss for all outputs", trained, ALL, vectors=True, loss="mae")
case("models", "metrics by name", trained, ALL, metrics={"kind": ["accuracy"], "size": ["mae", "mse"]})
case("models", "metrics of one output", trained, form(*ALL["named"], prefix="head_"), metrics={"kind": "accuracy"})
case("models", "a list's metrics, one each", trained, form(), loss=["mse", SPARSE], metrics=["mae", "accuracy"])
case("models", "a list's metrics, a list each", trained, form("x"), loss=["mse", SPARSE],
     metrics=[["mae", "mse"], ["accuracy"]])
case("models", "a list of metrics in the order of names", trained, ALL, metrics=["accuracy", "mae"])
case("models", "weights of examples", trained, ALL, weighted=True, weighted_metrics={"size": ["mae"], "kind": ["accuracy"]})
case("models", "a loss for one output", trained, ALL, loss={"kind": SPARSE})
case("models", "factors of losses in the order of names", trained, ALL, loss_weights=[2.0, 0.3])

write(__file__)
