"""Sequences: states of recurrent layers and cells, and masks that travel through layers, losses and metrics."""

from values import case, drawn, keras, numpy, tf, titled, write

L = keras.layers
# Masked in the middle, at the start and end, and everywhere.
MASK = numpy.array([[1, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]], bool)
TOKENS = numpy.array([[3, 1, 0, 4], [0, 2, 2, 0], [1, 4, 3, 2]], numpy.int64)
OTHERS = numpy.array([[2, 0, 3, 0], [1, 1, 0, 4], [0, 3, 4, 1]], numpy.int64)
STATE, SEQUENCE = {"return_state": True}, {"return_sequences": True}
BACK = {"go_backwards": True}

# Class, options, sizes of the states (lists of lists as Keras nests them), whether they are given, whether steps are
# masked, and the wrapped layer or the cells.
STATES = [
    ("LSTM", {"units": 2} | STATE, [2, 2], False, False),
    ("LSTM", {"units": 2} | STATE, [2, 2], True, False),
    ("LSTM", {"units": 2} | STATE | SEQUENCE, [2, 2], True, True),
    ("LSTM", {"units": 3} | SEQUENCE | BACK, [3, 3], True, True),
    ("LSTM", {"units": 2}, [2, 2], True, True),
    ("LSTM", {"units": 2, "use_bias": False} | STATE | BACK, [2, 2], True, False),
    ("LSTM", {"units": 2, "activation": "relu", "recurrent_activation": "hard_sigmoid"} | STATE, [2, 2], True, True),
    ("LSTM", {"units": 2, "activation": "softsign"} | SEQUENCE, [2, 2], False, True),
    ("LSTM", {"units": 2, "zero_output_for_mask": True} | SEQUENCE, [2, 2], True, True),
    ("LSTM", {"units": 2, "zero_output_for_mask": True}, [2, 2], True, True),
    ("GRU", {"units": 2} | STATE, [2], False, True),
    ("GRU", {"units": 2} | STATE | SEQUENCE, [2], True, False),
    ("GRU", {"units": 3} | SEQUENCE | BACK, [3], True, True),
    ("GRU", {"units": 2, "reset_after": False} | STATE | SEQUENCE, [2], True, True),
    ("GRU", {"units": 2, "reset_after": False, "use_bias": False}, [2], False, False),
    ("GRU", {"units": 2, "activation": "elu", "use_bias": False} | BACK, [2], True, False),
    ("SimpleRNN", {"units": 2}, [2], False, False),
    ("SimpleRNN", {"units": 2} | STATE | SEQUENCE, [2], True, True),
    ("SimpleRNN", {"units": 3, "activation": "relu", "use_bias": False} | SEQUENCE | BACK, [3], True, True),
    ("SimpleRNN", {"units": 2, "activation": "linear", "zero_output_for_mask": True} | SEQUENCE, [2], False, True),
    ("Bidirectional", {}, [2, 2, 2, 2], True, True, ("LSTM", {"units": 2} | STATE | SEQUENCE)),
    ("Bidirectional", {"merge_mode": "sum"}, [2, 2], True, True, ("GRU", {"units": 2} | STATE)),
    ("Bidirectional", {"merge_mode": "ave"}, [2, 2], False, True, ("SimpleRNN", {"units": 2} | SEQUENCE)),
    ("Bidirectional", {"merge_mode": "mul"}, [2, 2], True, False, ("GRU", {"units": 2, "reset_after": False})),
    ("RNN", STATE | SEQUENCE, [2, 2], True, True, ("LSTMCell", {"units": 2})),
    ("RNN", STATE, [2], True, False, ("GRUCell", {"units": 2, "reset_after": False})),
    ("RNN", SEQUENCE | BACK, [3], False, True, ("SimpleRNNCell", {"units": 3, "activation": "relu"})),
    ("RNN", STATE | SEQUENCE, [[2, 2], 3], True, True, ("LSTMCell", {"units": 2}), ("GRUCell", {"units": 3})),
    ("RNN", {}, [2, 3], False, False, ("SimpleRNNCell", {"units": 2}), ("SimpleRNNCell", {"units": 3})),
    ("RNN", {"zero_output_for_mask": True} | SEQUENCE, [[2, 2], [2, 2]], False, True, ("LSTMCell", {"units": 2}),
     ("LSTMCell", {"units": 2, "use_bias": False})),
]
CELLS = [
    ("LSTMCell", {"units": 2}, [2, 2]),
    ("LSTMCell", {"units": 3, "activation": "relu", "use_bias": False, "unit_forget_bias": False}, [3, 3]),
    ("GRUCell", {"units": 2}, [2]),
    ("GRUCell", {"units": 2, "reset_after": False}, [2]),
    ("SimpleRNNCell", {"units": 3}, [3]),
    ("SimpleRNNCell", {"units": 2, "activation": "sigmoid", "use_bias": False}, [2]),
]


def outcome(made, x, states, computed):
    """Outputs and the gradients of the sum of their squares, with weights of a few digits."""
    flat = tf.nest.flatten(states)
    computed()
    made.set_weights([numpy.round(0.6 * drawn(*weight.shape), 2) for weight in made.get_weights()])
    with tf.GradientTape() as tape:
        tape.watch([x] + flat)
        outputs = tf.nest.flatten(computed())
        total = sum(tf.reduce_sum(tf.square(output)) for output in outputs)
    sources = [x] + flat + [weight.value for weight in made.trainable_weights]
    return {"x": x.numpy(), "states": [state.numpy() for state in flat], "weights": made.get_weights(),
            "outputs": [output.numpy() for output in outputs],
            "gradients": [gradient.numpy() for gradient in tape.gradient(total, sources)]}


def recurrent(kind, options, sizes, given, masked, *inner):
    parts = [getattr(L, name)(**more) for name, more in inner]
    wrapped = [parts if len(parts) > 1 else parts[0]] if parts else []
    made = getattr(L, kind)(*wrapped, **options)
    x = tf.constant(drawn(3, 4, 2))
    states = tf.nest.map_structure(lambda size: tf.constant(drawn(3, size)), sizes) if given else []
    call = ({"initial_state": states} if given else {}) | ({"mask": tf.constant(MASK)} if masked else {})
    fields = {"class": kind, "options": options, "inner": [{"class": name, "options": more} for name, more in inner]}
    return fields | ({"mask": MASK} if masked else {}) | outcome(made, x, states, lambda: made(x, **call))


def cell(kind, options, sizes):
    made = getattr(L, kind)(**options)
    x = tf.constant(drawn(3, 2))
    states = [tf.constant(drawn(3, size)) for size in sizes]
    return {"class": kind, "options": options} | outcome(made, x, states, lambda: made(x, states))


def stateful(kind, batches):
    """Outputs of batches one after the other, and of the last one again from zero."""
    inputs = keras.Input((3, 2), batch_size=2)
    made = getattr(L, kind)(2, stateful=True, return_sequences=True)
    model = keras.Model(inputs, made(inputs))
    model.set_weights([numpy.round(0.6 * drawn(*weight.shape), 2) for weight in model.get_weights()])
    given = [drawn(2, 3, 2) for _ in range(batches)]
    outputs = [model(values).numpy() for values in given]
    made.reset_state()
    return {"class": kind, "inputs": given, "weights": model.get_weights(), "outputs": outputs,
            "again": model(given[-1]).numpy()}


# ---- Masks: each net is written in sequences_test.lua too, under the same name

def embedded(tokens, name, mask=True):
    return L.Embedding(5, 3, mask_zero=mask, name=name)(tokens)


def pooled(x):
    return L.GlobalAveragePooling1D()(x)


def merged(kind, second=True, **options):
    return lambda a, b: pooled(kind(name="merge", **options)([embedded(a, "a"), embedded(b, "b", second)]))


def attended(a, b, residual=False, kind=None, causal=False):
    x = embedded(a, "a")
    layer = kind or L.MultiHeadAttention(2, 2, name="attention")
    y = layer(x, embedded(b, "b"), use_causal_mask=causal) if b is not None else layer(
        x, x, use_causal_mask=causal)
    return pooled(L.Add()([x, y]) if residual else y)


def explicit(layer, a, b):
    return pooled(L.LSTM(2, name="lstm", **SEQUENCE)(layer(a), mask=layer.compute_mask(b)))


def grouped():
    return L.GroupQueryAttention(2, 2, 1, name="attention")


NETS = {
    "LSTM and pooling": lambda a, b: pooled(L.LSTM(2, name="lstm", **SEQUENCE)(embedded(a, "a"))),
    "LSTM and GRU": lambda a, b: L.GRU(2, name="gru")(L.LSTM(2, name="lstm", **SEQUENCE)(embedded(a, "a"))),
    "Dense, Activation, Dropout and LayerNormalization pass": lambda a, b: pooled(L.LayerNormalization(name="norm")(
        L.Dropout(0.5)(L.Activation("tanh")(L.Dense(3, name="dense")(embedded(a, "a")))))),
    "ReLU, LeakyReLU, ELU and Rescaling pass": lambda a, b: pooled(L.Rescaling(2.0, 1.0)(
        L.ELU()(L.LeakyReLU()(L.ReLU(negative_slope=0.5)(embedded(a, "a")))))),
    "Conv1D drops": lambda a, b: pooled(L.Conv1D(2, 2, name="conv")(embedded(a, "a"))),
    "Lambda drops": lambda a, b: pooled(L.Lambda(lambda x: x * 2)(embedded(a, "a"))),
    "RMSNormalization drops": lambda a, b: pooled(L.RMSNormalization(name="norm")(embedded(a, "a"))),
    "an operator drops": lambda a, b: pooled(embedded(a, "a") * 2),
    "Masking": lambda a, b: pooled(L.Dense(2, name="dense")(L.Masking(mask_value=0.25)(embedded(a, "a", False) * 0
                                                                                      + 0.25))),
    "Bidirectional": lambda a, b: pooled(L.Bidirectional(L.GRU(2, **SEQUENCE), name="both")(embedded(a, "a"))),
    "TimeDistributed": lambda a, b: pooled(L.TimeDistributed(L.Dense(2), name="steps")(embedded(a, "a"))),
    "go_backwards": lambda a, b: pooled(L.GRU(2, name="gru", **SEQUENCE, **BACK)(embedded(a, "a"))),
    "Add": merged(L.Add), "Average": merged(L.Average), "Subtract": merged(L.Subtract),
    "Multiply": merged(L.Multiply), "Maximum": merged(L.Maximum), "Minimum": merged(L.Minimum),
    "Concatenate": merged(L.Concatenate), "Concatenate of steps": merged(L.Concatenate, axis=1),
    "Add of one mask": merged(L.Add, False), "Multiply of one mask": merged(L.Multiply, False),
    "Maximum of one mask": merged(L.Maximum, False), "Minimum of one mask": merged(L.Minimum, False),
    "Concatenate of one mask": merged(L.Concatenate, False),
    "Concatenate of steps, of one mask": merged(L.Concatenate, False, axis=1),
    "attention": lambda a, b: attended(a, None),
    "attention and a residual": lambda a, b: attended(a, None, True),
    "causal attention": lambda a, b: attended(a, None, causal=True),
    "attention to others": lambda a, b: attended(a, b),
    "grouped attention and a residual": lambda a, b: attended(a, None, True, grouped()),
    "grouped causal attention to others": lambda a, b: attended(a, b, False, grouped(), True),
    "PReLU, GroupNormalization and Identity pass": lambda a, b: pooled(L.Identity()(
        L.GroupNormalization(1, name="norm")(L.PReLU(name="slopes")(embedded(a, "a"))))),
    "noise and dropping of channels pass": lambda a, b: pooled(L.AlphaDropout(0.5)(L.GaussianDropout(0.5)(
        L.GaussianNoise(1.0)(L.SpatialDropout1D(0.5)(embedded(a, "a")))))),
    "Attention": lambda a, b: pooled(L.Attention()([embedded(a, "a"), embedded(b, "b")])),
    "Attention by sums": lambda a, b: pooled(L.Attention(score_mode="concat", name="attention")(
        [embedded(a, "a"), embedded(b, "b")])),
    "causal AdditiveAttention": lambda a, b: pooled(L.AdditiveAttention(name="attention")(
        [embedded(a, "a")] * 2, use_causal_mask=True)),
    "Dot ends": lambda a, b: pooled(L.Dot(2)([embedded(a, "a"), embedded(b, "b")])),
    "UpSampling1D drops": lambda a, b: pooled(L.UpSampling1D(2)(embedded(a, "a"))),
    "ZeroPadding1D drops": lambda a, b: pooled(L.ZeroPadding1D(1)(embedded(a, "a"))),
    "Cropping1D drops": lambda a, b: pooled(L.Cropping1D(1)(embedded(a, "a"))),
    "Conv1DTranspose drops": lambda a, b: pooled(L.Conv1DTranspose(2, 2, name="conv")(embedded(a, "a"))),
    "an explicit mask": lambda a, b: explicit(L.Embedding(5, 3, mask_zero=True, name="a"), a, b),
}


def named_weights(model):
    """Layers' names, and their weights with a few digits."""
    names, weights = [], []
    for layer in model.layers:
        for weight in layer.trainable_weights:
            names.append(layer.name)
            weight.assign(numpy.round(0.6 * drawn(*weight.shape), 2))
            weights.append(weight)
    return names, weights


def masked_net(net):
    inputs = [keras.Input((4,), dtype="int64", name=name) for name in ("tokens", "others")]
    output = NETS[net](*inputs)
    model = keras.Model(inputs, output)
    names, weights = named_weights(model)
    start = [weight.numpy() for weight in weights]
    with tf.GradientTape() as tape:
        output = model([TOKENS, OTHERS])
        total = tf.reduce_sum(tf.square(output))
    gradients = tape.gradient(total, [weight.value for weight in weights])
    return {"net": net, "layers": names, "weights": start, "output": output.numpy(),
            "gradients": [tf.convert_to_tensor(gradient).numpy() for gradient in gradients]}


def normalized(shape, mask):
    made = L.BatchNormalization(momentum=0.7)
    made.build(shape)
    made.set_weights([numpy.abs(drawn(*weight.shape)) + numpy.float32(0.3) for weight in made.get_weights()])
    start, x = made.get_weights(), tf.constant(drawn(*shape))
    with tf.GradientTape() as tape:
        tape.watch(x)
        output = made(x, training=True, mask=tf.constant(mask))
        total = tf.reduce_sum(tf.square(output) * drawn(*shape[1:]))
    del total
    return {"x": x.numpy(), "mask": mask, "weights": start, "output": output.numpy(), "after": made.get_weights()}


def softened(shape, mask):
    x = drawn(*shape)
    return {"x": x, "mask": mask, "output": L.Softmax()(x, mask=tf.constant(mask)).numpy()}


# Name, units and activation of the end, loss, metrics, metrics with weights, whether steps have weights.
TRAINED = [
    ("tags", 3, "softmax", "sparse_categorical_crossentropy", ["accuracy", "sparse_top_k_categorical_accuracy"], [],
     False),
    ("tags with weights", 3, "softmax", "sparse_categorical_crossentropy", ["accuracy"], ["accuracy"], True),
    ("numbers", 2, None, "mean_squared_error", ["mean_absolute_error", "root_mean_squared_error"], [], False),
    ("numbers with weights", 2, None, "mean_absolute_error", ["mean_squared_error"], ["mean_squared_error"], True),
    ("a sum", 2, None, "sum", ["mean_squared_error"], [], False),
    ("directions", 2, None, "cosine_similarity", ["cosine_similarity"], [], False),
    ("signs", 1, "sigmoid", "binary_crossentropy", ["binary_accuracy", "precision"], [], False),
]


def trained(units, activation, loss, metrics, weighted, has_weights):
    """Figures of an evaluation in batches of 2 and 1, then those of one epoch of training, and the weights after it."""
    tokens = keras.Input((4,), dtype="int64")
    x = L.LSTM(2, name="lstm", **SEQUENCE)(embedded(tokens, "a"))
    model = keras.Model(tokens, L.Dense(units, activation=activation, name="last")(x))
    names, weights = named_weights(model)
    start = [weight.numpy() for weight in weights]
    if loss.startswith("sparse"):
        labels = numpy.array([[2, 1, 0, 2], [0, 1, 1, 0], [2, 0, 1, 2]], numpy.int64)
    elif loss.startswith("binary"):
        labels = numpy.array([[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]], numpy.float32)[..., None]
    else:
        labels = drawn(3, 4, units)
    of_steps = numpy.round(numpy.abs(drawn(3, 4)), 1) if has_weights else None
    named = {"root_mean_squared_error": keras.metrics.RootMeanSquaredError, "precision": keras.metrics.Precision,
             "sparse_top_k_categorical_accuracy": lambda: keras.metrics.SparseTopKCategoricalAccuracy(k=2)}
    made = [named[name]() if name in named else name for name in metrics]
    model.compile(optimizer=keras.optimizers.SGD(0.1), metrics=made, weighted_metrics=weighted or None,
                  loss=keras.losses.MeanSquaredError(reduction="sum") if loss == "sum" else loss)
    evaluated = model.evaluate(TOKENS, labels, sample_weight=of_steps, batch_size=2, verbose=0,
                               return_dict=True)
    fitted = model.fit(TOKENS, labels, sample_weight=of_steps, batch_size=2, shuffle=False, verbose=0).history
    shown = ["loss", *metrics, *("weighted_" + name if "weighted_" + name in fitted else name for name in weighted)]
    return {"units": units, "activation": activation, "loss": loss, "metrics": metrics, "weighted": weighted,
            "labels": labels, "step_weights": of_steps, "layers": names, "start": start,
            "evaluated": [float(evaluated[name]) for name in shown],
            "fitted": [float(fitted[name][0]) for name in shown],
            "after": [weight.numpy() for weight in weights]}


def main():
    for kind, options, sizes, given, masked, *inner in STATES:
        note = ", ".join(["states given"] * given + ["masked"] * masked + [titled(*pair) for pair in inner])
        case("recurrent", titled(kind, options, note), recurrent, kind, options, sizes, given, masked, *inner)
    for kind, options, sizes in CELLS:
        case("cells", titled(kind, options), cell, kind, options, sizes)
    for kind in ("LSTM", "GRU", "SimpleRNN"):
        case("stateful", f"{kind} keeps its states", stateful, kind, 3)
    for net in NETS:
        case("masks", net, masked_net, net)
    case("normalized", "BatchNormalization of masked steps", normalized, (3, 4, 2), MASK)
    case("normalized", "BatchNormalization of masked pixels", normalized, (1, 2, 3, 2), MASK[None, :2, :3])
    case("softened", "Softmax of masked numbers", softened, (3, 4), MASK)
    case("softened", "Softmax of masked numbers of the last axis", softened, (2, 3, 4), MASK)
    for name, *settings in TRAINED:
        case("trained", name, trained, *settings)
    write(__file__)


if __name__ == "__main__":
    main()
