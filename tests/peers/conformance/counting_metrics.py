"""Metrics that count: thresholds, curves, overlaps of places and of classes, and explained variance."""

from losses import (COLUMN, FLAGS, GUESSED, GUESSES, KIND_FLAGS, KINDS, SCORES, STEPS, W6, W18, W23, metric)
from values import case, numpy, titled, uniform, write

TWO, THREE = {"thresholds": [0.3, 0.7]}, {"thresholds": [0.0, 0.5, 1.0]}
PLACES = numpy.array([[[0, 1], [2, 1]], [[2, 2], [0, 255]], [[1, 0], [0, 2]]])
GUESSED_PLACES = numpy.array([[[0, 2], [2, 1]], [[2, 0], [0, 1]], [[1, 1], [0, 2]]])
CLASSES_OF_PLACES = uniform(3, 2, 2, 3)
W3, W322 = numpy.array([0.5, 2, 1], numpy.float32), uniform(3, 2, 2)
BITS_OF_PLACES, CHANCES_OF_PLACES = (PLACES % 2).astype(numpy.float32), uniform(3, 2, 2)
MEASURED, FORETOLD = uniform(6, 2) * 4, uniform(6, 2) * 4
AVERAGES = {"class_aggregation": "variance_weighted_average"}

METRICS = [
    ("TruePositives", {}, FLAGS, GUESSES, {}),
    ("TruePositives", {"thresholds": 0.35}, FLAGS, GUESSES, {"weights": W6}),
    ("TruePositives", TWO, FLAGS, GUESSES, {"split": 5}),
    ("TrueNegatives", {}, FLAGS, GUESSES, {}),
    ("TrueNegatives", TWO, FLAGS, GUESSES, {"weights": W6}),
    ("TrueNegatives", THREE, FLAGS, (2 * GUESSES).round() / 2, {"note": "predictions at thresholds"}),
    ("FalsePositives", {}, FLAGS.reshape(STEPS), GUESSES.reshape(STEPS), {"note": "sequences", "weights": W23}),
    ("FalsePositives", TWO, FLAGS, GUESSES, {}),
    ("FalsePositives", {"thresholds": [0.1, 0.2, 0.9]}, COLUMN, SCORES, {"weights": W18}),
    ("FalseNegatives", {}, FLAGS, GUESSES, {}),
    ("FalseNegatives", {"thresholds": 1.0}, FLAGS, GUESSES, {}),
    ("FalseNegatives", TWO, COLUMN.ravel(), SCORES, {"note": "labels [batch] of predictions [batch, 1]"}),
    ("Precision", TWO, FLAGS, GUESSES, {"weights": W6}),
    ("Precision", TWO | {"class_id": 1}, FLAGS, GUESSES, {"split": 5}),
    ("Precision", {"top_k": 2}, FLAGS, GUESSES, {"weights": W6}),
    ("Precision", {"top_k": 2, "class_id": 2}, FLAGS, GUESSES, {}),
    ("Precision", {"top_k": 2, "thresholds": 0.5}, FLAGS, GUESSES, {}),
    ("Precision", {"top_k": 1}, KIND_FLAGS[:4], numpy.full((4, 3), 0.4, numpy.float32), {"note": "ties"}),
    ("Recall", TWO, FLAGS, GUESSES, {}),
    ("Recall", THREE, FLAGS, GUESSES, {"weights": W6}),
    ("Recall", {"top_k": 1}, FLAGS, GUESSES, {"split": 1}),
    ("Recall", {"top_k": 3, "class_id": 0}, FLAGS, GUESSES, {"weights": W6}),
    ("Recall", {"top_k": 1}, FLAGS.reshape(STEPS), GUESSES.reshape(STEPS), {"note": "sequences", "split": 1}),
    ("AUC", {"thresholds": [0.7, 0.2, 0.5]}, COLUMN, SCORES, {}),
    ("AUC", {"thresholds": [0.7, 0.2, 0.5], "curve": "PR"}, COLUMN, SCORES, {"weights": W18}),
    ("AUC", {"summation_method": "minoring"}, COLUMN, SCORES, {}),
    ("AUC", {"summation_method": "majoring", "num_thresholds": 5}, COLUMN, SCORES, {"weights": W18}),
    ("AUC", {"curve": "PR", "summation_method": "majoring", "num_thresholds": 7}, COLUMN, SCORES, {}),
    ("AUC", {"from_logits": True, "curve": "PR"}, FLAGS, 4 * GUESSES - 2, {"weights": W6}),
    ("AUC", {"multi_label": True, "num_thresholds": 20}, FLAGS, GUESSES, {"weights": W6}),
    ("AUC", {"multi_label": True, "num_labels": 3, "label_weights": [1.0, 0.0, 3.0]}, FLAGS, GUESSES, {}),
    ("AUC", {"multi_label": True, "curve": "PR"}, FLAGS, GUESSES, {"split": 5}),
    ("AUC", {"multi_label": True, "curve": "PR", "summation_method": "minoring"}, FLAGS, GUESSES, {}),
    ("AUC", {"label_weights": [1.0, 0.5, 3.0]}, FLAGS, GUESSES, {"weights": W6}),
    ("F1Score", {"average": "micro", "threshold": 0.5}, FLAGS, GUESSES, {"weights": W6}),
    ("F1Score", {"average": "macro"}, KIND_FLAGS, GUESSES, {"weights": W6}),
    ("IoU", {"num_classes": 3, "target_class_ids": [0, 2]}, PLACES % 3, GUESSED_PLACES, {}),
    ("IoU", {"num_classes": 3, "target_class_ids": [1]}, PLACES % 3, GUESSED_PLACES, {"weights": W322}),
    ("IoU", {"num_classes": 3, "target_class_ids": [0, 1], "ignore_class": 255}, PLACES, GUESSED_PLACES, {}),
    ("IoU", {"num_classes": 4, "target_class_ids": [3]}, PLACES % 3, GUESSED_PLACES, {"note": "a class of nothing"}),
    ("MeanIoU", {"num_classes": 3}, PLACES % 3, GUESSED_PLACES, {}),
    ("MeanIoU", {"num_classes": 4}, PLACES % 3, GUESSED_PLACES, {"note": "a class of nothing"}),
    ("MeanIoU", {"num_classes": 2}, PLACES, GUESSED_PLACES, {"note": "indices that are no class", "weights": W322}),
    ("MeanIoU", {"num_classes": 3, "sparse_y_pred": False}, PLACES % 3, CLASSES_OF_PLACES, {"split": 2}),
    ("MeanIoU", {"num_classes": 3, "sparse_y_pred": False, "ignore_class": 255}, PLACES, CLASSES_OF_PLACES,
     {"weights": W322}),
    ("MeanIoU", {"num_classes": 3, "sparse_y_true": False, "sparse_y_pred": False},
     numpy.eye(3, dtype=numpy.float32)[PLACES % 3], CLASSES_OF_PLACES, {}),
    ("MeanIoU", {"num_classes": 3}, KINDS, numpy.argmax(GUESSES, -1), {"weights": W6}),
    ("OneHotIoU", {"num_classes": 3, "target_class_ids": [0, 2]}, KIND_FLAGS, GUESSES, {"weights": W6}),
    ("OneHotIoU", {"num_classes": 3, "target_class_ids": [1], "sparse_y_pred": True}, KIND_FLAGS,
     numpy.argmax(GUESSES, -1), {}),
    ("OneHotMeanIoU", {"num_classes": 3}, KIND_FLAGS, GUESSES, {"split": 4}),
    ("OneHotMeanIoU", {"num_classes": 3}, KIND_FLAGS, GUESSED, {"weights": W6}),
    ("BinaryIoU", {}, BITS_OF_PLACES, CHANCES_OF_PLACES, {}),
    ("BinaryIoU", {"target_class_ids": [1], "threshold": 0.3}, BITS_OF_PLACES, CHANCES_OF_PLACES, {"weights": W322}),
    ("BinaryIoU", {"target_class_ids": [0]}, COLUMN, SCORES, {"weights": W18}),
    ("R2Score", {}, MEASURED, FORETOLD, {}),
    ("R2Score", {}, MEASURED, FORETOLD, {"weights": W6 + 0.5}),
    ("R2Score", AVERAGES, MEASURED, FORETOLD, {"split": 1}),
    ("R2Score", AVERAGES | {"num_regressors": 2}, MEASURED, FORETOLD, {}),
    ("R2Score", {"num_regressors": 20}, MEASURED, FORETOLD, {"note": "too few labels"}),
    ("R2Score", {}, MEASURED[:, 0], FORETOLD[:, :1], {"note": "labels [batch] of predictions [batch, 1]"}),
]

# With other options here: what Keras takes as None is "none".
BY_CLASS = [
    ("F1Score", {"average": None}, KIND_FLAGS, GUESSES, {"note": "by class"}),
    ("F1Score", {"average": None, "threshold": 0.5}, FLAGS, GUESSES, {"note": "by class", "weights": W6}),
    ("R2Score", {"class_aggregation": None}, MEASURED, FORETOLD, {"note": "by column"}),
]


def none_as_text(kind, options, *arguments, **more):
    fields = metric(kind, options, *arguments, **more)
    return fields | {"options": {name: "none" if value is None else value for name, value in options.items()}}


def with_whole_weights(kind, options, *arguments, **more):
    """Keras' metrics of places round weights down, and warn of it, unless they are told to count in float32."""
    return metric(kind, options | {"dtype": "float32"}, *arguments, **more) | {"options": options}


def main():
    for made, rows in ((metric, METRICS), (none_as_text, BY_CLASS)):
        for kind, options, labels, predictions, more in rows:
            note = " ".join(["weighted"] * ("weights" in more) + [more.get("note", "")]).strip()
            make = with_whole_weights if "IoU" in kind else made
            case("metrics", titled(kind, options, note), make, kind, options, labels, predictions, **more)
    write(__file__)


if __name__ == "__main__":
    main()
