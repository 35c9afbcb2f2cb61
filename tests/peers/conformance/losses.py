"""Losses with their gradients, of alike and of weighted examples, and metrics over two batches."""

from values import case, drawn, keras, numpy, probabilities, tf, titled, uniform, write

CLASSES = numpy.array([0, 3, 1])
ONE_HOT = numpy.eye(4, dtype=numpy.float32)[CLASSES]
SOFT = numpy.array([[0.5, 0.25, 0.25, 0], [0, 1, 0, 0], [0.25, 0.25, 0.25, 0.25]], numpy.float32)
BITS = numpy.array([[1, 0], [0, 1], [1, 1]], numpy.float32)
CHANCES = numpy.array([[0.9, 0.2], [0.4, 0.6], [0.99, 0.01]], numpy.float32)
SHARES = probabilities(3, 4)
LOGITS, SUM, NONE = {"from_logits": True}, {"reduction": "sum"}, {"reduction": "none"}
FLAGS = numpy.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]], numpy.float32)
GUESSES = numpy.array([[0.9, 0.2, 0.4], [0.1, 0.7, 0.55], [0.3, 0.8, 0.5], [0.6, 0.1, 0.95], [0.35, 0.45, 0.2],
                       [0.7, 0.6, 0.65]], numpy.float32)
KINDS = numpy.array([0, 2, 1, 2, 1, 0])
KIND_FLAGS = numpy.eye(3, dtype=numpy.float32)[KINDS]
GUESSED = GUESSES / GUESSES.sum(-1, keepdims=True)
W3, W6 = numpy.array([0.5, 2, 0], numpy.float32), numpy.array([1, 2, 0.5, 0, 3, 1], numpy.float32)
# Three steps of two sequences.
STEPS, W23 = (2, 3, 3), numpy.array([[0.5, 2, 0], [1, 0.25, 3]], numpy.float32)
ZEROS, VECTORS = numpy.array([[0, 0, 0], [1, 2, 2]], numpy.float32), numpy.array([[1, -2, 3], [0, 0, 0]], numpy.float32)

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
    ("CategoricalCrossentropy", {"label_smoothing": 0.1}, ONE_HOT, (3, 4), {"behind": "softmax"}),
    ("CategoricalCrossentropy", {}, KIND_FLAGS, GUESSED, {"weights": W6}),
    ("CategoricalCrossentropy", LOGITS | NONE, ONE_HOT, (3, 4), {}),
    ("CategoricalCrossentropy", LOGITS | {"reduction": "mean"}, ONE_HOT, (3, 4), {"weights": W3}),
    ("CategoricalCrossentropy", LOGITS, KIND_FLAGS.reshape(STEPS), STEPS, {"note": "sequences", "weights": W23}),
    ("SparseCategoricalCrossentropy", {}, CLASSES, (3, 4), {"behind": "softmax"}),
    ("SparseCategoricalCrossentropy", {}, CLASSES.reshape(3, 1), SHARES, {"note": "labels [batch, 1]"}),
    ("SparseCategoricalCrossentropy", LOGITS, CLASSES, (3, 4), {"weights": W3}),
    ("SparseCategoricalCrossentropy", LOGITS | NONE, CLASSES, (3, 4), {}),
    ("SparseCategoricalCrossentropy", LOGITS, numpy.array([[0, 4, 2], [1, 1, 3]]), (2, 3, 5),
     {"note": "sequences", "weights": numpy.array([[0.5, 2, 0], [1, 0.25, 3]], numpy.float32)}),
    ("SparseCategoricalCrossentropy", {}, KINDS, GUESSED, {"weights": W6}),
    ("SparseCategoricalCrossentropy", LOGITS | SUM, CLASSES, (3, 4), {"weights": W3}),
    ("SparseCategoricalCrossentropy", LOGITS | {"reduction": "mean"}, CLASSES, (3, 4), {"weights": W3}),
    ("SparseCategoricalCrossentropy", {}, KINDS.reshape(2, 3), STEPS, {"behind": "softmax", "note": "sequences"}),
    ("SparseCategoricalCrossentropy", LOGITS | {"ignore_class": 1}, CLASSES, (3, 4), {}),
    ("BinaryCrossentropy", {}, BITS, CHANCES, {}),
    ("BinaryCrossentropy", {}, BITS[:2], numpy.array([[0, 1], [0, 1]], numpy.float32), {"note": "chances of 0 and 1"}),
    ("BinaryCrossentropy", LOGITS, BITS, 10 * drawn(3, 2), {"weights": W3}),
    ("BinaryCrossentropy", LOGITS | SUM, BITS, (3, 2), {"weights": W3}),
    ("BinaryCrossentropy", {"label_smoothing": 0.2}, BITS, CHANCES, {"weights": W3}),
    ("BinaryCrossentropy", LOGITS | {"label_smoothing": 0.2}, BITS, (3, 2), {"weights": W3}),
    ("BinaryCrossentropy", {}, BITS, (3, 2), {"behind": "sigmoid", "note": "behind a sigmoid"}),
    ("BinaryCrossentropy", {}, FLAGS, GUESSES, {"weights": W6}),
    ("BinaryCrossentropy", LOGITS | NONE, BITS, (3, 2), {}),
    ("BinaryCrossentropy", LOGITS | {"reduction": "mean"}, BITS, (3, 2), {"weights": W3}),
    ("BinaryCrossentropy", LOGITS, FLAGS.reshape(STEPS), STEPS, {"note": "sequences", "weights": W23}),
    ("BinaryCrossentropy", LOGITS, SOFT[:, :2], (3, 2), {"note": "labels between 0 and 1"}),
    ("BinaryCrossentropy", LOGITS, KINDS % 2, (6, 1), {"note": "whole labels [batch] of predictions [batch, 1]"}),
    ("MeanSquaredError", {}, (3, 4), (3, 4), {"weights": W3}),
    ("MeanSquaredError", SUM, (3, 4), (3, 4), {"weights": W3}),
    ("MeanSquaredError", NONE, (3, 4), (3, 4), {}),
    ("MeanSquaredError", {}, (2, 3, 4), (2, 3, 4), {"note": "sequences", "weights": numpy.abs(drawn(2, 3))}),
    ("MeanSquaredError", {}, (4, 1), (4, 1), {"note": "columns", "weights": numpy.abs(drawn(4))}),
    ("MeanSquaredError", {}, (4,), (4, 1), {"note": "labels [batch] of predictions [batch, 1]"}),
    ("MeanSquaredError", {"reduction": "mean_with_sample_weight"}, (3, 4), (3, 4), {"weights": W3}),
    ("MeanAbsoluteError", {}, (3, 4), (3, 4), {"weights": W3}),
    ("MeanAbsoluteError", SUM, (3, 4), (3, 4), {"weights": W3}),
    ("MeanSquaredError", {"reduction": "mean"}, (3, 4), (3, 4), {"weights": W3}),
    ("MeanSquaredError", SUM, STEPS, STEPS, {"note": "sequences", "weights": W23}),
    ("MeanSquaredError", {}, KINDS.reshape(3, 2), (3, 2), {"note": "whole labels"}),
    ("MeanAbsoluteError", NONE, (3, 4), (3, 4), {}),
    ("MeanAbsoluteError", {"reduction": "mean"}, (3, 4), (3, 4), {"weights": W3}),
    ("MeanAbsoluteError", {}, STEPS, STEPS, {"note": "sequences", "weights": W23}),
    ("MeanAbsoluteError", {}, numpy.where(FLAGS > 0, GUESSES, 0.5).astype(numpy.float32), GUESSES,
     {"note": "errors of 0"}),
    ("Huber", {}, (3, 4), 2 * drawn(3, 4), {"weights": W3}),
    ("Huber", {"delta": 0.5}, (3, 4), 2 * drawn(3, 4), {"weights": W3}),
    ("Huber", {"delta": 2.0} | SUM, 3 * drawn(3, 4), (3, 4), {"weights": W3}),
    ("Huber", NONE, (3, 4), (3, 4), {}),
    ("Huber", {"delta": 0.5, "reduction": "mean"}, (3, 4), (3, 4), {"weights": W3}),
    ("Huber", {}, STEPS, STEPS, {"note": "sequences", "weights": W23}),
    ("Huber", {}, numpy.zeros((2, 3), numpy.float32), numpy.array([[-2, -1, -0.5], [0, 1, 2]], numpy.float32),
     {"note": "errors at the border"}),
    ("KLDivergence", {}, SHARES, probabilities(3, 4), {"weights": W3}),
    ("KLDivergence", {}, ONE_HOT, probabilities(3, 4), {"note": "labels of 0", "weights": W3}),
    ("KLDivergence", NONE, GUESSED[::-1].copy(), GUESSED, {}),
    ("KLDivergence", SUM, GUESSED[::-1].copy(), GUESSED, {"weights": W6}),
    ("KLDivergence", {"reduction": "mean"}, GUESSED[::-1].copy(), GUESSED, {"weights": W6}),
    ("KLDivergence", {}, GUESSED[::-1].reshape(STEPS), GUESSED.reshape(STEPS), {"note": "sequences", "weights": W23}),
    ("KLDivergence", {}, KIND_FLAGS, KIND_FLAGS[::-1].copy(), {"note": "chances of 0 and 1"}),
    ("CosineSimilarity", {}, (3, 4), (3, 4), {"weights": W3}),
    ("CosineSimilarity", SUM, (3, 4), (3, 4), {}),
    ("CosineSimilarity", NONE, (3, 4), (3, 4), {}),
    ("CosineSimilarity", {"reduction": "mean"}, (3, 4), (3, 4), {"weights": W3}),
    ("CosineSimilarity", {}, STEPS, STEPS, {"note": "sequences", "weights": W23}),
    ("CosineSimilarity", {}, ZEROS, VECTORS, {"note": "vectors of 0"}),
    ("CosineSimilarity", {"axis": 1}, STEPS, STEPS, {}),
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


COLUMN, SCORES = FLAGS.reshape(-1, 1), uniform(18, 1)
TIES = numpy.array([[0.4, 0.4, 0.2], [0.3, 0.3, 0.3], [0.1, 0.8, 0.1]], numpy.float32)
W18 = numpy.linspace(0.1, 1.8, 18).astype(numpy.float32)

METRICS = [
    ("Accuracy", {}, KINDS, KINDS[::-1].copy(), {"note": "class indices"}),
    ("BinaryAccuracy", {}, FLAGS, GUESSES, {}),
    ("BinaryAccuracy", {"threshold": 0.3}, FLAGS, GUESSES, {"weights": W6}),
    ("BinaryAccuracy", {"threshold": 0.7}, FLAGS, GUESSES, {"split": 5}),
    ("BinaryAccuracy", {"threshold": 0.55}, FLAGS, GUESSES, {"note": "predictions at the threshold"}),
    ("BinaryAccuracy", {}, FLAGS.reshape(STEPS), GUESSES.reshape(STEPS), {"note": "sequences", "weights": W23}),
    ("BinaryAccuracy", {}, numpy.array([[0.6], [0.3], [1.0]], numpy.float32),
     numpy.array([[0.9], [0.1], [0.8]], numpy.float32), {"note": "labels between 0 and 1"}),
    ("CategoricalAccuracy", {}, KIND_FLAGS, GUESSES, {"split": 4}),
    ("CategoricalAccuracy", {}, KIND_FLAGS, GUESSES, {"split": 4, "weights": W6}),
    ("CategoricalAccuracy", {}, KIND_FLAGS.reshape(STEPS), GUESSES.reshape(STEPS), {"note": "sequences"}),
    ("CategoricalAccuracy", {}, KIND_FLAGS.reshape(STEPS), GUESSES.reshape(STEPS),
     {"note": "sequences", "weights": W23[:, 0]}),
    ("CategoricalAccuracy", {}, KIND_FLAGS[:3], TIES, {"note": "ties"}),
    ("SparseCategoricalAccuracy", {}, KINDS, GUESSES, {}),
    ("SparseCategoricalAccuracy", {}, KINDS, GUESSES, {"weights": W6}),
    ("SparseCategoricalAccuracy", {}, KINDS.reshape(3, 2), GUESSES.reshape(3, 2, 3), {"note": "sequences", "split": 2}),
    ("SparseCategoricalAccuracy", {}, KINDS.reshape(2, 3), GUESSES.reshape(STEPS),
     {"note": "sequences", "weights": W23}),
    ("SparseCategoricalAccuracy", {}, KINDS.reshape(6, 1), GUESSES, {"note": "labels [batch, 1]"}),
    ("SparseCategoricalAccuracy", {}, KINDS[:3], TIES, {"note": "ties"}),
    ("TopKCategoricalAccuracy", {"k": 2}, KIND_FLAGS, GUESSES, {}),
    ("TopKCategoricalAccuracy", {}, numpy.eye(7, dtype=numpy.float32)[[0, 6, 3, 2]], (4, 7), {}),
    ("TopKCategoricalAccuracy", {"k": 2}, KIND_FLAGS, GUESSES, {"weights": W6}),
    ("TopKCategoricalAccuracy", {"k": 1}, numpy.eye(3, dtype=numpy.float32)[[1, 2, 1]], TIES, {"note": "ties"}),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, KINDS, GUESSES, {}),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, KINDS, GUESSES, {"weights": W6}),
    ("SparseTopKCategoricalAccuracy", {}, numpy.array([0, 6, 3, 2]), (4, 7), {"split": 1}),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, KINDS.reshape(2, 3), GUESSES.reshape(STEPS), {"note": "sequences"}),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, KINDS.reshape(2, 3), GUESSES.reshape(STEPS),
     {"note": "sequences", "weights": W23}),
    ("SparseTopKCategoricalAccuracy", {"k": 1}, numpy.array([1, 2, 1]), TIES, {"note": "ties"}),
    ("MeanSquaredError", {}, FLAGS, GUESSES, {}),
    ("MeanSquaredError", {}, FLAGS, GUESSES, {"weights": W6}),
    ("RootMeanSquaredError", {}, FLAGS, GUESSES, {"split": 5}),
    ("RootMeanSquaredError", {}, FLAGS, GUESSES, {"weights": W6}),
    ("MeanAbsoluteError", {}, FLAGS, GUESSES, {"split": 1}),
    ("RootMeanSquaredError", {}, FLAGS.reshape(STEPS), GUESSES.reshape(STEPS), {"note": "sequences", "weights": W23}),
    ("MeanSquaredError", {}, FLAGS.reshape(STEPS), GUESSES.reshape(STEPS), {"note": "sequences", "weights": W23}),
    ("MeanSquaredError", {}, GUESSES[:, 0], SCORES[:6],
     {"note": "labels [batch] of predictions [batch, 1]", "split": 5}),
    ("MeanAbsoluteError", {}, FLAGS, GUESSES, {"weights": W6}),
    ("KLDivergence", {}, probabilities(4, 3), probabilities(4, 3), {}),
    ("CosineSimilarity", {}, FLAGS, GUESSES, {}),
    ("BinaryCrossentropy", {}, FLAGS, GUESSES, {}),
    ("CategoricalCrossentropy", {}, KIND_FLAGS, GUESSED, {}),
    ("KLDivergence", {}, KIND_FLAGS, GUESSED, {"weights": W6}),
    ("CosineSimilarity", {}, FLAGS, GUESSES, {"weights": W6}),
    ("CosineSimilarity", {}, ZEROS, VECTORS, {"note": "vectors of 0"}),
    ("BinaryCrossentropy", {}, FLAGS, GUESSES, {"weights": W6}),
    ("BinaryCrossentropy", {}, COLUMN, SCORES, {"note": "columns", "split": 7}),
    ("CategoricalCrossentropy", {}, KIND_FLAGS, GUESSED, {"weights": W6}),
    ("CategoricalCrossentropy", {}, KIND_FLAGS, GUESSES, {"note": "not normalized"}),
    ("SparseCategoricalCrossentropy", {}, KINDS, GUESSED, {"split": 4}),
    ("SparseCategoricalCrossentropy", {}, KINDS, GUESSED, {"weights": W6}),
    ("AUC", {}, COLUMN, SCORES, {}),
    ("AUC", {"curve": "PR"}, COLUMN, SCORES, {}),
    ("AUC", {"num_thresholds": 5}, COLUMN, SCORES, {}),
    ("AUC", {"num_thresholds": 5, "curve": "PR"}, COLUMN, SCORES, {}),
    ("AUC", {"num_thresholds": 10}, COLUMN, SCORES, {"weights": W18}),
    ("AUC", {"num_thresholds": 10, "curve": "PR"}, COLUMN, SCORES, {"split": 4}),
    ("AUC", {}, FLAGS, GUESSES, {"note": "three labels"}),
    ("AUC", {"num_thresholds": 3}, FLAGS, (2 * GUESSES).round() / 2, {"note": "predictions at thresholds"}),
    ("AUC", {}, numpy.ones((4, 1), numpy.float32), SCORES[:4], {"note": "positive labels alone"}),
    ("AUC", {"curve": "PR"}, numpy.zeros((4, 1), numpy.float32), SCORES[:4], {"note": "negative labels alone"}),
    ("AUC", {"from_logits": True}, FLAGS, 4 * GUESSES - 2, {}),
    ("AUC", {"multi_label": True}, FLAGS, GUESSES, {}),
    ("AUC", {"curve": "PR", "summation_method": "minoring"}, COLUMN, SCORES, {}),
    ("Precision", {}, FLAGS, GUESSES, {}),
    ("Precision", {"thresholds": 0.6}, FLAGS, GUESSES, {}),
    ("Precision", {"class_id": 1}, FLAGS, GUESSES, {}),
    ("Precision", {"thresholds": 0.7}, FLAGS, GUESSES, {"weights": W6}),
    ("Precision", {"thresholds": 0.55}, FLAGS, GUESSES, {"note": "predictions at the threshold"}),
    ("Precision", {}, FLAGS, GUESSES / 2, {"note": "no positive prediction"}),
    ("Precision", {"thresholds": [0.3, 0.7]}, FLAGS, GUESSES, {}),
    ("Precision", {"top_k": 1}, FLAGS, GUESSES, {}),
    ("Recall", {}, FLAGS, GUESSES, {}),
    ("Recall", {"thresholds": 0.35, "class_id": 0}, FLAGS, GUESSES, {}),
    ("Recall", {"class_id": 2}, FLAGS, GUESSES, {"split": 1}),
    ("Recall", {}, 0 * FLAGS, GUESSES, {"note": "no positive label"}),
    ("Recall", {"thresholds": 0.3}, FLAGS, GUESSES, {"weights": W6}),
    ("Recall", {"top_k": 2}, FLAGS, GUESSES, {}),
    ("F1Score", {}, KIND_FLAGS, GUESSES, {}),
    ("F1Score", {"average": "macro"}, KIND_FLAGS, GUESSES, {}),
    ("F1Score", {"average": "micro", "threshold": 0.5}, FLAGS, GUESSES, {}),
    ("F1Score", {"average": "weighted", "threshold": 0.5}, FLAGS, GUESSES, {}),
    ("F1Score", {"average": "macro", "threshold": 0.5}, FLAGS, GUESSES, {"split": 1}),
    ("F1Score", {"average": "micro"}, KIND_FLAGS, GUESSES, {}),
    ("F1Score", {"average": "weighted"}, KIND_FLAGS, GUESSES, {"split": 4}),
    ("F1Score", {"average": "macro"}, KIND_FLAGS * [1, 1, 0], GUESSES, {"note": "a class without labels"}),
    ("F1Score", {"average": "weighted"}, KIND_FLAGS, GUESSES, {"weights": W6}),
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


# Loss, labels and predictions by their shapes, and metrics by name.
CATEGORICAL, SPARSE, BINARY = "categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy"
PARTLY = numpy.array([[0.9], [0.1], [1], [0]], numpy.float32)
SHAPES = [
    ("one-hot [batch, classes]", CATEGORICAL, KIND_FLAGS, GUESSED, ["accuracy", "mae"]),
    ("shares [batch, classes]", CATEGORICAL, GUESSED[::-1].copy(), GUESSED, ["accuracy"]),
    ("one-hot [batch, steps, classes]", CATEGORICAL, KIND_FLAGS.reshape(STEPS), GUESSED.reshape(STEPS), ["accuracy"]),
    ("indices [batch]", SPARSE, KINDS, GUESSED, ["accuracy"]),
    ("indices [batch, 1]", SPARSE, KINDS.reshape(6, 1), GUESSED, ["accuracy"]),
    ("indices [batch, steps]", SPARSE, KINDS.reshape(2, 3), GUESSED.reshape(STEPS), ["accuracy"]),
    ("indices [batch, steps, 1]", SPARSE, KINDS.reshape(2, 3, 1), GUESSED.reshape(STEPS), ["accuracy"]),
    ("bits [batch, 1]", BINARY, COLUMN, SCORES, ["accuracy", "mse"]),
    ("bits [batch]", BINARY, COLUMN.ravel(), SCORES, ["accuracy"]),
    ("whole bits [batch]", BINARY, COLUMN.ravel().astype(numpy.int64), SCORES, ["accuracy"]),
    ("bits [batch, labels]", BINARY, FLAGS, GUESSES, ["accuracy", "binary_accuracy"]),
    ("bits [batch, steps, 1]", BINARY, COLUMN.reshape(6, 3, 1), SCORES.reshape(6, 3, 1), ["accuracy"]),
    ("chances [batch, 1]", BINARY, PARTLY, 1 - PARTLY / 2, ["accuracy"]),
    ("chances [batch, 1] near their labels", BINARY, PARTLY, 0.1 + 0.7 * PARTLY, ["accuracy"]),
    ("numbers [batch, 1]", "mse", SCORES, 2 * SCORES, ["mae", "cosine_similarity"]),
    ("numbers [batch]", "mae", SCORES.ravel(), 2 * SCORES, ["mse"]),
    ("numbers [batch, height, width]", "huber", SCORES.reshape(2, 3, 3), 2 * SCORES.reshape(2, 3, 3), ["mse"]),
    ("vectors [batch, steps, numbers]", "cosine_similarity", SCORES.reshape(2, 3, 3), GUESSES.reshape(STEPS), ["mae"]),
    ("shares of kl_divergence", "kl_divergence", GUESSED[::-1].copy(), GUESSED, ["accuracy"]),
]


def shaped(loss, labels, predictions, metrics):
    model = keras.Sequential([keras.Input(predictions.shape[1:]), keras.layers.Identity()])
    model.compile(loss=loss, metrics=metrics)
    return {"loss": loss, "labels": labels, "predictions": predictions, "metrics": metrics,
            "figures": model.evaluate(predictions, labels, batch_size=4, verbose=0, return_dict=True)}


def mean(shape):
    figure, values = keras.metrics.Mean(), drawn(*shape)
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
    for name, *arguments in SHAPES:
        case("shapes", name, shaped, *arguments)
    case("means", "Mean", mean, (5,))
    case("means", "Mean of vectors", mean, (5, 3))
    write(__file__)


if __name__ == "__main__":
    main()
