"""Losses for classes of which one is rare, for overlaps, margins, counts and relative errors, and metrics of the same."""

from losses import (BITS, CHANCES, COLUMN, FLAGS, GUESSED, GUESSES, KIND_FLAGS, KINDS, LOGITS, NONE, ONE_HOT, SCORES,
                    SHARES, SOFT, STEPS, SUM, W3, W6, W23, loss, metric)
from values import case, drawn, numpy, probabilities, titled, uniform, write

MEAN = {"reduction": "mean"}
SIGNS = 2 * FLAGS - 1
MASKS = numpy.round(numpy.array([0, 0.7, 0.2, 1, 0.9, 0.4, 0.6, 0.1], numpy.float32)).reshape(2, 2, 2)
OVERLAPS = numpy.array([0.1, 0.8, 0.3, 0.9, 0.7, 0.6, 0.2, 0.05], numpy.float32).reshape(2, 2, 2)
VOID = numpy.array([[0, -1, 2], [1, 255, 255]])
COUNTS = numpy.array([[0, 2, 5], [1, 3, 0]], numpy.float32)
RATES = numpy.array([[0.5, 2.5, 4], [1.2, 2, 0.3]], numpy.float32)

# Class, options, labels, predictions (shapes are drawn), and what else (losses.py).
LOSSES = [
    ("BinaryFocalCrossentropy", {}, BITS, CHANCES, {}),
    ("BinaryFocalCrossentropy", {"gamma": 0.0}, BITS, CHANCES, {}),
    ("BinaryFocalCrossentropy", {"gamma": 1.0}, BITS, CHANCES, {}),
    ("BinaryFocalCrossentropy", {"gamma": 1.5, "apply_class_balancing": True, "alpha": 0.7}, BITS, CHANCES,
     {"weights": W3}),
    ("BinaryFocalCrossentropy", LOGITS, BITS, (3, 2), {"weights": W3}),
    ("BinaryFocalCrossentropy", LOGITS | {"label_smoothing": 0.2}, BITS, (3, 2), {}),
    ("BinaryFocalCrossentropy", SUM, FLAGS, GUESSES, {"weights": W6}),
    ("BinaryFocalCrossentropy", NONE, FLAGS, GUESSES, {}),
    ("BinaryFocalCrossentropy", {}, BITS, (3, 2), {"behind": "sigmoid"}),
    ("BinaryFocalCrossentropy", {}, COLUMN, SCORES * 0.98 + 0.01, {"note": "columns"}),
    ("BinaryFocalCrossentropy", LOGITS, FLAGS.reshape(STEPS), STEPS, {"note": "sequences", "weights": W23}),
    ("CategoricalFocalCrossentropy", {}, ONE_HOT, SHARES, {}),
    ("CategoricalFocalCrossentropy", {}, SOFT, (3, 4), {"behind": "softmax", "note": "soft labels"}),
    ("CategoricalFocalCrossentropy", {"alpha": [0.1, 0.2, 0.3, 0.4]}, ONE_HOT, SHARES, {"weights": W3}),
    ("CategoricalFocalCrossentropy", {"alpha": 1.0, "gamma": 0.5}, ONE_HOT, SHARES, {}),
    ("CategoricalFocalCrossentropy", LOGITS, ONE_HOT, (3, 4), {"weights": W3}),
    ("CategoricalFocalCrossentropy", LOGITS | {"label_smoothing": 0.1}, ONE_HOT, (3, 4), {}),
    ("CategoricalFocalCrossentropy", {}, ONE_HOT, 1.5 * SHARES, {"note": "not normalized"}),
    ("CategoricalFocalCrossentropy", LOGITS | SUM, KIND_FLAGS.reshape(STEPS), STEPS,
     {"note": "sequences", "weights": W23}),
    ("CategoricalFocalCrossentropy", NONE, KIND_FLAGS, GUESSED, {}),
    ("CategoricalHinge", {}, ONE_HOT, (3, 4), {"weights": W3}),
    ("CategoricalHinge", SUM, 2 * ONE_HOT - 1, (3, 4), {"note": "labels of -1 and 1"}),
    ("CategoricalHinge", NONE, ONE_HOT, SHARES, {}),
    ("CategoricalHinge", {}, KIND_FLAGS.reshape(STEPS), STEPS, {"note": "sequences", "weights": W23}),
    ("Dice", {}, FLAGS, GUESSES, {}),
    ("Dice", SUM, FLAGS, GUESSES, {}),
    ("Dice", {"axis": [1, 2]}, MASKS, OVERLAPS, {"weights": numpy.array([0.5, 2], numpy.float32)}),
    ("Dice", {"axis": -1} | NONE, MASKS, OVERLAPS, {}),
    ("Dice", {"axis": [0, 1]}, MASKS, OVERLAPS, {}),
    ("Dice", {"axis": [0, 1]} | SUM, MASKS, OVERLAPS, {}),
    ("Dice", {}, BITS, (3, 2), {"behind": "sigmoid"}),
    ("Dice", {}, 0 * FLAGS, 0 * GUESSES, {"note": "nothing"}),
    ("Hinge", {}, SIGNS, (6, 3), {"weights": W6}),
    ("Hinge", {}, FLAGS, (6, 3), {"note": "labels of 0 and 1"}),
    ("Hinge", {}, numpy.array([[0, -1, 1], [1, 1, -1]], numpy.float32), (2, 3), {"note": "labels of 0, -1 and 1"}),
    ("Hinge", SUM, SIGNS, GUESSES, {"weights": W6}),
    ("Hinge", NONE, SIGNS, (6, 3), {}),
    ("Hinge", {}, COLUMN[:6].ravel(), (6, 1), {"note": "labels [batch] of predictions [batch, 1]"}),
    ("SquaredHinge", {}, SIGNS, (6, 3), {"weights": W6}),
    ("SquaredHinge", SUM, FLAGS, GUESSES, {}),
    ("SquaredHinge", {}, SIGNS.reshape(STEPS), STEPS, {"note": "sequences", "weights": W23}),
    ("LogCosh", {}, (3, 4), (3, 4), {"weights": W3}),
    ("LogCosh", {}, (3, 4), 40 * drawn(3, 4), {"note": "large"}),
    ("LogCosh", SUM, (3, 4), (3, 4), {}),
    ("LogCosh", NONE, STEPS, STEPS, {}),
    ("MeanAbsolutePercentageError", {}, (3, 4), (3, 4), {"weights": W3}),
    ("MeanAbsolutePercentageError", SUM, COUNTS + 1, RATES, {}),
    ("MeanAbsolutePercentageError", MEAN, -RATES, COUNTS, {"note": "labels below 0"}),
    ("MeanAbsolutePercentageError", {}, numpy.array([[0, 2]], numpy.float32), numpy.array([[0, 1]], numpy.float32),
     {"note": "a label of 0"}),
    ("MeanSquaredLogarithmicError", {}, COUNTS, RATES, {"weights": numpy.array([0.5, 2], numpy.float32)}),
    ("MeanSquaredLogarithmicError", SUM, uniform(3, 2), uniform(3, 2), {}),
    ("MeanSquaredLogarithmicError", {}, COUNTS, RATES - 1, {"note": "predictions below 0"}),
    ("Poisson", {}, COUNTS, RATES, {"weights": numpy.array([0.5, 2], numpy.float32)}),
    ("Poisson", SUM, COUNTS, RATES, {}),
    ("Poisson", NONE, COUNTS, RATES, {}),
    ("Poisson", {}, COUNTS, (2, 3), {"behind": "softplus"}),
    ("Tversky", {}, FLAGS, GUESSES, {}),
    ("Tversky", {"alpha": 0.3, "beta": 0.7}, FLAGS, GUESSES, {}),
    ("Tversky", {"alpha": 0.7, "beta": 0.3, "axis": [1, 2]}, MASKS, OVERLAPS,
     {"weights": numpy.array([0.5, 2], numpy.float32)}),
    ("Tversky", {"axis": [0, 2]} | SUM, MASKS, OVERLAPS, {}),
    ("CosineSimilarity", {"axis": -2} | SUM, STEPS, STEPS, {}),
    ("SparseCategoricalCrossentropy", {"ignore_class": 0}, KINDS, GUESSED, {}),
    ("SparseCategoricalCrossentropy", {"ignore_class": 0} | SUM, KINDS, GUESSED, {"weights": W6}),
    ("SparseCategoricalCrossentropy", LOGITS | {"ignore_class": -1}, numpy.minimum(VOID, 2), (2, 3, 4),
     {"note": "sequences", "weights": W23}),
    ("SparseCategoricalCrossentropy", LOGITS | {"ignore_class": 255}, numpy.maximum(VOID, 0), (2, 3, 4),
     {"note": "sequences"}),
    ("SparseCategoricalCrossentropy", {"ignore_class": 2} | NONE, KINDS, (6, 3), {"behind": "softmax"}),
    ("SparseCategoricalCrossentropy", {"ignore_class": 1}, numpy.ones(3, numpy.int64), (3, 3),
     {"behind": "softmax", "note": "nothing else"}),
]

METRICS = [
    ("CategoricalHinge", {}, KIND_FLAGS, GUESSES, {"weights": W6}),
    ("Hinge", {}, SIGNS, GUESSES, {"split": 5}),
    ("Hinge", {}, SIGNS, GUESSES, {"weights": W6}),
    ("SquaredHinge", {}, FLAGS, GUESSES, {}),
    ("LogCoshError", {}, FLAGS, GUESSES, {"split": 1}),
    ("LogCoshError", {}, FLAGS.reshape(STEPS), GUESSES.reshape(STEPS), {"note": "sequences", "weights": W23}),
    ("MeanAbsolutePercentageError", {}, GUESSES, FLAGS, {}),
    ("MeanAbsolutePercentageError", {}, GUESSES, FLAGS, {"weights": W6}),
    ("MeanSquaredLogarithmicError", {}, GUESSES, FLAGS, {}),
    ("Poisson", {}, FLAGS, GUESSES, {"weights": W6}),
    ("BinaryCrossentropy", LOGITS | {"label_smoothing": 0.1}, FLAGS, 4 * GUESSES - 2, {}),
    ("CategoricalCrossentropy", LOGITS | {"label_smoothing": 0.1}, KIND_FLAGS, 4 * GUESSES - 2, {"weights": W6}),
    ("SparseCategoricalCrossentropy", LOGITS, KINDS, 4 * GUESSES - 2, {"split": 4}),
    ("CosineSimilarity", {"axis": 1}, FLAGS.reshape(STEPS), GUESSES.reshape(STEPS), {"split": 1}),
    ("KLDivergence", {}, probabilities(4, 3), probabilities(4, 3), {}),
]


def main():
    for group, make, rows in (("losses", loss, LOSSES), ("metrics", metric, METRICS)):
        for kind, options, labels, predictions, more in rows:
            note = " ".join(["weighted"] * ("weights" in more) + [more.get("note", "")]).strip()
            if "behind" in more:
                note = f"{note} behind {more['behind']}".strip()
            case(group, titled(kind, options, note), make, kind, options, labels, predictions, **more)
    write(__file__)


if __name__ == "__main__":
    main()
