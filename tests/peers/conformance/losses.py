"""Losses with their gradients, of alike and of weighted examples, and metrics over two batches."""

from values import case, drawn, keras, numpy, probabilities, tf, titled, uniform, write

CLASSES = numpy.array([0, 3, 1])
ONE_HOT = numpy.eye(4, dtype=numpy.float32)[CLASSES]
SOFT = numpy.array([[0.5, 0.25, 0.25, 0], [0, 1, 0, 0], [0.25, 0.25, 0.25, 0.25]], numpy.float32)
BITS = numpy.array([[1, 0], [0, 1], [1, 1]], numpy.float32)
CHANCES = numpy.array([[0.9, 0.2], [0.4, 0.6], [0.99, 0.01]], numpy.float32)
SHARES = probabilities(3, 4)
LOGITS, SUM, NONE = {"from_logits": True}, {"reduction": "sum"}, {"reduction": "none"}
W3 = numpy.array([0.5, 2, 0], numpy.float32)

# Class, options, labels, predictions (shapes are drawn), and what else: weights, a note, the activation of a model
# whose predictions they are; `saturated`: probabilities underflow unless the model's graph has activation and loss as
# one.
LOSSES = [
    ("CategoricalCrossentropy", {}, ONE_HOT, (3, 4), {"behind": "softmax", "note": "one class"}),
    ("CategoricalCrossentropy", {}, SOFT, (3, 4), {"behind": "softmax", "note": "soft labels"}),
    ("CategoricalCrossentropy", {}, ONE_HOT, 20 * drawn(3, 4), {"behind": "softmax", "saturated": True}),
    ("CategoricalCrossentropy", {}, ONE_HOT, SHARES, {"note": "probabilities"}),
    ("CategoricalCrossentropy", {}, ONE_HOT, 1.5 * SHARES, {"note": "not normalized"}),
    ("CategoricalCrossentropy", {}, ONE_HOT[:1], numpy.array([[0, 0.4, 0.5, 0.1]], numpy.float32),
     {"note": "chance of 0"}),
    ("CategoricalCrossentropy", LOGITS, ONE_HOT, 20 * drawn(3, 4), {"note": "large"}),
    ("CategoricalCrossentropy", LOGITS, SOFT, (3, 4), {"note": "soft labels"}),
    ("CategoricalCrossentropy", LOGITS | {"label_smoothing": 0.1}, ONE_HOT, (3, 4), {"weights": W3}),
    ("CategoricalCrossentropy", LOGITS | {"label_smoothing": 0.1} | SUM, ONE_HOT, (3, 4), {"weights": W3}),
    ("CategoricalCrossentropy", {"label_smoothing": 0.2}, ONE_HOT, SHARES, {"weights": W3}),
    ("SparseCategoricalCrossentropy", {}, CLASSES, (3, 4), {"behind": "softmax"}),
    ("SparseCategoricalCrossentropy", {}, CLASSES.reshape(3, 1), SHARES, {"note": "labels [batch, 1]"}),
    ("SparseCategoricalCrossentropy", LOGITS, CLASSES, (3, 4), {"weights": W3}),
    ("SparseCategoricalCrossentropy", LOGITS | NONE, CLASSES, (3, 4), {}),
    ("SparseCategoricalCrossentropy", LOGITS, numpy.array([[0, 4, 2], [1, 1, 3]]), (2, 3, 5),
     {"note": "sequences", "weights": numpy.array([[0.5, 2, 0], [1, 0.25, 3]], numpy.float32)}),
    ("BinaryCrossentropy", {}, BITS, CHANCES, {}),
    ("BinaryCrossentropy", {}, BITS[:2], numpy.array([[0, 1], [0, 1]], numpy.float32), {"note": "chances of 0 and 1"}),
    ("BinaryCrossentropy", LOGITS, BITS, 10 * drawn(3, 2), {"weights": W3}),
    ("BinaryCrossentropy", LOGITS | SUM, BITS, (3, 2), {"weights": W3}),
    ("BinaryCrossentropy", {"label_smoothing": 0.2}, BITS, CHANCES, {"weights": W3}),
    ("BinaryCrossentropy", LOGITS | {"label_smoothing": 0.2}, BITS, (3, 2), {"weights": W3}),
    ("MeanSquaredError", {}, (3, 4), (3, 4), {"weights": W3}),
    ("MeanSquaredError", SUM, (3, 4), (3, 4), {"weights": W3}),
    ("MeanSquaredError", NONE, (3, 4), (3, 4), {}),
    ("MeanSquaredError", {}, (2, 3, 4), (2, 3, 4), {"note": "sequences", "weights": numpy.abs(drawn(2, 3))}),
    ("MeanSquaredError", {}, (4, 1), (4, 1), {"note": "columns", "weights": numpy.abs(drawn(4))}),
    ("MeanSquaredError", {}, (4,), (4, 1), {"note": "labels [batch] of predictions [batch, 1]"}),
    ("MeanSquaredError", {"reduction": "mean_with_sample_weight"}, (3, 4), (3, 4), {"weights": W3}),
    ("MeanAbsoluteError", {}, (3, 4), (3, 4), {"weights": W3}),
    ("MeanAbsoluteError", SUM, (3, 4), (3, 4), {"weights": W3}),
    ("Huber", {}, (3, 4), 2 * drawn(3, 4), {"weights": W3}),
    ("Huber", {"delta": 0.5}, (3, 4), 2 * drawn(3, 4), {"weights": W3}),
    ("Huber", {"delta": 2.0} | SUM, 3 * drawn(3, 4), (3, 4), {"weights": W3}),
    ("KLDivergence", {}, SHARES, probabilities(3, 4), {"weights": W3}),
    ("KLDivergence", {}, ONE_HOT, probabilities(3, 4), {"note": "labels of 0", "weights": W3}),
    ("CosineSimilarity", {}, (3, 4), (3, 4), {"weights": W3}),
    ("CosineSimilarity", SUM, (3, 4), (3, 4), {}),
]


def made(values):
    return drawn(*values) if isinstance(values, tuple) else values


def loss(kind, options, labels, predictions, weights=None, behind=None, saturated=None, note=None):
    function, labels = getattr(keras.losses, kind)(**options), made(labels)
    given = tf.constant(made(predictions))

    @tf.function
    def compute():
        with tf.GradientTape() as tape:
            tape.watch(given)
            value = function(labels, keras.activations.get(behind)(given))
            total = tf.reduce_sum(value)
        return value, tape.gradient(total, given)

    value, gradient = compute()
    return {"class": kind, "options": options, "labels": labels, "predictions": given.numpy(), "value": value.numpy(),
            "gradient": gradient.numpy(), "behind": behind, "saturated": saturated, "weights": weights,
            "weighted": None if weights is None else function(labels, given, sample_weight=weights).numpy()}


FLAGS = numpy.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]], numpy.float32)
GUESSES = numpy.array([[0.9, 0.2, 0.4], [0.1, 0.7, 0.55], [0.3, 0.8, 0.5], [0.6, 0.1, 0.95], [0.35, 0.45, 0.2],
                       [0.7, 0.6, 0.65]], numpy.float32)
KINDS = numpy.array([0, 2, 1, 2, 1, 0])
KIND_FLAGS = numpy.eye(3, dtype=numpy.float32)[KINDS]
GUESSED = GUESSES / GUESSES.sum(-1, keepdims=True)
COLUMN, SCORES = FLAGS.reshape(-1, 1), uniform(18, 1)
TIES = numpy.array([[0.4, 0.4, 0.2], [0.3, 0.3, 0.3], [0.1, 0.8, 0.1]], numpy.float32)
W6, W18 = numpy.array([1, 2, 0.5, 0, 3, 1], numpy.float32), numpy.linspace(0.1, 1.8, 18).astype(numpy.float32)

METRICS = [
    ("Accuracy", {}, KINDS, KINDS[::-1].copy(), {"note": "class indices"}),
    ("BinaryAccuracy", {}, FLAGS, GUESSES, {}),
    ("BinaryAccuracy", {"threshold": 0.3}, FLAGS, GUESSES, {"weights": W6}),
    ("BinaryAccuracy", {}, numpy.array([[0.6], [0.3], [1.0]], numpy.float32),
     numpy.array([[0.9], [0.1], [0.8]], numpy.float32), {"note": "labels between 0 and 1"}),
    ("CategoricalAccuracy", {}, KIND_FLAGS, GUESSES, {"split": 4}),
    ("CategoricalAccuracy", {}, KIND_FLAGS, GUESSES, {"split": 4, "weights": W6}),
    ("SparseCategoricalAccuracy", {}, KINDS, GUESSES, {}),
    ("SparseCategoricalAccuracy", {}, KINDS, GUESSES, {"weights": W6}),
    ("SparseCategoricalAccuracy", {}, KINDS.reshape(3, 2), GUESSES.reshape(3, 2, 3), {"note": "sequences", "split": 2}),
    ("TopKCategoricalAccuracy", {"k": 2}, KIND_FLAGS, GUESSES, {}),
    ("TopKCategoricalAccuracy", {}, numpy.eye(7, dtype=numpy.float32)[[0, 6, 3, 2]], (4, 7), {}),
    ("TopKCategoricalAccuracy", {"k": 2}, KIND_FLAGS, GUESSES, {"weights": W6}),
    ("TopKCategoricalAccuracy", {"k": 1}, numpy.eye(3, dtype=numpy.float32)[[1, 2, 1]], TIES, {"note": "ties"}),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, KINDS, GUESSES, {}),
    ("SparseTopKCategoricalAccuracy", {"k": 1}, numpy.array([1, 2, 1]), TIES, {"note": "ties"}),
    ("MeanSquaredError", {}, FLAGS, GUESSES, {}),
    ("MeanSquaredError", {}, FLAGS, GUESSES, {"weights": W6}),
    ("RootMeanSquaredError", {}, FLAGS, GUESSES, {"split": 5}),
    ("RootMeanSquaredError", {}, FLAGS, GUESSES, {"weights": W6}),
    ("MeanAbsoluteError", {}, FLAGS, GUESSES, {"split": 1}),
    ("KLDivergence", {}, probabilities(4, 3), probabilities(4, 3), {}),
    ("CosineSimilarity", {}, FLAGS, GUESSES, {}),
    ("BinaryCrossentropy", {}, FLAGS, GUESSES, {}),
    ("CategoricalCrossentropy", {}, KIND_FLAGS, GUESSED, {}),
    ("SparseCategoricalCrossentropy", {}, KINDS, GUESSED, {"split": 4}),
    ("SparseCategoricalCrossentropy", {}, KINDS, GUESSED, {"weights": W6}),
    ("AUC", {}, COLUMN, SCORES, {}),
    ("AUC", {"curve": "PR"}, COLUMN, SCORES, {}),
    ("AUC", {"num_thresholds": 5}, COLUMN, SCORES, {}),
    ("AUC", {"num_thresholds": 5, "curve": "PR"}, COLUMN, SCORES, {}),
    ("AUC", {"num_thresholds": 10}, COLUMN, SCORES, {"weights": W18}),
    ("Precision", {}, FLAGS, GUESSES, {}),
    ("Precision", {"thresholds": 0.6}, FLAGS, GUESSES, {}),
    ("Precision", {"class_id": 1}, FLAGS, GUESSES, {}),
    ("Precision", {"thresholds": 0.7}, FLAGS, GUESSES, {"weights": W6}),
    ("Recall", {}, FLAGS, GUESSES, {}),
    ("Recall", {"thresholds": 0.35, "class_id": 0}, FLAGS, GUESSES, {}),
    ("Recall", {"class_id": 2}, FLAGS, GUESSES, {"split": 1}),
    ("F1Score", {}, KIND_FLAGS, GUESSES, {}),
    ("F1Score", {"average": "macro"}, KIND_FLAGS, GUESSES, {}),
    ("F1Score", {"average": "micro", "threshold": 0.5}, FLAGS, GUESSES, {}),
    ("F1Score", {"average": "weighted", "threshold": 0.5}, FLAGS, GUESSES, {}),
]


def metric(kind, options, labels, predictions, weights=None, split=None, note=None):
    figure, predictions = getattr(keras.metrics, kind)(**options), made(predictions)
    split = split or len(labels) // 2
    for part in (slice(None, split), slice(split, None)):
        figure.update_state(labels[part], predictions[part], sample_weight=None if weights is None else weights[part])
    return {"class": kind, "options": options, "labels": labels, "predictions": predictions, "split": split,
            "weights": weights, "result": numpy.array(figure.result())}


def accuracy_by_types(labels, predictions):
    """Of compile(metrics=["accuracy"]), which is gpubench's class Accuracy."""
    model = keras.Sequential([keras.Input(predictions.shape[1:]), keras.layers.Identity()])
    model.compile(loss="mse" if labels.shape == predictions.shape else "sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    return {"class": "Accuracy", "options": {}, "labels": labels, "predictions": predictions, "split": 4,
            "result": model.evaluate(predictions, labels, verbose=0, return_dict=True)["accuracy"]}


def mean():
    figure, values = keras.metrics.Mean(), drawn(5)
    figure.update_state(values[:2])
    figure.update_state(values[2:])
    return {"values": values, "result": float(figure.result())}


def main():
    for group, make, rows in (("losses", loss, LOSSES), ("metrics", metric, METRICS)):
        for kind, options, labels, predictions, more in rows:
            words = ["weighted"] * ("weights" in more) + ["saturated"] * ("saturated" in more) + [more.get("note", "")]
            name = titled(kind, options, " ".join(words).strip())
            case(group, name, make, kind, options, labels, predictions, **more)
    for note, labels, predictions in (("one-hot labels", KIND_FLAGS, GUESSES), ("sparse labels", KINDS, GUESSES),
                                      ("columns", COLUMN, SCORES)):
        case("metrics", f"Accuracy, {note}", accuracy_by_types, labels, predictions)
    case("means", "Mean", mean)
    write(__file__)


if __name__ == "__main__":
    main()
